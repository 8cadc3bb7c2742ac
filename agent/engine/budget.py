"""Bound one goal: steps, seconds, tokens."""

from __future__ import annotations

from agent.protocol.errors import BudgetExceeded
from agent.protocol.outcomes import Usage, add_usage
from agent.protocol.ports import Clock
from agent.protocol.requests import Limits


class Budget:
    """Counts what a goal uses. `step()` raises BudgetExceeded when something is used up."""

    def __init__(self, limits: Limits, clock: Clock) -> None:
        self._limits = limits
        self._clock = clock
        self._start = clock.monotonic()
        self.steps = 0
        self.usage = Usage()

    @property
    def elapsed(self) -> float:
        """Seconds since the goal began."""
        return max(0.0, self._clock.monotonic() - self._start)

    def step(self) -> int:
        """Begin another planner call; its number, from 1."""
        if self.steps >= self._limits.max_steps:
            raise BudgetExceeded(f"stopped after {self.steps} steps", hint="ask again to go on, or raise --max-steps")
        self.check()
        self.steps += 1
        return self.steps

    def check(self) -> None:
        """Raise BudgetExceeded when time or tokens are used up."""
        if self._limits.time_budget is not None and self.elapsed >= self._limits.time_budget:
            raise BudgetExceeded(f"stopped after {self.elapsed:.0f} seconds: the time budget is used up")
        used = self.usage.input_tokens + self.usage.output_tokens
        if self._limits.token_budget is not None and used >= self._limits.token_budget:
            raise BudgetExceeded(f"stopped after {used:,} tokens: the token budget is used up")

    def spend(self, usage: Usage) -> None:
        self.usage = add_usage(self.usage, usage)

    @property
    def remaining_time(self) -> float | None:
        """Seconds left, None without a bound."""
        if self._limits.time_budget is None:
            return None
        return max(0.01, self._limits.time_budget - self.elapsed)

    @property
    def command_timeout(self) -> float | None:
        """How long the next command may run: its own time-out or what is left of the goal's, whichever is shorter."""
        bounds = [bound for bound in (self._limits.command_timeout, self.remaining_time) if bound is not None]
        return min(bounds, default=None)
