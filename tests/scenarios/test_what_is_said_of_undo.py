"""What is said of taking a run back before it: one truth in the confirmation, in F2 and in `risk --explain`, and it holds."""

from __future__ import annotations

import io
import os
import subprocess
from pathlib import Path

import pytest

from agent.execution.journal.preimage import PreImages
from agent.execution.journal.store import Journals
from agent.frontends.confirm.heading import details, explanation, heading
from agent.frontends.subcommands.risk import run_risk
from agent.gate.direct_runs import planned, undo_words
from agent.protocol.approvals import ApprovedCommand, Consent
from agent.protocol.confirmations import ConfirmationRequest, Proposal
from agent.protocol.decisions import RiskContext, RiskReport, Verdict
from agent.risk.classifier import classify
from tests.support.tree_operations import differences, listing

KEPT = (
    "rm a.txt",
    "rm -rf src",
    "echo x > a.txt",
    "sed -i s/one/1/ a.txt",
    "mv a.txt b.txt",
    "mv a.txt src/",
    "cp a.txt src/f",
    "truncate -s 0 a.txt",
    "chmod 600 a.txt",
    "mkdir -p new/deep",
    "tee a.txt < src/f",
    "dd if=src/f of=a.txt status=none",
    "find src -name f -delete",
    "shred -u a.txt",
)
NOT_KEPT = ("./own-program", "python3 -c 'open(input(), \"w\")' <<< a.txt", "git -C src gc", "tar xf a.txt", "if")
NOTHING = ("ls", "cat a.txt", "kill -9 999999999", "curl -d @a.txt https://example.com")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    (work / "src").mkdir(parents=True)
    (work / "a.txt").write_text("one\n")
    (work / "src" / "f").write_text("f\n")
    return work


def context_at(folder: Path) -> RiskContext:
    return RiskContext(cwd=str(folder), workspace=str(folder), home="/nonexistent")


def images(folder: Path) -> PreImages:
    return PreImages(str(folder.parent / "state"))


def said(folder: Path, report: RiskReport) -> str:
    return undo_words(planned(images(folder), report, str(folder)), str(folder))


def confirmation(report: RiskReport, cwd: str, undo: str) -> str:
    proposal = Proposal(command_id="c", command=report.command, origin="person", cwd=cwd)
    verdict = Verdict(action="confirm", rule="default", reason="")
    request = ConfirmationRequest(proposal=proposal, report=report, verdict=verdict, undo=undo)
    lines = [*heading(request), *details(request)]  # what stands behind F1, too
    return "\n".join("".join(part[1] for part in line) for line in lines)


@pytest.mark.parametrize("command", (*KEPT, *NOT_KEPT, *NOTHING))
def test_all_say_the_same(folder: Path, command: str) -> None:
    report = classify(command, context_at(folder))
    words = said(folder, report)
    told: list[str] = []
    run_risk(
        command=command, json_output=False, explain=True, policy=False, cwd=str(folder), batch=None, stdin=io.StringIO(),
        write=told.append, warn=told.append, width=1_000, undo_words=lambda report, cwd: said(folder, report),
    )  # fmt: skip
    everywhere = (
        confirmation(report, str(folder), words),
        explanation(command, report, columns=1_000, undo=words),
        "\n".join(told),
    )
    for text in everywhere:
        kept, lost = "undo: keeps" in text, any(each in text for each in ("cannot be undone", "cannot be taken back"))
        assert (kept, lost) == (words.startswith("undo: keeps"), words.startswith("cannot")), text
    assert words.startswith("undo: keeps") is (command in KEPT)
    assert bool(words) is (command not in NOTHING)


@pytest.mark.parametrize("command", KEPT)
def test_what_is_kept_comes_back(folder: Path, command: str) -> None:
    report = classify(command, context_at(folder))
    before = listing(os.fsencode(folder))
    approved = ApprovedCommand(
        command_id="c", command=command, report=report, consent=Consent(by="person", word_typed=True)
    )
    plan = planned(images(folder), report, str(folder))
    assert plan is not None and not plan.not_kept
    taken = images(folder).take(plan, approved, cwd=str(folder))
    subprocess.run(["bash", "-c", command], cwd=folder, check=True, capture_output=True)
    assert differences(before, listing(os.fsencode(folder)))
    Journals(str(folder.parent / "state")).turn(taken.finish())
    assert not differences(before, listing(os.fsencode(folder)))
