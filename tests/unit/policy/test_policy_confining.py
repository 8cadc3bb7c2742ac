"""Confinement at the gate: the strictest of setting and rules, and what happens where it cannot be had."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from agent.config.load import load_settings
from agent.engine.stream import EventStream
from agent.frontends.confirm.heading import details
from agent.gate.gate import Gate, Judges
from agent.policy.confining import beyond, wanted
from agent.policy.deciding import decide
from agent.policy.model import Place, Policy, PolicyFile, Rule
from agent.policy.parse import parse_policy
from agent.protocol.actions import WriteFile
from agent.protocol.confinement import CONFINEMENTS, Confining, is_as_strict, strictest
from agent.protocol.confirmations import Approved, Proposal
from agent.protocol.decisions import Level, RiskContext
from agent.protocol.events.command import CommandConfirmed, CommandStarted
from agent.protocol.execution import CancellationToken
from agent.protocol.messages import CommandItem
from agent.protocol.outcomes import ExecutionResult
from agent.protocol.rehearsals import Change, Rehearsal
from agent.protocol.requests import Approval
from agent.risk.classifier import classify
from tests.support.each import each
from tests.support.fakes import (
    FakeEmitter,
    FakeExecutor,
    FakeFacts,
    FakePerformer,
    FakePerson,
    FakeRecorder,
    FakeRedactor,
    FakeStreamRedaction,
)

WORK = "/home/you/project"
MAKE = Rule(name="make", action="allow", program=("make",), words=(("test",),), confine="workspace")
OFFLINE = Rule(name="off", action="ask", program=("python3",), confine="no-network")
ASKS = Rule(name="asks", action="ask", program=("rm",))


class Facts(FakeFacts):
    def risk_context(self, command: str, cwd: str) -> RiskContext:
        return RiskContext(cwd=cwd or WORK, home="/home/you", workspace=WORK)

    def context_of(self, rate: object, cwd: str) -> RiskContext:
        return self.risk_context("", cwd)


def policy(*rules: Rule) -> Callable[[str], Policy]:
    files = (PolicyFile(path="/p/policy.toml", trust="user", rules=rules),)
    return lambda cwd: Policy(files=files, place=Place(workspace=WORK, home="/home/you"))


class GateWorld:
    """A gate over the real classifier and the real policy; the executor says whether it can confine."""

    def __init__(self, person: FakePerson, *rules: Rule, unconfinable: str = "", **approval: object) -> None:
        self.recorder = FakeRecorder()
        self.person = person
        self.executor = FakeExecutor(cwd=WORK)
        self.executor.unconfinable = unconfinable
        self.gate = Gate(
            Judges(
                classify,
                lambda report, allowed, files: decide(report, allowed, policy=files),
                Facts(),
                FakeRedactor(),
                FakeStreamRedaction,
                policy=policy(*rules),
            ),
            executor=self.executor,
            confirmer=person,
            events=EventStream(self.recorder, FakeEmitter(), run="r"),
            approval=Approval(**approval),  # type: ignore[arg-type]
            cancel=CancellationToken(),
            performer=FakePerformer(),
        )

    def run(self, command: str) -> CommandItem:
        return asyncio.run(self.gate.run(Proposal(command_id="c", command=command, cwd=WORK)))

    def started(self) -> list[CommandStarted]:
        return [r.event for r in self.recorder.records if isinstance(r.event, CommandStarted)]


@each(
    ("modes", "together"),
    [
        ((), "off"),
        (("off", "workspace"), "workspace"),
        (("workspace", "read-only"), "read-only"),
        (("no-network", "off"), "no-network"),
        (("workspace", "no-network"), "workspace,no-network"),
        (("workspace,no-network", "read-only"), "read-only,no-network"),
    ],
)
def test_of_several_all_hold(modes, together):
    assert strictest(modes) == together


def test_strictness_is_an_order():
    for one in CONFINEMENTS:
        assert is_as_strict(one, "off")
        assert is_as_strict(one, one)
        assert is_as_strict("read-only,no-network", one)
    assert not is_as_strict("workspace", "no-network")
    assert not is_as_strict("no-network", "workspace")
    assert not is_as_strict("workspace", "read-only")


def report(command: str):
    return classify(command, RiskContext(cwd=WORK, home="/home/you", workspace=WORK))


@each(
    ("command", "setting", "mode"),
    [
        ("ls", "off", "off"),
        ("ls", "read-only", "read-only"),
        ("make test", "off", "workspace"),
        ("make test", "read-only", "read-only"),
        ("make install", "off", "off"),
        ("ls && sudo make test", "off", "workspace"),
        ("make test; python3 x.py", "off", "workspace,no-network"),
        ("$TOOL test", "off", "workspace,no-network"),
        ("rm x", "off", "off"),
    ],
)
def test_rules_confine_what_they_may_be_about(command, setting, mode):
    assert wanted(report(command), policy(MAKE, OFFLINE, ASKS)(WORK), setting) == mode


def test_a_rule_says_confine_in_its_file():
    text = '[[rule]]\naction = "ask"\nprogram = "npm"\nconfine = "{}"\n'
    (rule,) = parse_policy(text.format("workspace"), path="p", trust="project").rules
    assert rule.confine == "workspace"
    broken = parse_policy(text.format("sometimes"), path="p", trust="user")
    assert "confine must be one of off; workspace; read-only" in broken.error


def test_the_setting_reaches_executor_log_and_person():
    world = GateWorld(FakePerson(), confine="workspace")
    assert world.run("touch x").outcome == "ran"
    (ran,) = world.executor.ran
    assert (ran.confine, ran.workspace) == ("workspace", WORK)
    assert [event.confine for event in world.started()] == ["workspace"]
    assert world.person.asked[0].confining.how == "by workspace"


def test_an_edit_is_confined_as_what_it_is_now():
    world = GateWorld(FakePerson(Approved(command="make test")), MAKE)
    assert world.run("ls").outcome == "ran"
    assert world.executor.ran[0].confine == "workspace"


def test_what_cannot_be_confined_is_rated_higher_and_asked_as_not_confined():
    world = GateWorld(FakePerson(), unconfinable="no way here", confine="workspace", mode="low")
    assert world.run("ls").outcome == "ran"
    (request,) = world.person.asked
    assert request.report.level is Level.MEDIUM
    assert request.report.findings[0].rule == "confine.none"
    text = ["".join(part for _, part in line) for line in details(request)]
    assert "not confined: no way here" in text
    assert world.executor.ran[0].confine == "off"
    assert [event.confine for event in world.started()] == ["off"]


def test_medium_that_cannot_be_confined_needs_the_word():
    world = GateWorld(FakePerson(words=["no"]), unconfinable="no way here", confine="read-only")
    assert world.run("rm x").outcome == "declined"
    assert world.executor.ran == []


@pytest.mark.parametrize("rules", [(), (MAKE,)])
def test_nothing_runs_unconfined_without_a_person(rules):
    confine = "off" if rules else "workspace"
    world = GateWorld(
        FakePerson(), *rules, unconfinable="no way here", confine=confine, mode="medium", interactive=False
    )
    item = world.run("make test")
    assert item.outcome == "refused"
    assert "no way here" in item.remark
    assert world.executor.ran == []
    confirmed = [r.event for r in world.recorder.records if isinstance(r.event, CommandConfirmed)]
    assert [event.decision for event in confirmed] == ["refused"]


def test_an_approve_mode_asks_where_a_person_is():
    world = GateWorld(FakePerson(), unconfinable="no way here", confine="no-network", mode="medium")
    assert world.run("ls").outcome == "ran"
    assert len(world.person.asked) == 1


def test_the_details_say_how_and_what_it_leaves_open():
    world = GateWorld(FakePerson(), confine="workspace")
    world.run("touch x")
    request = world.person.asked[0]
    import msgspec

    request = msgspec.structs.replace(
        request, confining=Confining(mode="workspace", how="writes only in /x\x1b[2J", misses=("a", "b"))
    )
    text = ["".join(part for _, part in line) for line in details(request)]
    assert any(line.startswith("confined: writes only in /x") for line in text)
    assert "  does not stop: a; b" in text
    assert not any("\x1b" in line for line in text)


def test_a_working_folder_may_only_confine_more(tmp_path):
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()

    def confine(project: str, **environ: str) -> str:
        (work / ".agent-shell.toml").write_text(project)
        loaded = load_settings({}, {"HOME": str(home), **environ}, cwd=str(work), checkout="")
        return loaded.settings.confine

    assert confine('confine = "workspace"') == "workspace"
    assert confine('confine = "no-network"', AGENT_CONFINE="read-only") == "read-only"
    assert confine('confine = "off"') == "off"
    assert confine('confine = "nonsense"') == "off"
    assert confine('confine = "off"', AGENT_CONFINE="read-only") == "read-only"
    assert confine('confine_write = ["/"]\nlimit_output = "1M"') == "off"


def test_a_rehearsal_that_goes_beyond_is_not_made_real_unasked():
    result = ExecutionResult(exit_code=0)

    def rehearsal(*paths: str, more: int = 0) -> Rehearsal:
        changes = tuple(Change(path=path, op="create", kind="file") for path in paths)
        return Rehearsal(rehearsal_id="r", command="c", cwd=WORK, result=result, changes=changes, more=more)

    inside = Confining(mode="workspace", workspace=WORK)
    assert beyond(inside, rehearsal(f"{WORK}/a")) == ""
    assert f"{WORK}x/a" in beyond(inside, rehearsal(f"{WORK}/a", f"{WORK}x/a"))
    assert beyond(inside, rehearsal(f"{WORK}/a", more=1)) != ""
    wider = Confining(mode="workspace", workspace=WORK, also=("/srv/cache",))
    assert beyond(wider, rehearsal("/srv/cache/x", f"{WORK}/a")) == ""
    assert beyond(wider, rehearsal("/srv/cached")) != ""
    assert beyond(Confining(mode="workspace"), rehearsal("/etc/x")) != ""
    guarded = Confining(mode="workspace", workspace=WORK, protected=(f"{WORK}/.config",))
    assert beyond(guarded, rehearsal(f"{WORK}/.config")) != ""
    assert beyond(guarded, rehearsal(f"{WORK}/.config/x")) != ""
    assert beyond(guarded, rehearsal(f"{WORK}/.configured")) == ""
    assert beyond(Confining(mode="read-only", workspace=WORK), rehearsal(f"{WORK}/a")) != ""
    assert beyond(Confining(mode="read-only", workspace=WORK), rehearsal()) == ""
    assert beyond(Confining(mode="no-network"), rehearsal("/etc/x")) == ""


@each(
    ("mode", "path", "written"),
    [
        ("off", "/tmp/elsewhere", True),
        ("workspace", f"{WORK}/src/x", True),
        ("workspace", f"{WORK}x/x", False),
        ("workspace", f"{WORK}/../x", False),
        ("read-only", f"{WORK}/x", False),
        ("no-network", "/tmp/elsewhere", True),
    ],
)
def test_a_tool_writes_no_file_that_a_command_could_not(mode, path, written):
    world = GateWorld(FakePerson(), confine=mode)
    done = asyncio.run(world.gate.perform(WriteFile(path=path, content="text")))
    assert (done.outcome == "ran") is written
    assert len(world.person.asked) == written
