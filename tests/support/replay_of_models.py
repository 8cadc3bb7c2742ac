"""Situations to record that come from the model: what it says, offers, plans and breaks off, and limits to that."""

from __future__ import annotations

from typing import Any

from agent.protocol.confirmations import Approved, Remark, Skipped
from agent.protocol.messages import ContinuationKind
from agent.providers.scripted import ScriptedError, ScriptedReply
from tests.support.replay_stage import Stage, calls, runs, says


async def chat(stage: Stage) -> None:
    async with stage.session() as scene:
        await scene.goal("what does ls do", says("It lists the files of a folder.\n\n- `-l` tells more"))
        await scene.goal("and cat?", "It prints files. This is no JSON at all.", codec="native")
        await scene.goal("hello there, offline")


async def going_round(stage: Stage) -> None:
    async with stage.session() as scene:
        wrong = runs("cat missing.txt")
        await scene.goal("read it", wrong, wrong, wrong, wrong)
        await scene.goal(
            "try others",
            runs("cat missing.txt"),
            runs("cat ./missing.txt"),
            runs("cat -- missing.txt"),
            says("It is not there."),
        )
        same = runs("echo same")
        await scene.goal("again and again", *(same for _ in range(7)), says("never said"))
        await scene.goal(
            "offered often",
            *(runs("ls /tmp/none-here") for _ in range(4)),
            answers=tuple(Remark(text="no") for _ in range(4)),
        )


async def tools(stage: Stage) -> None:
    async with stage.session(tools=True) as scene:
        write = ("write_file", {"path": "notes/a.md", "content": "# a\n"})
        await scene.goal(
            "write a note", calls(("run_command", {"command": "mkdir -p notes"})), calls(write, text="Writing it."),
            calls(("session_complete", {"message": "The note is written."})), codec="native",
        )  # fmt: skip
        await scene.goal("write it not", calls(write), "As you wish.", codec="native", answers=(Skipped(),))
        await scene.goal(
            "a hook",
            calls(("write_file", {"path": ".bashrc", "content": "echo hi\n"})),
            "Not written.",
            codec="native",
            words=("no",),
        )
        await scene.goal("an unknown tool", calls(("fly", {"to": "the moon"})), "I cannot fly.", codec="native")
        await scene.goal(
            "two calls",
            calls(write, ("write_file", {"path": "../out", "content": ""})),
            "One was wrong.",
            codec="native",
        )
        plan = {
            "plan": "look, then tell",
            "tool_calls": [{"tool_name": "run_command", "arguments": {"command": "ls notes"}}],
        }
        await scene.goal("look", plan, {"plan": "There is one note.", "tool_calls": []}, codec="plan-json")
        await scene.goal("what now", calls(("ask_question", {"question_text": "Which note?"})), codec="native")


async def continued(stage: Stage) -> None:
    async with stage.session() as scene:
        await scene.goal("tell me something", says("One thing."))
        await scene.goal(ContinuationKind.REGENERATE, says("Another thing."))
        await scene.goal(ContinuationKind.CONTINUE, says("And more of it."))
    async with stage.session() as scene:
        (stage.work / "AGENTS.md").write_text("Use tabs.\n")
        await scene.goal("after a while", runs("ls"), says("Here again."))


async def planner_errors(stage: Stage) -> None:
    async with stage.session() as scene:
        await scene.goal("down", ScriptedReply(error=ScriptedError(message="overloaded", status=529)))
        await scene.goal("no key", ScriptedReply(error=ScriptedError(message="invalid key", status=401)))
        await scene.goal("broken", "{not json", "still {not json")
        await scene.goal("mended", "{not json", says("Now it is right."))
        await scene.goal("over", runs("ls"))
        await scene.goal("nothing", *({"mode": "command", "command": "   "} for _ in range(2)))


async def offline(stage: Stage) -> None:
    (stage.work / "a.tmp").write_text("x")
    async with stage.session(approve="low") as scene:
        await scene.goal("list files here")
        await scene.goal("delete all *.tmp files here")
        await scene.goal("show disk usage")
        await scene.goal("compose a symphony")


def planned(*steps: tuple[str, str]) -> dict[str, Any]:
    return {"mode": "plan", "message": "", "steps": [{"goal": goal, "command": command} for goal, command in steps]}


async def plans(stage: Stage) -> None:
    (stage.work / "a.pdf").write_text("x")
    three = planned(("make a folder", "mkdir out"), ("copy into it", "cp a.pdf out"), ("list it", "ls out"))
    async with stage.session(approve="low") as scene:
        await scene.goal("make, copy, list", three, says("There it is."))
        await scene.goal(
            "look, then count",
            planned(("look", "ls"), ("count", "")),
            runs("ls | wc -l"),
            says("Counted."),
            says("Two."),
        )
        await scene.goal(
            "repaired",
            planned(("enter", "cat missing"), ("list", "ls")),
            runs("touch missing"),
            says("It is there now."),
            says("Done."),
        )
        await scene.goal(
            "changed", planned(("a", "false"), ("b", "ls")), planned(("c", "true"), ("d", "pwd")), says("Fine.")
        )
        await scene.goal("given up", planned(("a", "false"), ("b", "ls")), says("That cannot be done."))
        await scene.goal(ContinuationKind.PLAN, says("Still not."))
        await scene.goal("looked at", three, dry_run=True)
        await scene.goal("too many", three, max_steps=2)
        await scene.goal("not this one", planned(("a", "pwd"), ("b", "rm a.pdf"), ("c", "ls")), answers=(Skipped(),))
    async with stage.session(approve="low") as scene:
        await scene.goal(ContinuationKind.PLAN, says("Left as it is."), answers=(Approved(command="ls a.pdf"),))
        await scene.goal("go to /tmp, then go home")


async def opinions(stage: Stage) -> None:
    async with stage.session(approve="low") as scene:
        await scene.goal(
            "careful", runs("ls", risk="high", risk_reason="it may list too much"), says("ok"), words=("proceed",)
        )
        await scene.goal("mild", runs("ls", risk="medium", risk_reason="who knows"), says("ok"))
        await scene.goal("harmless", runs("rm -r nothing || true", risk="low"), says("ok"))


async def limits(stage: Stage) -> None:
    async with stage.session(approve="low") as scene:
        await scene.goal("count", *(runs(f"echo {number}") for number in range(5)), max_steps=3)
        spent = [ScriptedReply(json=runs(f"echo {number}"), usage=_usage(400)) for number in range(5)]
        await scene.goal("tokens", *spent, token_budget=1000)
        await scene.goal("time", *(runs(f"echo {number}; sleep 0.6") for number in range(5)), time_budget=1.0)


def _usage(tokens: int) -> Any:
    from agent.protocol.outcomes import Usage

    return Usage(input_tokens=tokens, output_tokens=10, cost=0.001)


async def rated_only(stage: Stage) -> None:
    async with stage.session() as scene:
        await scene.goal("rate it", runs("rm -r build"), dry_run=True)
        await scene.goal("!ls", dry_run=True)
        await scene.goal("only code", runs("ls -la"), code_only=True)
