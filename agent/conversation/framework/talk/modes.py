"""Tell the modes of a reply, measure over the last replies how far they drift from the phase's blend, and say so to the next one."""

from __future__ import annotations

from msgspec.structs import replace

from agent.conversation.framework.state.configuration import MODES, EngineConfiguration, Mode, ModeBlend
from agent.conversation.framework.state.ports import Complete, ModeClassifier
from agent.conversation.framework.state.working_memory import ModesState
from agent.conversation.framework.talk.model_choice import Wanted, choose
from agent.conversation.framework.talk.reply_sentences import mode_of, sentences
from agent.planner.untrusted import clean, clip, data_block

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
