"""Tell the modes of a reply, measure over the last replies how far they drift from the phase's blend, and say so to the next one."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cache

from msgspec import Struct, convert
from msgspec.structs import replace

from agent.conversation.framework.state.configuration import MODES, EngineConfiguration, Mode, ModeBlend
from agent.conversation.framework.state.ports import Complete, ModeClassifier
from agent.conversation.framework.state.working_memory import ModesState
from agent.conversation.framework.talk.techniques import Wanted, choose
from agent.planner.untrusted import clean, clip, data_block
from agent.struct_types import built
from agent.text.lazy_pattern import lazily

_FILE = os.path.join(os.path.dirname(__file__), "reply_patterns.toml")
_LONGEST = 20_000  # characters of a reply that are looked at
_TELLING = 6  # words from which a statement tells something; below it is courtesy

_CODE = lazily(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_SENTENCE = lazily(r"[^.!?。！？؟\n]+(?:[.](?=\S)[^.!?。！？؟\n]*)*[.!?。！？؟]*")
_WORD = lazily(r"\w+")


class _Patterns(Struct, frozen=True, forbid_unknown_fields=True):
    question: dict[Mode, str]
    statement: dict[Mode, str]
    promise: dict[str, str]


class Sentence(Struct, frozen=True):
    text: str
    asks: bool
    words: int


@cache
def _patterns() -> tuple[dict[Mode, re.Pattern[str]], dict[Mode, re.Pattern[str]], tuple[re.Pattern[str], ...]]:
    import tomllib

    with open(_FILE, "rb") as file:
        found = convert(tomllib.load(file), built(_Patterns))
    question = {mode: re.compile(text, re.I) for mode, text in found.question.items()}
    statement = {mode: re.compile(text, re.I) for mode, text in found.statement.items()}
    return question, statement, tuple(re.compile(text, re.I) for text in found.promise.values())


def sentences(reply: str) -> Iterator[Sentence]:
    """The sentences of a reply, without its code."""
    for match in _SENTENCE.finditer(_CODE.sub(" ", reply[:_LONGEST])):
        text = match[0].strip()
        words = len(_WORD.findall(text))
        if words:
            yield Sentence(text, text.rstrip("\"')*_ ").endswith(("?", "？", "؟")), words)


def mode_of(sentence: Sentence) -> Mode | None:
    """The mode of one sentence; None for courtesy, which has none."""
    question, statement, _ = _patterns()
    signs = question if sentence.asks else statement
    found = next((mode for mode, sign in signs.items() if sign.search(sentence.text)), None)
    if found is not None:
        return found
    if sentence.asks:
        return "extract"
    return "inform" if sentence.words >= _TELLING else None


def promises(sentence: Sentence) -> bool:
    """Tell whether it says that something was or will be run."""
    return not sentence.asks and any(sign.search(sentence.text) for sign in _patterns()[2])


WINDOW = 6  # replies that drift is measured over
_ENOUGH = 3  # replies before anything is said about it
TOLERATED = 0.35
_LEAST = 0.2  # the share of a reply's words from which a mode is one of it
_REPLY_TOKENS = 1_000

MEANING: dict[Mode, str] = {
    "extract": "elicit information from the person",
    "explore": "discover possibilities together",
    "inform": "teach the person something new",
    "validate": "confirm what was understood",
    "refine": "polish what is known",
    "persuade": "guide toward a decision",
    "deliberate": "weigh trade-offs",
}


def mode_classifier(config: EngineConfiguration, complete: Complete | None, wanted: Wanted) -> ModeClassifier:
    """Make what names the modes, as the engine says or the person wants. `complete`: None without a model; then it goes by rules."""
    kind = config.strategies.mode_classifier if wanted == "engine" else wanted
    if kind == "none":
        return NoOpModeClassifier()
    if kind == "model" and complete is not None:
        return LLMDrivenModeClassifier(complete)
    return RuleBasedModeClassifier()


class NoOpModeClassifier:
    """Names no modes: nothing is measured."""

    async def classify(self, response_text: str) -> tuple[Mode, ...]:
        return ()


class RuleBasedModeClassifier:
    """Names the modes of the sentences, the one with most words first."""

    async def classify(self, response_text: str) -> tuple[Mode, ...]:
        weights: dict[Mode, int] = {}
        for sentence in sentences(response_text):
            mode = mode_of(sentence)
            if mode is not None:
                # A question is short, and still what its reply is about.
                weights[mode] = weights.get(mode, 0) + sentence.words * (2 if sentence.asks else 1)
        whole = sum(weights.values())
        return tuple(
            sorted((each for each in weights if weights[each] >= _LEAST * whole), key=lambda each: -weights[each])
        )


class LLMDrivenModeClassifier:
    """A model names the modes; by rules where it fails or names none."""

    def __init__(self, complete: Complete) -> None:
        self._complete = complete

    async def classify(self, response_text: str) -> tuple[Mode, ...]:
        told = "\n".join(f"- {mode}: {meaning}" for mode, meaning in MEANING.items())
        reply = data_block("reply", clip(clean(response_text), _REPLY_TOKENS))
        prompt = f"Name the modes of an interviewer's reply, the main one first.\n{told}\nThe reply:\n{reply}"
        named = await choose(self._complete, prompt, MODES, 3)
        found = tuple(mode for each in named for mode in MODES if mode == each)
        return found or await RuleBasedModeClassifier().classify(response_text)


def observed(state: ModesState, modes: tuple[Mode, ...], blend: ModeBlend, replies: int) -> ModesState:
    """The state after a reply with these modes. `replies`: how many the phase had, with this one; those before do not count for it.

    drift = half the sum of the differences between the share of each mode in the window, where the modes of a reply share it evenly,
    and its share of the blend: 0 for what was planned, 1 for nothing of it.
    """
    if not modes:
        return state
    window = (*state.window, modes)[-WINDOW:]
    counted = window[-max(min(replies, WINDOW), 1) :]
    shares = _shares(counted)
    planned = {mode: share / 100 for mode, share in blend.shares.items()}
    gaps = {mode: planned[mode] - shares[mode] for mode in MODES}
    drift = min(sum(abs(gap) for gap in gaps.values()) / 2, 1.0)
    told = len(counted) >= _ENOUGH and drift > TOLERATED
    return replace(state, window=window, drift=drift, nudge=_nudge(shares, planned, gaps) if told else "")


def _shares(window: tuple[tuple[Mode, ...], ...]) -> dict[Mode, float]:
    shares = dict.fromkeys(MODES, 0.0)
    for modes in window:
        for mode in modes:
            shares[mode] += 1 / len(modes) / len(window)
    return shares


def _nudge(shares: dict[Mode, float], planned: dict[Mode, float], gaps: dict[Mode, float]) -> str:
    over, under = min(MODES, key=lambda mode: gaps[mode]), max(MODES, key=lambda mode: gaps[mode])
    return (
        f"Balance: of the last replies {shares[over]:.0%} was {over}, where {planned[over]:.0%} is wanted. "
        f"Now rather {under}: {MEANING[under]} ({planned[under]:.0%} wanted, {shares[under]:.0%} so far)."
    )
