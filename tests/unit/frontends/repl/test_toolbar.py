"""The line under the goal prompt."""

from __future__ import annotations

from agent.engine.context import RequestContext
from agent.engine.goal_loop import GoalLoop
from agent.frontends.repl.toolbar import TypedBadge, short_path, toolbar_text
from agent.library.agents import read_agent
from agent.protocol.outcomes import Usage
from agent.protocol.replies import usage_text
from agent.protocol.todos import Todo
from tests.support.each import each
from tests.support.fakes import FakeExecutor, FakePlanner, FakeRecorder, FakeRedactor, say


def test_toolbar() -> None:
    ctx = RequestContext(
        recorder=FakeRecorder(),
        planner=FakePlanner(say()),
        redactor=FakeRedactor(),
        strategy=GoalLoop(),
        executor=FakeExecutor(cwd="/home/me/src"),
    )
    assert toolbar_text(ctx, "/home/me") == "fake fake-1 · approve ask · safety on · ~/src"
    ctx.agent = read_agent("data", "be it", "data.md").active({})
    assert toolbar_text(ctx, "/home/me") == "fake fake-1 · agent data · approve ask · safety on · ~/src"
    ctx.todo = (Todo("a", done=True), Todo("b"))
    assert toolbar_text(ctx, "/home/me").startswith("fake fake-1 · agent data (1 open) · ")
    ctx.safety_off, ctx.usage = True, Usage(input_tokens=1200, output_tokens=34, cost=0.0021)
    assert toolbar_text(ctx, "/home/me").endswith("SAFETY OFF · ~/src · 1,234 tokens $0.0021")


@each("length", [100, 2_500, 19_000])
def test_the_badge_speaks_of_every_line_that_is_read(length: int) -> None:
    from agent.frontends.typed.reading import Typed

    assert TypedBadge(lambda text: Typed("command")).words("echo " + "x" * length) == "command · F6: goal"


@each(
    ("path", "home", "shown"),
    [
        ("/home/me", "/home/me", "~"),
        ("/home/me/x", "/home/me", "~/x"),
        ("/home/mean", "/home/me", "/home/mean"),
        ("/a", "/", "/a"),
        ("/a", "", "/a"),
        ("/x\x1b[2J", "", "/x␛[2J"),
        ("/" + "a" * 100, "", "/" + "a" * 11 + "…" + "a" * 27),
    ],
)
def test_paths(path: str, home: str, shown: str) -> None:
    assert short_path(path, home) == shown


def test_usage() -> None:
    assert usage_text(Usage()) == ""
    assert usage_text(Usage(input_tokens=5, estimated=True)) == "~5 tokens"
