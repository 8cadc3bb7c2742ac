"""Read recorded replies as today's codecs do, and judge as today what was judged then."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from agent.audit.replay.tape import Tape
from agent.gate.verdicts import DecideFunction
from agent.planner.codecs.calls import from_calls
from agent.planner.codecs.json_codecs import ModeJson, PlanJson
from agent.planner.codecs.native import Native, open_envelope
from agent.policy.model import Policy
from agent.protocol.decisions import Finding, Level, RiskContext, RiskReport, Verdict, VerdictAction
from agent.protocol.errors import CoreError, PlannerError, ProviderError, from_info
from agent.protocol.events.command import CommandProposed, CommandRated
from agent.protocol.events.goal import PlannerFinished, PlanProposed
from agent.protocol.events.known import Event
from agent.protocol.events.session import AssistantMessage, ChoicesOffered
from agent.protocol.messages import ToolSpec
from agent.protocol.ports import RiskClassifier
from agent.protocol.records import LABEL
from agent.protocol.replies import Chat, Command, Finish, Plan, Reply
from agent.protocol.requests import Approval
from agent.risk.analysers import raised

_STRICTNESS: tuple[VerdictAction, ...] = ("allow", "ask", "type", "refuse")
_OF_FILES = ("policy-error", "policy.failed")
_NO_POLICY = Policy()


class TodaysJudges:
    """`classify` and `decide` are today's. Policy files are not in a log, so that what one of them said then is said again."""

    def __init__(self, tape: Tape, classify: RiskClassifier, decide: DecideFunction) -> None:
        self._tape = tape
        self._classify = classify
        self._decide = decide

    def classify(self, command: str, context: RiskContext) -> RiskReport:
        """Today's rating; the recorded one of a text in which labels stand for secrets, and of one whose surroundings were not kept."""
        then = self._tape.rating_ahead()
        if then is not None and not is_comparable(then):
            return replace(then.report, command=command)
        report = self._classify(command, context)
        return (
            report
            if then is None
            else raised(report, (each for each in then.report.findings if _is_not_the_classifiers(each)))
        )

    def decide(self, report: RiskReport, approval: Approval, policy: Policy) -> Verdict:
        """Today's verdict without policy files, or the recorded one where a file's rule decided then and would still count."""
        then = self._tape.verdict_ahead()
        if then is not None and LABEL in report.command and then.rule not in ("length", "confine"):
            return then
        now = self._decide(report, approval, _NO_POLICY)
        if then is None or not is_of_a_file(then):
            return now
        if then.action == "allow":
            counts = now.action == "ask" and now.rule.startswith("level-") and report.level is not Level.HIGH
            return then if counts else now
        return then if _STRICTNESS.index(then.action) >= _STRICTNESS.index(now.action) else now


def _is_not_the_classifiers(finding: Finding) -> bool:
    """Tell whether a pattern of a `--safety-policy` file, or the person's own shell, raised the level: neither is in the log."""
    return finding.rule.startswith("policy.") or finding.rule == "shell.other"


def is_comparable(rated: CommandRated) -> bool:
    """Tell whether a rating can be done again from the log."""
    return LABEL not in rated.report.command and not (rated.known is not None and rated.known.partial)


def is_of_a_file(verdict: Verdict) -> bool:
    """Tell whether a rule of a policy file decided: its name says in which file it stands."""
    return ":" in verdict.rule or verdict.rule in _OF_FILES


_DONE = Finish(reason="stop")


def reply_of(event: PlannerFinished, after: tuple[Event, ...], tools: tuple[ToolSpec, ...]) -> Reply:
    """Rebuild the planner's answer. `after`: the events that followed, which tell what the text alone does not; `tools`: those on offer.

    The log does not say in which form a model was asked to write, so the forms are tried until one gives the kind of reply that was
    recorded. Raises PlannerError where today's codecs can read it in no form.
    """
    found: Reply | None = None
    trouble: PlannerError | None = None
    for reading in _readings(event.raw, tools):
        if isinstance(reading, PlannerError):
            trouble = trouble or reading
            continue
        found = found or reading
        if str(type(reading).__struct_config__.tag) == event.reply:
            return _completed(reading, event, after)
    if found is not None:
        return found
    raise trouble or PlannerError("the recorded reply is empty")


def error_of(event: PlannerFinished) -> CoreError:
    """The error with which the planner failed, as good as the one that was recorded."""
    assert event.error is not None
    error = from_info(event.error)
    if isinstance(error, ProviderError):  # what it was made of is not in the log, but what it came to is
        error.status, error.transport = None, event.error.retryable
    return error


def _readings(raw: str, tools: tuple[ToolSpec, ...]) -> Iterator[Reply | PlannerError]:
    known = frozenset(tool.name for tool in tools)
    opened = open_envelope(raw)
    if opened is not None and opened[1]:
        try:
            yield from_calls(opened[1], text=opened[0], known=known)
        except PlannerError as error:
            yield error
        return
    for codec in (ModeJson(tools), PlanJson(tools), Native(tools)):
        try:
            yield codec.parse(raw, (), _DONE)
        except PlannerError as error:
            yield error


def _completed(reply: Reply, event: PlannerFinished, after: tuple[Event, ...]) -> Reply:
    """With what the raw text does not hold: recipes do not write their reason into it, and labels stand for secrets there."""
    redacted = LABEL in event.raw
    following = after[0] if after else None
    if isinstance(reply, Command) and isinstance(following, CommandProposed):
        command = following.command if redacted else reply.command
        return replace(
            reply,
            command=command,
            reason=reply.reason or following.reason,
            reading=following.reading,
            unused=following.unused,
            alternatives=following.alternatives,
        )
    if isinstance(reply, Plan) and isinstance(following, PlanProposed):
        return replace(reply, steps=following.planned, message=following.message)
    if isinstance(reply, Chat) and isinstance(following, AssistantMessage):
        offered = after[1] if len(after) > 1 else None
        choices = offered.choices if isinstance(offered, ChoicesOffered) else ()
        return replace(reply, message=following.text if redacted else reply.message, choices=choices)
    return reply
