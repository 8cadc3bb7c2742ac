"""RAGs through the engine: documents are read, passages go with goals, sources are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.app.retrieval import ProcessRags
from agent.library.library import Library
from agent.protocol import commands as core
from agent.protocol.errors import InvalidState, NotFound
from agent.protocol.events.goal import GoalStarted
from agent.protocol.events.notices import Notice
from agent.protocol.messages import UserInput
from agent.protocol.requests import RunOptions, RunRequest
from tests.support.command_world import CommandWorld


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CommandWorld:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "tags.md").write_text("# Tags\nSign a tag with git tag -s.\n")
    (tmp_path / "notes" / "cake.md").write_text("# Cake\nTake five eggs.\n")
    library = Library(str(tmp_path / "config"))
    library.rags.save("notes", "documents: [notes]\n")
    rags = ProcessRags(lambda: library, {"HOME": str(tmp_path)})
    return CommandWorld(services={"library": lambda: library, "rags": lambda: rags})


def ask(world: CommandWorld, text: str) -> GoalStarted:
    import asyncio

    request = RunRequest(input=UserInput.from_text(text), options=RunOptions(with_embeddings=True))
    from agent.engine.engine import Engine

    asyncio.run(Engine(world.app).run(world.context, request, world.emitter, world.confirmer))
    return world.recorder.only(GoalStarted)[-1]  # type: ignore[attr-defined, no-any-return]


@pytest.mark.covers("S1-22")
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


@pytest.mark.covers("S1-26")
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
