"""What of a session can be run again."""

from __future__ import annotations

from msgspec.structs import replace

from agent.audit.replay.steps import Step, steps
from agent.protocol.events.command import CommandFinished, CommandStarted
from tests.support.replay_stage import REPLAYS
from tests.support.replaying import records_of


def _steps(name: str) -> list[Step]:
    return steps(records_of(REPLAYS / f"{name}.jsonl"))


def test_what_ran_is_in_order_with_its_folder_and_ending() -> None:
    ran = [step for step in _steps("own-commands") if not step.left_out]
    assert [(step.goal, step.number) for step in ran[:3]] == [(1, 1), (2, 2), (3, 3)]
    assert [step.cwd.rpartition("/")[2] for step in ran[:3]] == ["work", "sub", "sub"]
    assert {step.command: step.exit_code for step in ran}["echo to-err >&2; exit 3"] == 3
    assert [step.command for step in ran if step.private] == ["echo private"]


def test_what_did_not_run_to_its_end_says_why() -> None:
    reasons = {
        step.left_out
        for name in ("confirmations", "refused", "stopped", "rated-only", "undone")
        for step in _steps(name)
    }
    assert reasons >= {
        "", "skipped", "cancelled", "answered with a remark", "another one was asked for", "refused by policy", "interrupted then",
        "ended by its time-out then", "only rated", "taken back then", "never decided on",
    }  # fmt: skip


def test_an_edited_command_is_the_one_that_ran() -> None:
    edited = next(step for step in _steps("confirmations") if step.command == "head -n 1 a.txt")
    assert not edited.left_out


def test_rehearsed_and_made_real_is_told_apart() -> None:
    found = _steps("rehearsals")
    assert [step.via for step in found if not step.left_out] == ["rehearsal", "", "rehearsal"]
    assert {step.left_out for step in found if step.left_out} == {"skipped", "cancelled"}


def test_a_label_is_seen() -> None:
    assert [step.has_label for step in _steps("secrets")].count(True) == 3


def test_confinement_is_kept() -> None:
    assert {step.confine for step in _steps("confined") if not step.left_out} == {"workspace"}


def test_what_is_not_understood_is_left_out() -> None:
    records = records_of(REPLAYS / "confined.jsonl")
    jailed = [
        replace(record, event=replace(record.event, confine="jail"))
        if isinstance(record.event, CommandStarted)
        else record
        for record in records
    ]
    assert "confined then in a way that is not known here" in {step.left_out for step in steps(jailed)}
    assert all(step.left_out for step in steps(jailed) if step.confine == "jail")
    unstarted = [record for record in records if not isinstance(record.event, (CommandStarted, CommandFinished))]
    assert {step.left_out for step in steps(unstarted)} >= {"never started"}
    assert all(step.left_out for step in steps(unstarted))
