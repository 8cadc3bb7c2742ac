"""Risk, policy and confirmation as values; what was approved is in `approvals`."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from agent.protocol.confinement import Confining
from agent.protocol.rehearsals import Preview


class Level(StrEnum):
    """A measure of how bad it could be; see docs/risk.md."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"

    @property
    def rank(self) -> int:
        return ("low", "medium", "high").index(self.value)


def worst(levels: tuple[Level, ...]) -> Level:
    """The highest of `levels`, low for none."""
    return max(levels, key=lambda level: level.rank, default=Level.LOW)


class Effect(Struct, frozen=True, kw_only=True):
    """An act, the thing it is done to, and its reach. `kind` and `scope` are words of docs/risk.md.

    `whole`: of which places it takes all that is there (`agent.risk.paths.known_facts`): "home", "everything", "system", "mount", "disk".
    """

    kind: str
    scope: str = "unknown"
    targets: tuple[str, ...] = ()
    reversible: bool = True
    whole: tuple[str, ...] = ()


class Finding(Struct, frozen=True, kw_only=True):
    """One reason for a level. `span`: character offsets into the command; `safer`: what to do instead.

    `program` is an index into the report's `programs`, -1 where it is about no program (a redirection, a hidden character).
    """

    rule: str
    level: Level
    reason: str
    span: tuple[int, int]
    effect: Effect | None = None
    safer: str = ""
    program: int = -1


class ProgramRun(Struct, frozen=True, kw_only=True):
    """One program that the command would run, after expansion and unwrapping; `words` begin with its name.

    Parts not known before it runs stand as "…", and then (or where words were left out) `whole` is false. `via` names the
    wrappers around it, outermost first; `parent` is the index of the program that starts it, -1 for the shell itself.
    `level` is the worst of what was found about this program alone. `suspected`: only words behind another program, which may run
    them or may not. `environment`: variables that the command itself set before, and that may change what the program does. `fed`: its
    standard input is a pipe, a file or text that the command names.
    """

    words: tuple[str, ...]
    span: tuple[int, int]
    whole: bool = True
    via: tuple[str, ...] = ()
    remote: bool = False
    elevated: bool = False
    cwd: str = ""
    level: Level = Level.LOW
    parent: int = -1
    suspected: bool = False
    environment: tuple[str, ...] = ()
    fed: bool = False


class RiskReport(Struct, frozen=True, kw_only=True):
    """The rating of exactly `command`; findings worst first, programs in the order they would start.

    `cut`: there are more programs or findings than are told here. `content`: of a change of files or an undo the hash of all of it, since
    `command` names no more than the places.
    """

    command: str
    level: Level
    parse: Literal["ok", "partial", "failed"] = "ok"
    findings: tuple[Finding, ...] = ()
    programs: tuple[ProgramRun, ...] = ()
    cut: bool = False
    content: str | UnsetType = UNSET


class RiskContext(Struct, frozen=True, kw_only=True):
    """Facts of the system for a rating, collected by the caller; the classifier itself does no I/O.

    `facts` maps absolute paths named by the command to words: what it is ("missing", "dir", "file", "link", "other", "pattern"; "mount",
    "mount-below", "repository", "open" to writing by everyone), where it really lies ("at=PATH", and "to=PATH" for what a link leads
    to), how much is there ("entries=N", "bytes=N", "more" than that, "many"), what would be lost or hidden ("filled", "dirty",
    "changed=N" files, "staged", "stashes=N"), repositories in and below it (from there, "holds=sub/.git"), names that a wildcard matches
    and a program would take for options ("option=-x", "option=…" for more than were looked at), or perl would run or write
    ("magic=x|"), files of a folder that hide modules of Python's own ("shadows=json.py"), settings of a repository that have git start
    a program ("runs=core.fsmonitor"), files of a folder that a program runs before anything else ("loads=R:.Rprofile"), and of a disk
    "in-use" with "used=WHERE", or "unused".
    What earlier commands of the session left in its shell: `functions` and `aliases` as bash prints them (`declare -f`,
    `alias -p`), `exports` the exported variables whose values they changed.
    `files` tells folders, and files whose contents would run, from others of the same name: no rating looks at it, and no log keeps it.
    """

    cwd: str = ""
    home: str = ""
    workspace: str = ""
    is_root: bool = False
    facts: dict[str, tuple[str, ...]] = {}
    functions: str = ""
    aliases: str = ""
    exports: dict[str, str] = {}
    files: dict[str, str] = {}


VerdictAction = Literal["allow", "ask", "type", "refuse"]


class Verdict(Struct, frozen=True, kw_only=True):
    """The decision of policy: run, ask, ask and have `word` typed, or refuse. `rule` names what decided."""

    action: VerdictAction
    reason: str = ""
    rule: str = "default"
    word: str = "proceed"


# --- confirmation ---


class Opinion(Struct, frozen=True, kw_only=True):
    """A planner's own view of a command's risk. It can raise a rating, and never lower one."""

    level: Level
    reason: str = ""


class Alternative(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Another command for the same goal, and how the goal has to be read for it. `slots`: what of it, as in "<file>", the person has to
    fill in first."""

    command: str
    reason: str = ""
    slots: tuple[str, ...] = ()


class PlanPlace(Struct, frozen=True, kw_only=True):
    """A command's place in a plan: step `number` of `total`, and what the step is for."""

    number: int
    total: int
    goal: str


class Proposal(Struct, frozen=True, kw_only=True):
    """A command nobody approved yet. `origin`: planner, person, alternative, tool, macro, api, mcp, replay.

    `reading`, `unused` and `alternatives` are those of the reply, `place` is its step of a plan. An alternative counts as an edit: it is
    rated by itself when it stands in the prompt, and nothing that was said of the proposal holds for it. `look`: why it never runs unasked.
    `slots`: places, as in "<file>", that the person has to fill in: a text that holds one of them never runs. `secrets`: names of the
    vault whose values it gets as variables. `grant`: what it publishes ("push", "pull-request"): asked for unless that was granted.
    `within`: the folder whose repository alone git may change unasked, "" for any.
    """

    command_id: str
    command: str
    origin: str = "planner"
    reason: str = ""
    cwd: str = ""
    call_id: str = ""
    opinion: Opinion | None = None
    reading: str = ""
    unused: tuple[str, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
    place: PlanPlace | None = None
    look: str = ""
    slots: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    grant: str = ""
    within: str = ""

    def unfilled(self, text: str) -> tuple[str, ...]:
        """The slots that `text` still has, in its order."""
        return tuple(sorted((slot for slot in self.slots if slot in text), key=text.index))


class ConfirmationRequest(Struct, frozen=True, kw_only=True):
    """A question that a confirmer shows. A "write" (a tool wants to write a file) is answered yes or no; `preview` is its content.

    `approve` is the approve mode: what would have run without asking. `draft`: what stands in the prompt where it is not the proposal
    (the person has edited it before). `rehearsal`: "no" where nothing can be rehearsed, "auto" where Enter rehearses first, "ask" where it
    is offered, "off" where only the key does it. `undo`: in words, whether the run could be taken back. `confining`: how it would be
    confined. `session`: whose it is. `previewed`: what the text that stands in the prompt at first would do, where that is known.
    """

    proposal: Proposal
    report: RiskReport
    verdict: Verdict
    kind: Literal["command", "write"] = "command"
    preview: str = ""
    safety_off: bool = False
    is_root: bool = False
    note: str = ""
    approve: Literal["ask", "low", "medium"] = "ask"
    draft: str | None = None
    rehearsal: Literal["no", "off", "ask", "auto"] = "no"
    undo: str = ""
    confining: Confining = Confining()
    session: str = ""
    previewed: Preview | None = None

    @property
    def as_shown(self) -> Approved:
        """Yes to the text as it stands there, and to what a front end that shows `previewed` has shown of it."""
        text = self.proposal.command if self.draft is None else self.draft
        seen = "" if self.previewed is None or self.previewed.command != text else self.previewed.preview_id
        return Approved(command=text, seen=seen)


class Approved(Struct, frozen=True, kw_only=True, tag="approved"):
    """Run `command` (the text as it stood in the prompt: the proposal, or an edit of it).

    `seen`: the id of the preview of this text that stood on the screen, "" for none; then exactly that is made real.
    """

    command: str
    seen: str = ""


class Skipped(Struct, frozen=True, kw_only=True, tag="skipped"):
    """Blanked: not this one."""


class Declined(Struct, frozen=True, kw_only=True, tag="declined"):
    """The word was not typed, or nobody is there to ask (`unattended`)."""

    unattended: bool = False


class CancelGoal(Struct, frozen=True, kw_only=True, tag="cancelled"):
    """Stop the whole goal."""


class Remark(Struct, frozen=True, kw_only=True, tag="remark"):
    """Words for the planner instead of an answer ("no, only in src")."""

    text: str


class Regenerate(Struct, frozen=True, kw_only=True, tag="regenerate"):
    """Ask the planner for another command."""


class Rehearse(Struct, frozen=True, kw_only=True, tag="rehearse"):
    """Run `command` (the text as it stood in the prompt) in an overlay first, and show what it would change."""

    command: str
    network: bool = False


Confirmation = Approved | Skipped | Declined | CancelGoal | Remark | Regenerate | Rehearse


class Commit(Struct, frozen=True, kw_only=True, tag="commit"):
    """Make what the rehearsal showed real."""


class EditAgain(Struct, frozen=True, kw_only=True, tag="edit"):
    """Discard the rehearsal and go back to the editable prompt."""


class Discard(Struct, frozen=True, kw_only=True, tag="discard"):
    """Throw the rehearsal away; nothing was changed."""


Review = Commit | EditAgain | Discard | CancelGoal | Rehearse
"""A `Rehearse` does it again, with the network or without."""
