"""Proposals, what is asked about them, and the answers, as values; what was approved is in `approvals`."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from agent.protocol.confinement import Confining
from agent.protocol.decisions import Opinion, RiskReport, Verdict
from agent.protocol.rehearsals import Preview


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
    `unrated`: it was edited faster than it is rated, so that its level did not stand on the screen.
    """

    command: str
    seen: str = ""
    unrated: bool = False


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
