"""Describe for a confirmation how a goal was read, where in a plan a command stands, and what else was perhaps meant. Pure."""

from __future__ import annotations

from msgspec.structs import replace

from agent.frontends.screen import Fragments
from agent.protocol.confinement import Confining
from agent.protocol.confirmations import Alternative, ConfirmationRequest
from agent.protocol.decisions import RiskReport, Verdict
from agent.text.shown import shown_line

MOST_ALTERNATIVES = 9
_SHOWN_UNUSED = 6


def others(request: ConfirmationRequest) -> tuple[Alternative, ...]:
    """Each other command that the goal may mean, once."""
    found: dict[str, Alternative] = {}
    for each in request.proposal.alternatives:
        if each.command.strip() and each.command != request.proposal.command:
            found.setdefault(each.command, each)
    return tuple(found.values())[:MOST_ALTERNATIVES]


def place_line(request: ConfirmationRequest) -> list[Fragments]:
    """`step 2/3: copy all pdf files into out`, where it belongs to a plan."""
    place = request.proposal.place
    if place is None:
        return []
    return [[("class:strong", f"step {place.number}/{place.total}"), ("", f": {shown_line(place.goal)}")]]


def place_mark(request: ConfirmationRequest) -> Fragments:
    """`step 2/3 · `, where it belongs to a plan, whose steps have been shown."""
    place = request.proposal.place
    return [] if place is None else [("class:strong", f"step {place.number}/{place.total}"), ("", " · ")]


def unused_words(request: ConfirmationRequest) -> str:
    """Name the words of the goal that the command does nothing about; "" for none."""
    unused = request.proposal.unused
    if not unused:
        return ""
    more = len(unused) - _SHOWN_UNUSED
    words = ", ".join(shown_line(word, 60) for word in unused[:_SHOWN_UNUSED])
    return f"not used: {words}" + (f" and {more} more" if more > 0 else "")


def reading_lines(request: ConfirmationRequest) -> list[Fragments]:
    """Tell how the goal was read, and which of its words the command does nothing about."""
    lines: list[Fragments] = []
    if request.proposal.reading:
        lines.append([("class:hint", f"read as: {shown_line(request.proposal.reading)}")])
    if request.proposal.unused:
        lines.append([("class:warn", unused_words(request))])
    return lines


def numbered(request: ConfirmationRequest) -> list[Fragments]:
    """The alternatives with their numbers, where no key can show them."""
    lines: list[Fragments] = []
    for number, each in enumerate(others(request), 1):
        reason = f"  {shown_line(each.reason, 120)}" if each.reason else ""
        lines.append([("class:hint", f"or {number}: "), ("", shown_line(each.command)), ("class:hint", reason)])
    return lines


def as_alternative(request: ConfirmationRequest, chosen: Alternative, report: RiskReport) -> ConfirmationRequest:
    """Turn the request into that of an alternative: its own rating, and nothing that was said of the proposal alone."""
    proposal = replace(request.proposal, reason=chosen.reason, reading="", unused=())
    return as_edited(replace(request, proposal=proposal), chosen.command, report)


def as_edited(request: ConfirmationRequest, text: str, report: RiskReport) -> ConfirmationRequest:
    """Turn the request into that of another text: its own rating, and nothing that was said of the first."""
    return replace(
        request,
        report=report,
        verdict=Verdict(action="ask"),
        draft=text,
        note="",
        undo="",
        confining=Confining(),
        previewed=None,
    )


class Cycle:
    """The proposal and its alternatives in a ring; `step` is what comes after the text that stands there."""

    def __init__(self, request: ConfirmationRequest) -> None:
        self._ring = (Alternative(command=request.proposal.command), *others(request))
        self._at = 0

    @property
    def is_empty(self) -> bool:
        return len(self._ring) < 2

    def step(self, text: str) -> str:
        """The next text; an edited one gives way to the one after that which it was made of."""
        self._at = next((place for place, each in enumerate(self._ring) if each.command == text), self._at)
        self._at = (self._at + 1) % len(self._ring)
        return self._ring[self._at].command

    def words(self, text: str) -> str:
        """`2 of 3: reason` for an alternative that stands there unchanged, "" for any other text."""
        for place, each in enumerate(self._ring[1:], 2):
            if each.command == text:
                reason = f": {shown_line(each.reason, 70)}" if each.reason else ""
                return f"{place} of {len(self._ring)}{reason}"
        return ""
