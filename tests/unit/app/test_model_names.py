"""Names for `:model` to complete: what the configured provider lists, asked in the background, once."""

from __future__ import annotations

import time
from collections.abc import Callable

from msgspec.structs import replace
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from agent.app.planners import PlannerChoice
from agent.commands.context import CommandServices
from agent.config.load import Loaded
from agent.config.settings import Settings
from agent.frontends.repl.goal_completion import GoalCompleter
from tests.support.fake_llm_server import Behaviour, FakeLLMServer


def choice(url: str) -> PlannerChoice:
    settings = Settings(planner="custom", base_url=url, timeout=60.0)
    return PlannerChoice(Loaded(settings=settings, origins={}, secrets={}, environ={}), redactor=None)  # type: ignore[arg-type]


def in_the_end(names: Callable[[], tuple[str, ...]]) -> tuple[str, ...]:
    until = time.monotonic() + 60
    while not names() and time.monotonic() < until:
        time.sleep(0.01)
    return names()


def test_the_models_of_the_provider_are_completed_once_they_are_known() -> None:
    with FakeLLMServer(models=("zeta-1", "zeta-2:8b", "other\x1b[2J")) as server:
        services = CommandServices(model_names=choice(server.base_url).model_names)

        def completed(text: str) -> list[str]:
            found = GoalCompleter(lambda: "/", lambda: services).get_completions(Document(text), CompleteEvent())
            return [text[: len(text) + item.start_position] + item.text for item in found]

        assert completed(":model zet") == []
        in_the_end(services.model_names)
        assert completed(":model zet") == [":model zeta-1", ":model zeta-2:8b"]
        assert completed(":model oth") == [":model other [2J"]
        assert len(server.requests) == 1, "what is known is not asked for again"


def test_a_server_that_says_nothing_is_not_waited_for() -> None:
    with FakeLLMServer(Behaviour(status=500, error={}), models=()) as server:
        names = choice(server.base_url).model_names
        assert [names() for _ in range(100)] == [()] * 100
        assert names._thread is not None
        names._thread.join(60)
        assert len(server.requests) == 1, "one that fails is not asked with each key"


def test_another_planner_has_other_names() -> None:
    with FakeLLMServer(models=("first",)) as one, FakeLLMServer(models=("second",)) as two:
        made = choice(one.base_url)
        assert "first" in in_the_end(made.model_names)
        loaded = made._configured.loaded
        made._configured.loaded = replace(loaded, settings=replace(loaded.settings, base_url=two.base_url))
        made._configured._began = made._configured.loaded.settings
        made.model_names()
        assert made.model_names._thread is not None
        made.model_names._thread.join(60)
        assert "second" in made.model_names() and "first" not in made.model_names()


def test_a_provider_without_an_address_has_no_names_of_its_own() -> None:
    names = choice("").model_names
    names()
    assert names._thread is not None
    names._thread.join(60)
    assert not any(name.startswith("custom:") for name in names())
