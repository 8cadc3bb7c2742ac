"""Which run is taken back, what is asked before, and what happens where files were changed since."""

from __future__ import annotations

import asyncio
import dataclasses
from contextlib import suppress

import pytest
from msgspec.structs import replace

from agent.commands.undo import UndoController, find, list_text, rows
from agent.emitters.rehearsal_text import changes_text
from agent.protocol.confirmations import ConfirmationRequest, Proposal
from agent.protocol.decisions import Finding, Level, RiskReport, Verdict
from agent.protocol.errors import CoreError, InvalidRequest, UndoConflict, UndoFailed
from agent.protocol.events.command import ApprovalGiven, ApprovalRequested, UndoFinished, UndoStarted
from agent.protocol.events.known import Event
from agent.protocol.execution import UndoStore
from agent.protocol.ports import UndoPerson
from agent.protocol.rehearsals import Conflict, UndoChoice, UndoEntry, Undone
from agent.text.times import local_words
from tests.support.command_world import CommandWorld
from tests.support.each import each
from tests.support.fake_rehearser import FakeUndoStore, entry_of
from tests.support.fakes import FakeRecorder
from tests.support.undo_world import undo_actions

CHANGED = (Conflict(path="/work/a", reason="written to since"), Conflict(path="/work/b", reason="gone"))
ENTRIES = (
    entry_of("6c3"),
    entry_of("6b2", state="undone"),
    entry_of("6b1", state="broken", note="its journal is gone"),
)


class Table:
    """A controller behind the gate, with a person who answers `yes` and, file by file, `choices`."""

    def __init__(
        self, store: FakeUndoStore, *, yes: bool | None = True, choices: tuple[UndoChoice, ...] | None = None
    ) -> None:
        self.recorder = FakeRecorder()
        self.told: list[str] = []
        self.questions: list[str] = []
        answers = list(choices or ())

        async def ask(question: str) -> bool:
            self.questions.append(question)
            return bool(yes)

        async def choose(conflict: Conflict) -> UndoChoice:
            return answers.pop(0)

        async def turn(store: UndoStore, entry: UndoEntry, person: UndoPerson, sure: bool) -> Undone | None:
            return await undo_actions(store, person, self.recorder).turn(entry, sure=sure)

        self.controller = UndoController(
            store,
            turn,
            tell=self.told.append,
            ask=None if yes is None else ask,
            choice=None if choices is None else choose,
            changes_text=changes_text,
        )

    @property
    def recorded(self) -> list[Event]:
        return [record.event for record in self.recorder.records]

    def undo(self, wanted: str = "", *, sure: bool = False) -> Undone | None:
        return asyncio.run(self.controller.undo(wanted, sure=sure))


@each(("wanted", "found"), [("", "6c3"), ("6b2", "6b2"), ("6c", "6c3")])
def test_which_one(wanted: str, found: str) -> None:
    assert find(ENTRIES, wanted).undo_id == found


@each(("wanted", "words"), [("6b", "beginning of 2"), ("6c4", "did you mean 6c3"), ("zz", "undo --list")])
def test_which_one_is_not_clear(wanted: str, words: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        find(ENTRIES, wanted)
    assert words in f"{caught.value.message} {caught.value.hint}"


def test_without_a_name_the_newest_of_this_session_comes_first() -> None:
    entries = (entry_of("6c9", session="other"), entry_of("6c8", session="own"), entry_of("6c7", session="own"))
    assert find(entries, "", session="own").undo_id == "6c8"
    assert find(entries, "", session="third").undo_id == "6c9"
    assert find((entries[0], replace(entries[1], state="undone")), "", session="own").undo_id == "6c9"


def test_names_are_whole_and_sizes_those_of_the_files() -> None:
    long = f"rm {'a' * 100}.first.txt {'a' * 100}.second.txt"
    (line,) = list_text((entry_of("6c3", command=long, held_bytes=24_576, kept_bytes=6),)).splitlines()
    assert line.endswith(long)
    assert "1 change, 6 B" in line


def test_at_the_prompt_the_list_is_had_there() -> None:
    with pytest.raises(InvalidRequest) as caught:
        find(ENTRIES, "zz", listing=":undo list")
    assert caught.value.hint == "`:undo list` shows them"
    with pytest.raises(UndoFailed) as nothing:
        find(ENTRIES[1:], "", listing=":undo list")
    assert "`:undo list` shows it" in nothing.value.hint


@pytest.mark.parametrize("entries", [(), (entry_of("6b2", state="undone"),)])
def test_nothing_to_take_back(entries: tuple) -> None:  # type: ignore[type-arg]
    with pytest.raises(UndoFailed):
        find(entries, "")


def test_it_is_shown_and_asked_for_and_recorded() -> None:
    store = FakeUndoStore(*ENTRIES)
    table = Table(store)
    assert table.undo() == Undone(undo_id="6c3", restored=1)
    assert store.undone == [("6c3", frozenset(), False)]
    assert "- new" in table.told[0], "what would change comes first"
    assert table.told[1] == f"6c3, run {local_words('2030-01-02T03:04:05Z')} in /work: touch new"
    assert table.questions == ["take it back?"]
    asked, given, started, finished = table.recorded
    assert isinstance(asked, ApprovalRequested) and (asked.kind, asked.level) == ("undo", "medium")
    assert isinstance(given, ApprovalGiven) and given.answer == "approved"
    assert isinstance(started, UndoStarted) and (started.command, started.level) == ("touch new", "medium")
    assert finished == UndoFinished(undo_id="6c3", restored=1)


def test_no_is_no() -> None:
    store = FakeUndoStore(*ENTRIES)
    table = Table(store, yes=False)
    assert table.undo() is None
    assert store.undone == []
    assert isinstance(table.recorded[1], ApprovalGiven) and table.recorded[1].answer == "declined"
    assert not any(isinstance(event, UndoStarted) for event in table.recorded)


def test_an_undone_one_is_done_again() -> None:
    table = Table(FakeUndoStore(*ENTRIES))
    table.undo("6b2")
    assert table.questions == ["do it again?"]


def test_nobody_to_ask_needs_yes() -> None:
    store = FakeUndoStore(*ENTRIES)
    with pytest.raises(InvalidRequest):
        Table(store, yes=None).undo()
    assert Table(store, yes=None).undo(sure=True) is not None
    assert len(store.undone) == 1


@each(
    ("choices", "skip", "force"),
    [
        (("skip", "skip"), {"/work/a", "/work/b"}, False),
        (("skip", "force"), {"/work/a"}, True),
        (("force", "force"), set(), True),
    ],
)
def test_each_changed_file_is_asked_about(choices: tuple[UndoChoice, ...], skip: set[str], force: bool) -> None:
    store = FakeUndoStore(*ENTRIES, changed={"6c3": CHANGED})
    Table(store, choices=choices).undo()
    assert store.undone == [("6c3", frozenset(skip), force)]


def test_what_was_changed_is_named_before_the_question() -> None:
    table = Table(FakeUndoStore(*ENTRIES, changed={"6c3": CHANGED}), yes=False, choices=())
    assert table.undo() is None
    assert table.told[-2] == "  changed since; each is asked about:\n    /work/a: written to since\n    /work/b: gone"
    assert "  what would become of that (- is lost):\n" in table.told[-1]
    assert "-mine" in table.told[-1] and "+theirs" in table.told[-1]


def test_stop_takes_nothing_back() -> None:
    store = FakeUndoStore(*ENTRIES, changed={"6c3": CHANGED})
    assert Table(store, choices=("skip", "stop")).undo() is None
    assert store.undone == []


@pytest.mark.parametrize("sure", [True, False])
def test_changed_files_stop_it_where_nobody_is_asked(sure: bool) -> None:
    store = FakeUndoStore(*ENTRIES, changed={"6c3": CHANGED})
    with pytest.raises(UndoConflict) as caught:
        Table(store).undo(sure=sure)
    assert caught.value.conflicts == CHANGED
    assert store.undone == []


def test_hostile_names_are_shown_as_text() -> None:
    entries = (entry_of("6c3", command="echo \x1b]0;x\x07\nrm", cwd="/a\u202eb", note="\x9b31m"),)
    table = Table(FakeUndoStore(*entries))
    table.undo()
    said = "\n".join([*table.told, list_text(entries)])
    assert local_words("2030-01-02T03:04:05Z") in list_text(entries)
    assert not set("\x1b\x07\x9b\u202e") & set(said)


@pytest.mark.parametrize("line", [":undo list", ":undo"])
def test_what_a_crash_had_left_open_is_recorded_whatever_was_asked_for(line: str) -> None:
    store = FakeUndoStore(entry_of("6c3", state="undone"))
    store.resumed = [Undone(undo_id="6c3", restored=2, state="undone", notes=("finished later",))]
    world = CommandWorld(services={"undo": lambda: store})
    with suppress(CoreError):
        world.do(line)
    events = [record.event for record in world.recorder.records]
    assert UndoFinished(undo_id="6c3", restored=2, state="undone", resumed="finished later") in events


def test_rows_have_what_scripts_want() -> None:
    assert rows(ENTRIES)[2] == {
        "id": "6b1", "time": "2030-01-02T03:04:05Z", "state": "broken", "kind": "rehearsal", "changes": 1, "held_bytes": 0, "kept_bytes": 0,
        "command": "touch new", "cwd": "/work", "session": "", "note": "its journal is gone",
    }  # fmt: skip


@pytest.mark.parametrize(("sure", "beside"), [(True, ", for which --yes does not stand"), (False, "")])
def test_a_word_that_was_not_typed_is_told_with_what_it_is_for(sure: bool, beside: str) -> None:
    table = Table(FakeUndoStore([entry_of("6c3")]), yes=None if sure else True)
    why: list[str] = []
    controller = dataclasses.replace(table.controller, why=why.append)
    finding = Finding(rule="setuid", level=Level.HIGH, reason="lets others run b\x1b[2J", span=(0, 1))
    request = ConfirmationRequest(
        proposal=Proposal(command_id="6c3", command="undo", origin="person", cwd="/work"),
        report=RiskReport(command="undo", level=Level.HIGH, findings=(finding,)),
        verdict=Verdict(action="type"),
        kind="write",
    )
    assert asyncio.run(controller.ask_word(request)) is None
    assert why == [f"the word `proceed` was not typed{beside}: lets others run b\u241b[2J"]
    assert table.told == []
