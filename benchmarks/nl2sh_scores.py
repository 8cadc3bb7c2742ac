"""Figures of a run: shares by area and difficulty, how far confidence can be believed, and times."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.nl2sh_judge import Judgement
from benchmarks.nl2sh_planners import Answer
from benchmarks.nl2sh_tasks import DIFFICULTIES, Task


@dataclass(frozen=True)
class Result:
    """One task, what was answered, and how it was judged; no judgement where no command came."""

    task: Task
    answer: Answer
    judgement: Judgement | None = None

    @property
    def right(self) -> bool:
        return self.judgement is not None and self.judgement.strict

    @property
    def lenient(self) -> bool:
        return self.judgement is not None and self.judgement.lenient

    @property
    def wrong(self) -> bool:
        """Offered, and not right."""
        return self.judgement is not None and not self.judgement.strict


@dataclass(frozen=True)
class Score:
    """Counts of a group of tasks. `lenient` contains `right`; `refused` (part of `wrong`) was not run."""

    name: str
    tasks: int
    right: int
    lenient: int
    wrong: int
    unanswered: int
    refused: int

    def share(self, count: int) -> float:
        """In percent of all its tasks."""
        return 100 * count / self.tasks if self.tasks else 0.0


@dataclass(frozen=True)
class Bin:
    """Answers of about the same confidence: how many, their mean confidence, and the share of them that was right."""

    low: float
    high: float
    answers: int
    confidence: float
    right: float


@dataclass(frozen=True)
class Calibration:
    """Of offered commands. `brier`: mean square of confidence minus truth; `error`: mean distance of confidence and share right, by
    bins."""

    bins: tuple[Bin, ...]
    brier: float | None
    error: float | None


def score(name: str, results: Iterable[Result]) -> Score:
    """Count one group."""
    every = list(results)
    return Score(
        name=name,
        tasks=len(every),
        right=sum(one.right for one in every),
        lenient=sum(one.lenient for one in every),
        wrong=sum(one.wrong for one in every),
        unanswered=sum(one.judgement is None for one in every),
        refused=sum(one.judgement is not None and bool(one.judgement.why) for one in every),
    )


def groups(results: list[Result], key: Callable[[Result], str], order: Iterable[str] = ()) -> list[Score]:
    """A score for each value of `key`, in the given order, else by name."""
    names = {key(one) for one in results}
    ordered = [name for name in order if name in names] or sorted(names)
    return [score(name, [one for one in results if key(one) == name]) for name in ordered]


def calibration(results: Iterable[Result], steps: int = 10) -> Calibration:
    """Bins of the same width over the confidences that came with commands."""
    pairs = [
        (one.answer.confidence, float(one.right))
        for one in results
        if one.judgement is not None and one.answer.confidence is not None
    ]
    if not pairs:
        return Calibration((), None, None)
    bins = []
    for step in range(steps):
        here = [pair for pair in pairs if min(int(pair[0] * steps), steps - 1) == step]
        if here:
            mean = sum(confidence for confidence, _ in here) / len(here)
            right = sum(truth for _, truth in here) / len(here)
            bins.append(Bin(step / steps, (step + 1) / steps, len(here), round(mean, 3), round(right, 3)))
    brier = sum((confidence - truth) ** 2 for confidence, truth in pairs) / len(pairs)
    error = sum(one.answers * abs(one.confidence - one.right) for one in bins) / len(pairs)
    return Calibration(tuple(bins), round(brier, 4), round(error, 4))


def milliseconds(times: Iterable[float], part: float) -> float:
    """The time (given in seconds) below which `part` of them lie."""
    ordered = sorted(times)
    return round(ordered[min(len(ordered) - 1, int(len(ordered) * part))] * 1000, 2) if ordered else 0.0


@dataclass(frozen=True)
class Summary:
    """Everything that is told about a set of results."""

    total: Score
    areas: list[Score]
    difficulties: list[Score]
    calibration: Calibration
    p50_ms: float
    p95_ms: float
    p95_cpu_ms: float

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def summary(name: str, results: list[Result]) -> Summary:
    """All figures of a set."""
    return Summary(
        total=score(name, results),
        areas=groups(results, lambda one: one.task.area),
        difficulties=groups(results, lambda one: one.task.difficulty, DIFFICULTIES),
        calibration=calibration(results),
        p50_ms=milliseconds((one.answer.seconds for one in results), 0.5),
        p95_ms=milliseconds((one.answer.seconds for one in results), 0.95),
        p95_cpu_ms=milliseconds((one.answer.cpu for one in results), 0.95),
    )
