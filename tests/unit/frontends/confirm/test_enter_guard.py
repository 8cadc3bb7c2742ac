"""Which Enter is an answer: none from before the question stood, none of a key that is held, and that of a person who has read."""

from __future__ import annotations

import asyncio

from agent.frontends.confirm.enter_guard import EnterGuard
from tests.support.each import each

DEAD = 0.18


def counted(*presses: float, painted: float = 10.0) -> int:
    """How many presses count as an answer; each at its second, the question painted at its own."""
    answers: list[int] = []
    now = 0.0

    async def person() -> None:
        nonlocal now
        guard = EnterGuard(DEAD, lambda: now)
        timers: list[asyncio.TimerHandle] = []
        loop = asyncio.get_running_loop()
        later = loop.call_later

        def call_later(delay: float, call: object, *arguments: object) -> asyncio.TimerHandle:
            timers.append(later(0, call, *arguments))  # type: ignore[arg-type]
            return timers[-1]

        loop.call_later = call_later  # type: ignore[method-assign,assignment]
        for at in (*presses, float("inf")):
            if at >= painted and not guard.is_painted:
                now = painted
                guard.painted()
            now = at
            if at == float("inf"):
                await asyncio.sleep(0.01)  # nothing comes any more: what waits is due
                break
            guard.pressed(lambda: answers.append(1))

    asyncio.run(person())
    return len(answers)


def test_one_that_came_before_the_question_or_with_it_is_no_answer() -> None:
    assert counted(9.0) == 0
    assert counted(9.99, 10.05, 10.15) == 0


def test_a_key_that_is_held_is_no_answer() -> None:
    assert counted(*(9.0 + 0.033 * n for n in range(100))) == 0
    assert counted(9.9, *(10.4 + 0.033 * n for n in range(100))) == 0
    assert counted(9.9, *(10.4 + 0.09 * n for n in range(40))) == 0


@each("at", [10.2, 10.6, 11.5, 60.0])
def test_one_press_of_a_person_who_has_seen_it_is(at: float) -> None:
    assert counted(9.0, at) == 1


def test_without_a_dead_time_all_count() -> None:
    answers: list[int] = []
    EnterGuard(0).pressed(lambda: answers.append(1))
    assert answers == [1]


def test_text_that_was_begun_too_early_goes_on_until_a_breath() -> None:
    now = 0.0
    guard = EnterGuard(DEAD, lambda: now)
    assert guard.is_early  # nothing stands there yet
    now = 10.0
    guard.painted()
    while now < 11:
        now += 0.17
        assert guard.is_early
        guard.early_key()
    now += 0.6
    assert not guard.is_early
    assert not guard.goes_on


def test_text_after_a_look_is_an_answer() -> None:
    now = 10.0
    guard = EnterGuard(DEAD, lambda: now)
    guard.painted()
    now = 10.3
    assert not guard.is_early


def test_where_the_terminal_tells_when_it_has_shown_the_question_nothing_counts_before() -> None:
    now = 10.0
    guard = EnterGuard(DEAD, lambda: now, ask=lambda: (2, 5.0))
    guard.painted()
    now = 13.0
    guard.answered("1")  # that of an earlier question
    assert guard.is_early
    guard.answered("2")
    now += DEAD / 2
    assert guard.is_early
    now += DEAD
    assert not guard.is_early


def test_an_answer_that_does_not_come_is_not_waited_for() -> None:
    now = 10.0
    guard = EnterGuard(DEAD, lambda: now, ask=lambda: (1, 0.8))
    guard.painted()
    now = 10.7
    assert guard.is_early
    now = 11.0
    assert not guard.is_early
