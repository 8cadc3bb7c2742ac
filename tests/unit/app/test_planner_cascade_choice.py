"""Which planners a cascade is made of here, and what a planner of this machine is given."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agent.app.planners import PlannerChoice
from agent.config.load import load_settings
from agent.protocol.errors import ConfigError, CoreError, NotFound
from agent.protocol.messages import GoalItem
from agent.protocol.replies import Command, PlannerReply
from agent.protocol.requests import PlannerRequest
from agent.redaction.redactor import SecretRedactor
from tests.support.fake_llm_server import Behaviour, FakeLLMServer


def choice(tmp_path: Path, flags: dict[str, object] | None = None, **environ: str) -> PlannerChoice:
    return PlannerChoice(
        load_settings(flags or {}, {"HOME": str(tmp_path), **environ}, cwd=str(tmp_path), checkout=""), SecretRedactor()
    )


def ask(choice: PlannerChoice, goal: str) -> tuple[PlannerReply, list[str]]:
    said: list[str] = []

    async def tell(text: str) -> None:
        said.append(text)

    async def run() -> PlannerReply:
        planner = choice.make(None, None)
        item = GoalItem(goal_id="g", text=goal)
        try:
            return await planner.plan_telling(PlannerRequest(history=(item,)), tell, tell)  # type: ignore[attr-defined]
        finally:
            await choice.aclose()

    return asyncio.run(run()), said


def test_off_unless_set(tmp_path: Path) -> None:
    assert choice(tmp_path).make(None, None).name == "offline"


def test_recipes_then_a_server_of_this_machine(tmp_path: Path) -> None:
    answer = Behaviour(pieces=('{"mode": "command", "reason": "r", "command": "frob"}',))
    with FakeLLMServer(answer) as server:
        made = choice(
            tmp_path, AGENT_CASCADE="offline,local,remote", AGENT_PLANNER="llamacpp", AGENT_BASE_URL=server.base_url
        )
        assert made.stays_here(made.make(None, None))  # nobody elsewhere has a key
        reply, said = ask(made, "count the lines of notes.txt")
        assert reply.model.startswith("offline") and said == [] and server.requests == []
        reply, said = ask(made, "frobnicate the quux")
        assert isinstance(reply.reply, Command) and reply.reply.command == "frob"
        assert reply.model == "llamacpp:fake-model"
        assert said == ["asks llamacpp (stays on this machine)"]
        roles = [message["role"] for message in server.requests[-1].body["messages"]]
        assert roles[0] == "system" and roles[-1] == "user"


@pytest.mark.thorough
def test_one_elsewhere_needs_a_key_and_leaves(tmp_path: Path) -> None:
    without = choice(tmp_path, AGENT_CASCADE="offline,openrouter")
    _, said = ask(without, "frobnicate the quux")
    assert said[0] == "openrouter openai/gpt-5.4-mini is left out: no key in OPENROUTER_API_KEY"
    keyed = choice(tmp_path, AGENT_CASCADE="offline,remote", OPENROUTER_API_KEY="sk-or-x")
    planner = keyed.make(None, None)
    assert (planner.name, planner.model) == ("cascade", "offline → openrouter")
    assert not keyed.stays_here(planner)


def test_it_can_be_asked_for_by_its_name(tmp_path: Path) -> None:
    for made in (choice(tmp_path, {"planner": "cascade"}), choice(tmp_path, AGENT_PLANNER="cascade")):
        assert made.make(None, None).model == "offline → local → remote"
    with pytest.raises(NotFound) as caught:
        choice(tmp_path, {"planner": "offlin"}).make(None, None)
    assert caught.value.hint.startswith("there are offline, local, cascade, openrouter")


def test_a_planner_of_the_command_line_is_meant_alone(tmp_path: Path) -> None:
    made = choice(tmp_path, {"planner": "offline"}, AGENT_CASCADE="offline,remote")
    assert made.make(None, None).name == "offline"
    assert made.make("cascade", None).name == "cascade"


@pytest.mark.parametrize(("value", "kind"), [("nobody", NotFound), ("cascade", ConfigError), (" , ", None)])
def test_a_wrong_cascade_is_said(tmp_path: Path, value: str, kind: type[CoreError] | None) -> None:
    made = choice(tmp_path, AGENT_CASCADE=value)
    if kind is None:
        with pytest.raises(ConfigError, match="empty"):
            ask(made, "x")
    else:
        with pytest.raises(kind):
            made.make(None, None)


def test_a_folder_cannot_choose_who_is_told(tmp_path: Path) -> None:
    (tmp_path / ".agent-shell.toml").write_text(
        'cascade = "offline,openrouter"\nplanner = "local"\nmodel = "/x.gguf"\n'
    )
    assert choice(tmp_path).make(None, None).name == "offline"


def body_sent(tmp_path: Path, model: str, **environ: str) -> dict[str, object]:
    with FakeLLMServer(Behaviour(pieces=('{"mode": "chat", "message": "x"}',))) as server:
        ask(
            choice(tmp_path, AGENT_BASE_URL=server.base_url, AGENT_PLANNER="ollama", AGENT_MODEL=model, **environ),
            "count the lines of a.txt",
        )
        body = server.requests[-1].body
    assert isinstance(body, dict)
    return body


def test_small_models_get_what_helps_them(tmp_path: Path) -> None:
    small = body_sent(tmp_path, "qwen2.5-coder:1.5b")
    large = body_sent(tmp_path, "llama3.3:70b")
    forced = body_sent(tmp_path, "llama3.3:70b", AGENT_EXAMPLES="on")
    bare = body_sent(tmp_path, "qwen2.5-coder:1.5b", AGENT_EXAMPLES="off")
    count = lambda body: len(body["messages"])  # noqa: E731
    assert count(small) > 2 and count(large) == 2 and count(forced) > 2 and count(bare) == 2
    assert len(small["messages"][0]["content"]) < 1500 < len(large["messages"][0]["content"])  # type: ignore[index]
    assert (small["temperature"], small["max_tokens"]) == (0.0, 512)
    assert "temperature" not in large
    assert large["response_format"]["type"] == "json_schema"  # type: ignore[index]
    assert "response_format" not in small and small["messages"][2]["content"].startswith("$ ")  # type: ignore[index]
    as_json = body_sent(tmp_path, "qwen2.5-coder:1.5b", AGENT_CODEC="small-json")
    assert as_json["response_format"]["type"] == "json_schema"  # type: ignore[index]


def test_a_model_file_that_is_none_is_said_with_the_goal(tmp_path: Path) -> None:
    (tmp_path / "x.gguf").write_bytes(b"no model at all")
    made = choice(tmp_path, AGENT_PLANNER="local", AGENT_MODEL=str(tmp_path / "x.gguf"))
    planner = made.make(None, None)
    assert (planner.name, planner.model) == ("local", "x")
    assert made.stays_here(planner)
    with pytest.raises(ConfigError, match="not a usable GGUF"):
        ask(made, "anything")
    with pytest.raises(ConfigError, match="no model file is chosen"):
        ask(choice(tmp_path, AGENT_PLANNER="local"), "anything")


def test_a_planner_chosen_later_is_not_asked_at_the_first_ones_url(tmp_path: Path) -> None:
    url = "http://127.0.0.1:9/v1"
    made = choice(tmp_path, AGENT_BASE_URL=url)
    settings = made._configured
    assert settings.base_url(settings.entry("custom")) == url
    assert made.plan_with("ollama", "qwen")[0] == "ollama:qwen"
    assert settings.base_url(settings.entry("ollama")) == ""
    made.plan_with("auto", "")
    assert settings.base_url(settings.entry("custom")) == url
