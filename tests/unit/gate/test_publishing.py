"""Pull requests that tools ask for: bound to what was agreed to, asked about with their text in view, recorded before they are opened."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

import pytest
from msgspec.structs import replace

from agent.engine.stream import EventStream
from agent.gate.gate import Gate, Judges
from agent.policy.deciding import decide
from agent.policy.model import Policy, PolicyFile, Rule
from agent.protocol.actions import OpenPullRequest, Performed, PullRequest, action_of, content_hash, text_of
from agent.protocol.approvals import ApprovedPullRequest, Consent
from agent.protocol.confirmations import Approved, CancelGoal, Declined, Skipped
from agent.protocol.decisions import Level, RiskContext
from agent.protocol.errors import Cancelled, IoError, RecordingError
from agent.protocol.events.command import (
    CommandConfirmed,
    CommandFinished,
    CommandProposed,
    CommandRated,
    CommandStarted,
)
from agent.protocol.execution import CancellationToken
from agent.protocol.requests import Approval
from agent.risk.classifier import classify
from agent.risk.file_actions import rate_action
from tests.support.each import each
from tests.support.fakes import (
    FakeEmitter,
    FakeExecutor,
    FakeFacts,
    FakePerson,
    FakeRecorder,
    FakeRedactor,
    FakeStreamRedaction,
)

ACTION = OpenPullRequest(
    root="/work", where="github.com/ada/p", branch="agent/task-1", base="main", title="feat(task 1): x", body="Proof\n"
)
OPENED = PullRequest(url="https://github.com/ada/p/pull/7", number=7, created=True)


class Server:
    """Keeps what it was given; raises `error`, or waits for ever."""

    def __init__(self, error: Exception | None = None, *, hangs: bool = False) -> None:
        self.error, self.hangs = error, hangs
        self.given: list[ApprovedPullRequest] = []

    def place(self, remote: str) -> str:
        return "local"

    async def open(self, approved: ApprovedPullRequest) -> PullRequest:
        self.given.append(approved)
        if self.hangs:
            await asyncio.Event().wait()
        if self.error is not None:
            raise self.error
        return OPENED


class World:
    def __init__(
        self,
        person: FakePerson,
        *,
        approval: Approval | None = None,
        rules: Iterable[Rule] = (),
        server: Server | None = None,
        recorder: FakeRecorder | None = None,
    ) -> None:
        self.person, self.server, self.recorder = person, server or Server(), recorder or FakeRecorder()
        self.cancel, self.rules = CancellationToken(), tuple(rules)
        self.gate = Gate(
            Judges(
                classify,
                lambda report, approval, policy: decide(report, approval, policy=policy),
                FakeFacts(),
                FakeRedactor(),
                FakeStreamRedaction,
                policy=lambda cwd: Policy(files=(PolicyFile(path="/p.toml", trust="user", rules=self.rules),)),
            ),
            executor=FakeExecutor(),
            confirmer=person,
            events=EventStream(self.recorder, FakeEmitter(), run="r"),
            approval=approval or Approval(),
            cancel=self.cancel,
            pull_requests=self.server,
        )

    def perform(self, action: OpenPullRequest = ACTION) -> Performed:
        return asyncio.run(self.gate.perform(action, call_id="c1"))


def deny(action: str = "deny") -> Rule:
    return Rule(name="r", action=action, program=("open_pull_request",), reason="not from here")  # type: ignore[arg-type]


def test_it_is_asked_for_with_its_text_recorded_and_opened() -> None:
    world = World(FakePerson())
    assert world.perform() == Performed(outcome="ran", pull_request=OPENED)
    (request,) = world.person.asked
    assert (request.kind, request.preview) == ("write", "feat(task 1): x\n\nProof\n")
    assert "cannot be taken back" in request.note
    assert request.proposal.command == text_of(ACTION) == "open_pull_request github.com/ada/p agent/task-1 main"
    kinds = [type(record.event) for record in world.recorder.records]
    assert [kind for kind in kinds if kind.__name__.startswith("Command")] == [
        CommandProposed, CommandRated, CommandConfirmed, CommandStarted, CommandFinished,
    ]  # fmt: skip
    (started,) = world.recorder.only(CommandStarted)
    (finished,) = world.recorder.only(CommandFinished)
    assert (started.via, started.content) == ("tool", content_hash(ACTION))
    assert (finished.exit_code, finished.undo_id, finished.result.stdout.head) == (0, "", f"{OPENED.url}\n")
    assert world.recorder.only(CommandProposed)[0].call_id == "c1"


@each("mode", ["ask", "low", "medium"])
def test_it_is_asked_for_in_every_mode(mode: str) -> None:
    world = World(FakePerson(), approval=Approval(mode=mode))
    world.perform()
    assert len(world.person.asked) == 1


def test_granted_it_is_opened_with_nobody_there() -> None:
    world = World(FakePerson(), approval=Approval(interactive=False, grants=("pull-request",)))
    assert world.perform().outcome == "ran" and world.person.asked == []
    assert world.server.given[0].consent == Consent(by="policy")
    assert world.recorder.only(CommandConfirmed)[0].remark == "allowed by grant-pull-request"


@each(
    ("approval", "outcome", "said"),
    [
        (Approval(interactive=False, mode="medium"), "declined", "--grant pull-request spares"),
        (Approval(interactive=False, grants=("push",)), "declined", "--grant pull-request spares"),
        (Approval(dry_run=True), "dry-run", "dry run"),
        (Approval(dry_run=True, grants=("pull-request",)), "dry-run", "dry run"),
    ],
)
def test_nothing_is_opened_unasked(approval: Approval, outcome: str, said: str) -> None:
    world = World(FakePerson(), approval=approval)
    done = world.perform()
    assert done.outcome == outcome and said in done.remark and world.server.given == []


def test_a_rule_that_forbids_it_counts_whatever_was_granted() -> None:
    world = World(FakePerson(), approval=Approval(grants=("pull-request",)), rules=[deny()])
    done = world.perform()
    assert (done.outcome, done.remark) == ("refused", "not from here [p.toml:r]")
    assert world.server.given == [] and world.person.asked == []


def test_a_rule_that_wants_the_word_gets_it() -> None:
    world = World(FakePerson(words=["no"]), rules=[deny("type")], approval=Approval(grants=("pull-request",)))
    assert world.perform().outcome == "skipped" and world.server.given == []
    world = World(FakePerson(words=["proceed"]), rules=[deny("type")])
    assert world.perform().outcome == "ran" and world.server.given[0].consent.word_typed


@each("answer", [Skipped(), Declined(), Approved(command="open_pull_request github.com/x/y b main")])
def test_anything_but_yes_to_exactly_this_opens_nothing(answer: Skipped) -> None:
    world = World(FakePerson(answer))
    assert world.perform().outcome in ("skipped", "declined") and world.server.given == []


def test_who_cancels_ends_the_goal() -> None:
    world = World(FakePerson(CancelGoal()))
    world.perform()
    assert world.cancel.cancelled and world.server.given == []


def test_a_policy_that_became_stricter_while_the_question_stood_there_counts() -> None:
    class Slow(FakePerson):
        async def confirm(self, request):  # type: ignore[no-untyped-def]
            world.rules = (deny(),)
            return await super().confirm(request)

    world = World(Slow())
    done = world.perform()
    assert done.outcome == "declined" and "the policy changed" in done.remark and world.server.given == []


def test_what_goes_wrong_is_recorded_and_told() -> None:
    world = World(FakePerson(), server=Server(IoError("404 not found")))
    assert world.perform() == Performed(outcome="failed", remark="404 not found")
    (finished,) = world.recorder.only(CommandFinished)
    assert (finished.exit_code, finished.result.stderr.head) == (1, "404 not found")


def test_a_crash_of_ours_is_recorded_and_told() -> None:
    world = World(FakePerson(), server=Server(ZeroDivisionError()))
    assert world.perform() == Performed(outcome="failed", remark="ZeroDivisionError")


def test_ctrl_c_while_it_is_opened_says_that_it_may_be_open() -> None:
    async def go() -> None:
        task = asyncio.ensure_future(world.gate.perform(ACTION))
        while not world.server.given:
            await asyncio.sleep(0)
        world.cancel.cancel("interrupted")
        with pytest.raises(Cancelled):
            await task

    world = World(FakePerson(), server=Server(hangs=True))
    asyncio.run(go())
    (finished,) = world.recorder.only(CommandFinished)
    assert "may be open all the same" in finished.result.stderr.head


@each("after", range(6))
def test_a_log_that_breaks_keeps_it_from_being_opened(after: int) -> None:
    world = World(FakePerson(), recorder=FakeRecorder(broken_after=after))
    with pytest.raises(RecordingError):
        world.perform()
    assert world.server.given == []


def test_a_log_that_breaks_afterwards_is_said() -> None:
    whole = World(FakePerson())
    whole.perform()
    world = World(FakePerson(), recorder=FakeRecorder(broken_after=len(whole.recorder.records) - 1))
    with pytest.raises(RecordingError, match="the pull request was opened, but its ending is in no log"):
        world.perform()


def test_a_text_that_nobody_could_check_is_refused() -> None:
    world = World(FakePerson(), approval=Approval(grants=("pull-request",)))
    assert world.perform(replace(ACTION, body="x" * 70_000)).outcome == "refused" and world.server.given == []


def test_the_second_of_a_goal_has_a_life_of_its_own_in_the_log() -> None:
    world = World(FakePerson())
    world.perform()
    world.perform()
    first, second = (event.command_id for event in world.recorder.only(CommandProposed))
    assert (first, second) == (text_of(ACTION), f"{text_of(ACTION)}#2")


def test_a_session_without_a_server_opens_none() -> None:
    world = World(FakePerson())
    world.gate._publishing = replace_server(world.gate._publishing)
    assert world.perform().remark == "this session opens no pull requests"


def replace_server(publishing):  # type: ignore[no-untyped-def]
    from dataclasses import replace as with_fields

    return with_fields(publishing, pull_requests=None)


def test_a_rating_that_fails_is_high() -> None:
    world = World(FakePerson(words=["proceed"]), approval=Approval(grants=("pull-request",)))
    from dataclasses import replace as with_fields

    publishing = world.gate._publishing
    judges = replace(publishing.asked.judges, rate_action=lambda action, context: 1 / 0)
    world.gate._publishing = with_fields(publishing, asked=with_fields(publishing.asked, judges=judges))
    assert world.perform().outcome == "ran"
    assert world.person.asked[0].report.level is Level.HIGH and len(world.person.asked_words) == 1


def test_the_log_says_where_it_was_opened() -> None:
    found = action_of(text_of(ACTION))
    assert isinstance(found, OpenPullRequest) and found.words == ACTION.words
    assert rate_action(found, RiskContext()).level is Level.MEDIUM
    assert action_of("open_pull_request a b") is None


def test_only_what_was_rated_and_agreed_to_is_opened() -> None:
    report = rate_action(ACTION, RiskContext())
    ApprovedPullRequest(action=ACTION, report=report, consent=Consent(by="policy"))
    with pytest.raises(ValueError, match="another content"):
        ApprovedPullRequest(action=replace(ACTION, body="other"), report=report, consent=Consent(by="person"))
    with pytest.raises(ValueError, match="another text"):
        ApprovedPullRequest(action=replace(ACTION, base="other"), report=report, consent=Consent(by="person"))
