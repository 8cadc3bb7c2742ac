"""Define the events of interviews: their steps, what was understood, the state after each turn, and what was handed over."""

from __future__ import annotations

from typing import Any, Literal

from agent.protocol.events.session import RecordedEvent


class InterviewStarted(RecordedEvent, frozen=True, kw_only=True, tag="interview.started"):
    """An engine began a conversation in this session. `state`: its working memory; `handoff`: what another engine handed over to it."""

    engine: str
    version: str = ""
    name: str = ""
    state: dict[str, Any] = {}
    handoff: dict[str, Any] = {}


KEPT_STEP = "persist state"
"""The step that fails with the database of interviews, of which a warning tells once and for all turns."""


class InterviewStepped(RecordedEvent, frozen=True, kw_only=True, tag="interview.stepped"):
    """One of the 19 steps of a turn. `outcome`: done, skipped, failed; `values`: figures and names worth keeping.

    It is recorded by itself where it failed; `interview.turned` has all of them.
    """

    turn: int
    number: int
    step: str
    outcome: Literal["done", "skipped", "failed"] = "done"
    detail: str = ""
    values: dict[str, Any] = {}


class FieldExtracted(RecordedEvent, frozen=True, kw_only=True, tag="interview.extracted"):
    """A value that was understood, with its provenance. `how`: new, update, supersede. What is sensitive in it is redacted.

    `replaced`: the value that it takes the place of, where that was another one.
    """

    turn: int
    engine: str
    path: str
    value: Any = None
    confidence: float = 0.0
    how: Literal["new", "update", "supersede"] = "new"
    reasoning: str = ""
    evidence: str = ""
    replaced: Any = None


class InterviewTurned(RecordedEvent, frozen=True, kw_only=True, tag="interview.turned"):
    """The end of a turn. `label`: the name of its phase; `learnt`: names of the fields that are new or other now.

    `difference`: what the turn changed of the working memory: within objects, and within lists by number; a new value is the only item of
    a list, null is gone. `steps`: what is worth keeping of the 19. Earlier versions wrote `changes`, `extraction` and `sidebar` instead.
    """

    turn: int
    phase: str
    completeness: float
    ready: bool = False
    label: str = ""
    learnt: tuple[str, ...] = ()
    difference: dict[str, Any] = {}
    steps: dict[str, Any] = {}
    changes: dict[str, Any] = {}
    extraction: dict[str, Any] = {}
    sidebar: dict[str, Any] = {}


class SidebarShown(RecordedEvent, frozen=True, kw_only=True, tag="interview.sidebar"):
    """The sidebar after a turn, as any front end can draw it. It follows from the state, and is not recorded."""

    turn: int
    sidebar: dict[str, Any] = {}


class InterviewWentBack(RecordedEvent, frozen=True, kw_only=True, tag="interview.went_back"):
    """The interview goes on from where it was after `turn`; what was said later counts no more. `goal`: the last message that does, "" for
    none; `state`: the working memory then.
    """

    turn: int
    goal: str = ""
    state: dict[str, Any] = {}


class HandedOver(RecordedEvent, frozen=True, kw_only=True, tag="interview.handed_over"):
    """An engine is done and hands what it knows to `target`: another engine, the planner, or the repo agent."""

    source: str
    target: str
    reason: str = ""
    handoff: dict[str, Any] = {}


InterviewEvent = (
    InterviewStarted
    | InterviewStepped
    | FieldExtracted
    | InterviewTurned
    | SidebarShown
    | InterviewWentBack
    | HandedOver
)
