"""Runs commands through the real gate and executor under `--approve low`, nobody there to ask, and prints what became of them as JSON.

Standard input: {"commands": [text, …], "workspace": …, "home": …, "lying": whether everything is called low, of an effect "kind" ("read"),
"tear": …}. With "preview" a person is asked, sees what each would do, and skips it; a busy machine gets 3 seconds for that. With "free"
nothing is held: what a command does without the lock. A process of its own, so that it can be an ordinary user's.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from functools import partial

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from agent.execution.confine.plan import WriteFolders
from agent.execution.executor import ShellExecutor
from agent.gate import previews
from agent.gate.gate import Gate
from agent.gate.verdicts import Judges
from agent.policy.deciding import decide
from agent.policy.rights import rights
from agent.protocol.approvals import ApprovedCommand, Consent
from agent.protocol.confirmations import Proposal, Skipped
from agent.protocol.decisions import Effect, Finding, Level, RiskContext, RiskReport
from agent.protocol.execution import CancellationToken
from agent.protocol.requests import Approval
from agent.risk.classifier import classify
from tests.support.confined_driver import take_away


class Silent:
    """Records nothing, shows nothing, redacts nothing, asks nobody."""

    async def send(self, event):
        return None

    async def send_if_possible(self, event):
        return None

    def output(self, stream, data):
        pass

    def redact(self, text):
        return text

    def feed(self, text):
        return text

    def close(self):
        return ""


class Skipping:
    """A person who looks at what it would do, and skips it; nobody, where nothing is previewed."""

    def __init__(self):
        self.seen = ""

    async def confirm(self, request):
        self.seen = "" if request.previewed is None else request.previewed.line
        return Skipped()

    async def ask_word(self, request):
        return None


def lying(command, context, kind="read"):
    effect = Effect(kind=kind, scope="workspace", targets=("/",))
    finding = Finding(rule="read.workspace", level=Level.LOW, reason="reads", span=(0, len(command)), effect=effect)
    return RiskReport(command=command, level=Level.LOW, findings=(finding,))


class KnownFacts:
    def __init__(self, work):
        self._work = work

    def risk_context(self, command, cwd):
        return RiskContext(
            cwd=cwd, home=self._work["home"], workspace=self._work["workspace"], is_root=os.geteuid() == 0
        )


async def through_the_gate(work, executor, command, number):
    facts, silent, person, is_shown = KnownFacts(work), Silent(), Skipping(), bool(work.get("preview"))
    judges = Judges(
        classify=partial(lying, kind=work.get("kind", "read")) if work.get("lying") else classify,
        decide=lambda report, approval, policy: decide(report, approval),
        facts=facts, redactor=silent, open_stream_redaction=Silent,
    )  # fmt: skip
    gate = Gate(
        judges,
        executor=executor,
        confirmer=person if is_shown else silent,
        events=silent,
        approval=Approval(rehearse="preview") if is_shown else Approval(mode="low", interactive=False),
        cancel=CancellationToken(),
        rehearser=executor if is_shown else None,
    )
    gate.timeout = 20.0
    item = await gate.run(Proposal(command_id=str(number), command=command, cwd=executor.cwd))
    return {
        "outcome": item.outcome, "remark": item.remark, "code": item.exit_code, "out": item.stdout,
        "err": item.stderr, "refused": item.refused, "seen": person.seen
    }  # fmt: skip


async def straight(work, executor, command, number):
    """As it is rated, held or not ("free")."""
    context = KnownFacts(work).risk_context(command, executor.cwd)
    report = classify(command, context)
    low = RiskReport(command=command, level=Level.LOW, findings=report.findings, programs=report.programs)
    had = None if work.get("free") else rights(low, context)
    approved = ApprovedCommand(
        command_id=str(number), command=command, report=low, consent=Consent(by="policy"), timeout=60.0, rights=had
    )
    result = await executor.execute(approved, None, CancellationToken())
    return {
        "level": report.level.value, "code": result.exit_code, "out": result.stdout.head,
        "err": result.stderr.head, "refused": result.refused
    }  # fmt: skip


async def together(work, executor):
    """Commands with the same rights in one shell, each in a subshell: for each its exit code, and what it wrote to both streams."""
    context, groups = KnownFacts(work).risk_context("", executor.cwd), {}
    for place, command in enumerate(work["commands"]):
        report = classify(command, context)
        assert report.level is Level.LOW, (command, report.findings)
        groups.setdefault(rights(report, context), []).append(place)
    done = {}
    for had, places in groups.items():
        text = "".join(f"(\n{work['commands'][place]}\n) 2>&1; printf '\\1%d\\2' $?\n" for place in places)
        report = RiskReport(command=text, level=Level.LOW)
        held = None if work.get("free") else had
        approved = ApprovedCommand(
            command_id="all", command=text, report=report, consent=Consent(by="policy"), timeout=60.0, rights=held
        )
        result = await executor.execute(approved, None, CancellationToken())
        told = result.stdout.head.split("\2")[:-1]
        assert len(told) == len(places), (work["commands"][places[len(told)]], result)
        done |= {place: piece.rpartition("\1")[::2] for place, piece in zip(places, told, strict=True)}
    return [done[place] for place in range(len(done))]


async def run(work):
    os.chdir(work["workspace"])
    take_away(work.get("without", {}))
    previews.SECONDS = 3.0
    executor = ShellExecutor(
        cwd=work["workspace"],
        env=dict(os.environ),
        write_folders=WriteFolders(workspace=work["workspace"], home=work["home"]),
        head_bytes=8 << 20,
        grace=0.3,
    )
    if work.get("together"):
        done = await together(work, executor)
        await executor.close()
        return done
    act = through_the_gate if work.get("gate") else straight
    done = []
    for number, command in enumerate(work["commands"]):
        done.append(await act(work, executor, command, number))
        executor.enter(work["workspace"])
    await executor.close()
    return done


if __name__ == "__main__":
    print(json.dumps(asyncio.run(run(json.load(sys.stdin)))))
