"""Approve an action: a command or a change of files with the report for exactly it, and how it came to be approved."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from agent.protocol.actions import FileAction, OpenPullRequest, Seen, TurnRun, content_hash, text_of
from agent.protocol.confinement import Confinement
from agent.protocol.decisions import Level, RiskReport
from agent.protocol.rehearsals import Conflict


class Consent(Struct, frozen=True, kw_only=True):
    """The way in which the final text was approved: by a person at a prompt, by the approve mode, or by a rule of the person's policy."""

    by: Literal["person", "approve-mode", "policy"]
    edited: bool = False
    word_typed: bool = False
    safety_off: bool = False


class PendingApproval(Struct, frozen=True, kw_only=True):
    """A question about `command` that nobody answered before its process ended. `own`: the person had typed the command; `slots`: what
    of it is to be filled in. `private`, `unlisted`: as it was asked for."""

    command: str
    reason: str = ""
    own: bool = False
    slots: tuple[str, ...] = ()
    private: bool = False
    unlisted: bool = False


class ApprovedCommand(Struct, frozen=True, kw_only=True):
    """The only thing an executor takes.

    `workspace`: the folder that confinement leaves writable. `rights`: all that it may do, where nobody looked at it; None: nothing holds
    it. `secrets`: names of the vault whose values it gets as variables. Raises ValueError unless `report` is for exactly `command` and
    `consent` covers its level.
    """

    command_id: str
    command: str
    report: RiskReport
    consent: Consent
    timeout: float | None = None
    confine: Confinement = "off"
    workspace: str = ""
    rights: Rights | None = None
    secrets: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check(self.command, self.report, self.consent)


class RatedAction(Struct, frozen=True, kw_only=True):
    """A change of files with its rating; what is done is exactly what was rated, where things are as they were `seen` then."""

    action: FileAction
    report: RiskReport
    seen: tuple[Seen, ...] = ()


class ApprovedFileAction(Struct, frozen=True, kw_only=True):
    """The only thing that a performer of changes takes. Raises ValueError unless `report` is for that action and `consent` covers it."""

    command_id: str
    rated: RatedAction
    consent: Consent

    def __post_init__(self) -> None:
        _check(text_of(self.rated.action), self.rated.report, self.consent, content=content_hash(self.rated.action))

    @property
    def action(self) -> FileAction:
        return self.rated.action

    @property
    def command(self) -> str:
        return self.rated.report.command

    @property
    def report(self) -> RiskReport:
        return self.rated.report


class ApprovedPullRequest(Struct, frozen=True, kw_only=True):
    """The only thing that opens a pull request. Raises ValueError unless `report` is for that action and `consent` covers it."""

    action: OpenPullRequest
    report: RiskReport
    consent: Consent

    def __post_init__(self) -> None:
        _check(text_of(self.action), self.report, self.consent, content=content_hash(self.action))


class RatedUndo(Struct, frozen=True, kw_only=True):
    """A run to be taken back (or done again) with its rating."""

    action: TurnRun
    report: RiskReport


class ApprovedUndo(Struct, frozen=True, kw_only=True):
    """The only thing that a store of journals takes. Raises ValueError unless `report` is for that action and a person agreed to it.

    `left`: paths that stay as they are. `over`: what was changed since, and goes into the journal because the person says so.
    """

    rated: RatedUndo
    consent: Consent
    left: frozenset[str] = frozenset()
    over: tuple[Conflict, ...] = ()

    def __post_init__(self) -> None:
        if self.consent.by != "person":
            raise ValueError("an undo needs a person")
        _check(text_of(self.rated.action), self.rated.report, self.consent, content=content_hash(self.rated.action))

    @property
    def action(self) -> TurnRun:
        return self.rated.action


ApprovedAction = ApprovedCommand | ApprovedFileAction
"""Actions that get past the gate and can be taken back: nothing else is run, written, renamed or deleted."""


def _check(text: str, report: RiskReport, consent: Consent, *, content: str | UnsetType = UNSET) -> None:
    """Raise ValueError where the report is for another text or `content`, or the consent does not cover its level."""
    if report.command != text:
        raise ValueError("the risk report is for another text")
    if report.content != content:
        raise ValueError("the risk report is for another content")
    if report.level is Level.HIGH:
        if consent.by != "person":
            raise ValueError("a high-risk command needs a person")
        if not (consent.word_typed or consent.safety_off):
            raise ValueError("a high-risk command needs the typed word")


class ApprovedRehearsal(Struct, frozen=True, kw_only=True):
    """A command that may run over an overlay only: nothing it does counts, so no word needs typing. No executor runs it for real.

    `network`: whether it may use the network. `preview`: nobody asked for it, so it gets no terminal, no input, and little room; whatever
    might be otherwise in a real run is an obstacle. Raises ValueError unless `report` is for exactly `command`, and for a preview with
    the network.
    """

    command_id: str
    command: str
    report: RiskReport
    consent: Consent
    timeout: float | None = None
    network: bool = False
    preview: bool = False

    def __post_init__(self) -> None:
        if self.report.command != self.command:
            raise ValueError("the risk report is for another text")
        if self.preview and self.network:
            raise ValueError("a preview never has the network")


class Rights(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """All that it may do beside reading and making temporary files of its own; never signals, limits or traces of other processes.

    `write`: absolute paths, with all below them. `repositories`: folders of whose version control it may write the inside, but no hooks
    and no configuration. `founded`: folders in which it may make a repository, where none is.
    `private`: folders of programs, in which they may make the data that they begin with.
    `network`: it may use it; `interfaces`: it may only ask the kernel about it. `services`: it may speak with programs of this machine
    (Unix sockets), as `docker ps` does.
    """

    write: tuple[str, ...] = ()
    repositories: tuple[str, ...] = ()
    founded: tuple[str, ...] = ()
    private: tuple[str, ...] = ()
    network: bool = False
    interfaces: bool = False
    services: bool = False


CANNOT = "nobody would look at it, and it cannot be held to its rating here: "
"""The beginning of a verdict's reason that asks for what cannot be held; the reason why follows."""
