"""Figures of the offline planner: load time, and p50/p95 of plan() over all example goals."""

from __future__ import annotations

import asyncio
import time

from agent.planner.offline.planner import OfflinePlanner
from agent.planner.offline.recipe_files import load_entries
from agent.planner.offline.recipes import load_tables
from agent.protocol.messages import EnvironmentFacts, GoalItem
from agent.protocol.requests import PlannerRequest
from benchmarks.figures import Figure

ROUNDS = 5


async def ignore(text: str) -> None:
    """Chat pieces are not shown."""


def milliseconds(values: list[float], part: float) -> float:
    return round(sorted(values)[min(len(values) - 1, int(len(values) * part))] * 1000, 2)


async def measure() -> dict[str, float | int]:
    load_tables()  # compiles the recipes where they changed since the last start
    cpu, wall = time.process_time(), time.perf_counter()
    planner = OfflinePlanner()
    planner.load()
    load_cpu, load_wall = time.process_time() - cpu, time.perf_counter() - wall
    goals = [example.goal for _, entry in load_entries() for example in entry.examples]
    goals += ["write me a poem about the sea", "find the largest prime number below 1000", "x " * 900]
    times: list[float] = []
    for _ in range(ROUNDS):
        for goal in goals:
            item = GoalItem(goal_id="g", text=goal, environment=EnvironmentFacts(os="Linux", cwd="/tmp"))
            start = time.perf_counter()
            await planner.plan(PlannerRequest(history=(item,)), ignore)
            times.append(time.perf_counter() - start)
    return {
        "goals": len(goals),
        "load_cpu_ms": round(load_cpu * 1000, 1),
        "load_wall_ms": round(load_wall * 1000, 1),
        "plan_p50_ms": milliseconds(times, 0.5),
        "plan_p95_ms": milliseconds(times, 0.95),
        "plan_max_ms": milliseconds(times, 1.0),
    }


def main() -> list[Figure]:
    """Load and answer."""
    found = asyncio.run(measure())
    load, p50, p95 = found["load_cpu_ms"], found["plan_p50_ms"], found["plan_p95_ms"]
    return [
        Figure("offline planner: load", load, 0, "ms", "<= 40 ms", load <= 40),
        Figure("offline planner: a goal, median", p50, 0, "ms", "-", True),
        Figure("offline planner: a goal, p95", p95, 0, "ms", "<= 30 ms", p95 <= 30),
    ]


if __name__ == "__main__":
    for figure in main():
        print(figure)
