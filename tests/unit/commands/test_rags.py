"""RAGs through the engine: documents are read, passages go with goals, sources are named."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agent.app.planners import PlannerChoice
from agent.app.retrieval import ProcessRags
from agent.config.load import load_settings
from agent.library.library import Library
from agent.protocol import commands as core
from agent.protocol.errors import Cancelled, ConfigError, InvalidState, NotFound
from agent.protocol.events.goal import GoalStarted
from agent.protocol.events.session import Notice
from agent.protocol.messages import UserInput
from agent.protocol.requests import RunOptions, RunRequest
from agent.redaction.redactor import SecretRedactor
from tests.support.command_world import CommandWorld
from tests.support.fake_llm_server import Behaviour, FakeLLMServer


def planners_of(folder: Path, **flags: str) -> PlannerChoice:
    return PlannerChoice(load_settings(flags, {"HOME": str(folder)}, cwd=str(folder)), SecretRedactor())


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CommandWorld:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "tags.md").write_text("# Tags\nSign a tag with git tag -s.\n")
    (tmp_path / "notes" / "cake.md").write_text("# Cake\nTake five eggs.\n")
    library = Library(str(tmp_path / "config"))
    library.rags.save("notes", "documents: [notes]\n")
    rags = ProcessRags(lambda: library, {"HOME": str(tmp_path)}, planners_of(tmp_path))
    return CommandWorld(services={"library": lambda: library, "rags": lambda: rags})


def ask(world: CommandWorld, text: str) -> GoalStarted:
    request = RunRequest(input=UserInput.from_text(text), options=RunOptions(with_embeddings=True))
    from agent.engine.engine import Engine

    asyncio.run(Engine(world.app).run(world.context, request, world.emitter, world.confirmer))
    return world.recorder.only(GoalStarted)[-1]  # type: ignore[attr-defined, no-any-return]


@pytest.mark.covers("S1-20", "S1-22", "S1-65")
def test_passages_go_with_a_goal_and_are_named_as_sources(world: CommandWorld) -> None:
    world.do(":rag notes")
    assert world.result.data["documents"] == 2
    started = ask(world, "how do I sign a tag?")
    assert [block.label for block in started.context] == ["~/notes/tags.md:1 (Tags)"]
    assert "git tag -s" in world.planner.requests[-1].history[-1].context[0].text  # type: ignore[union-attr]
    assert Notice(text="sources: ~/notes/tags.md:1 (Tags)") in world.events()
    world.do(":sources")
    assert world.result.text == "~/notes/tags.md:1 (Tags)"
    world.do(":sources eggs")
    assert "five eggs" in world.told[-1]
    world.do(":info rag")
    assert world.result.data["rag"] == "notes"


@pytest.mark.covers("S1-21", "S1-35")
def test_leaving_it_ends_the_looking_up(world: CommandWorld) -> None:
    world.do(":rag notes")
    world.do(core.ExitRag())
    assert ask(world, "how do I sign a tag?").context == ()
    for line in (":sources", ":rebuild rag", ":exit rag", ":edit rag-docs", ":info rag"):
        with pytest.raises(InvalidState, match="rag"):
            world.do(line)


@pytest.mark.covers("S1-26")
def test_rebuilding_reads_everything_and_using_only_what_changed(world: CommandWorld) -> None:
    world.do(":rag notes")
    world.do(":rag notes")
    assert world.result.data["read"] == 0
    world.do(":rebuild rag")
    assert world.result.data["read"] == 2


@pytest.mark.covers("S1-26", "S1-32")
def test_a_rag_is_begun_edited_and_deleted_with_its_index(world: CommandWorld, tmp_path: Path) -> None:
    with pytest.raises(NotFound) as caught:
        world.do(":rag books")
    assert caught.value.hint == "`:edit rag-docs books` makes one"
    outcome = world.do(":edit rag-docs books")
    assert outcome.frontend_request is not None
    assert Path(outcome.frontend_request.argument).read_text().startswith("# What is looked up")
    world.do(":rag notes")
    outcome = world.do(core.EditRagDocs())
    assert outcome.frontend_request is not None
    assert outcome.frontend_request.argument.endswith("rags/notes.yaml")
    index = tmp_path / ".local" / "state" / "agent-shell" / "rag" / "notes.sqlite3"
    assert index.exists()
    world.do(core.Delete(core.DeleteTarget.RAG, "notes"))
    assert not index.exists()
    world.do(":rag")
    assert world.told[-1].startswith("books")


def meaning(text: str) -> list[float]:
    """A model that knows two things."""
    low = text.lower()
    return [float("tag" in low or "signature" in low) + 0.1, float("cake" in low or "bake" in low) + 0.1]


@pytest.mark.covers("S1-65")
def test_embeddings_find_what_shares_no_word(tmp_path: Path, world: CommandWorld) -> None:
    with FakeLLMServer(embed=meaning) as server:
        library = Library(str(tmp_path / "config"))
        library.rags.save("notes", "documents: [notes]\nembeddings: ollama:nomic\npassages: 1\n")
        planners = planners_of(tmp_path, planner="ollama", base_url=server.base_url)
        rags = ProcessRags(lambda: library, {"HOME": str(tmp_path)}, planners)
        world = CommandWorld(services={"library": lambda: library, "rags": lambda: rags})
        world.do(":rag notes")
        assert (
            Notice(text="asks ollama:nomic for embeddings: its passages and your goals do not leave this machine")
            in world.events()
        )
        assert len(server.requests[0].body["input"]) == 2
        world.do(":rebuild rag")
        world.context.redactor = SecretRedactor()
        started = ask(world, "which one do I bake? password=hunter2hunter2")
        assert [block.label for block in started.context] == ["~/notes/cake.md:1 (Cake)"]
        assert "hunter2hunter2" not in str([seen.body for seen in server.requests])
        server.add(Behaviour(status=401))
        assert ask(world, "eggs").context[0].label == "~/notes/cake.md:1 (Cake)"
        assert any(
            "found by their words alone" in notice.text for notice in world.events() if isinstance(notice, Notice)
        )


def test_a_secret_that_becomes_known_after_it_was_read_goes_nowhere(tmp_path: Path, world: CommandWorld) -> None:
    """An index is not read anew for it, so what leaves it is held against what is known by then."""
    (tmp_path / "notes" / "cake.md").write_text("# Cake tr0ub4dor-and-3\nbake it with tr0ub4dor-and-3\n")
    world.do(":rag notes")
    with FakeLLMServer(embed=meaning) as server:
        library = Library(str(tmp_path / "config"))
        library.rags.save("notes", "documents: [notes]\nembeddings: ollama:nomic\npassages: 1\n")
        planners = planners_of(tmp_path, planner="ollama", base_url=server.base_url)
        rags = ProcessRags(lambda: library, {"HOME": str(tmp_path)}, planners)
        world = CommandWorld(services={"library": lambda: library, "rags": lambda: rags})
        world.context.redactor = SecretRedactor({"CAKE": "tr0ub4dor-and-3"})
        world.do(":rag notes")
        started = ask(world, "which one do I bake?")
        assert "notes/cake.md:1" in started.context[0].label
        assert server.requests
        assert "tr0ub4dor" not in str([seen.body for seen in server.requests])
        assert "tr0ub4dor" not in str((started.context, world.context.history, world.context.last_sources))


@pytest.mark.parametrize("wanted", ["nomic", "ollama:", ":nomic"])
def test_embeddings_name_provider_and_model(tmp_path: Path, wanted: str) -> None:
    library = Library(str(tmp_path / "config"))
    with pytest.raises(ConfigError, match="embeddings"):
        library.rags.save("notes", f"documents: [notes]\nembeddings: '{wanted}'\n")


def test_a_provider_without_embeddings_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="anthropic gives no embeddings"):
        planners_of(tmp_path).embedder("anthropic:claude")


def test_a_long_build_is_told_and_a_stopped_one_goes_on(world: CommandWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.commands.rags._TOLD_EVERY", 0.0)
    world.do(":rag notes")
    assert any(text.startswith("reading: 1 of 2") for text in world.told)

    async def stopped(*given: object, **more: object) -> None:
        raise asyncio.CancelledError

    monkeypatch.setattr(ProcessRags, "build", stopped)
    with pytest.raises((asyncio.CancelledError, Cancelled)):
        world.do(":rag notes")
    assert world.told[-1] == "stopped; what is read stays, and `:rag notes` goes on from there"
