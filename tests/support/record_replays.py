"""Record the kept logs of `tests/replays` anew: `python -m tests.support.record_replays [NAME…]`.

Each log is a session of the real engine, gate, classifier, executor, rehearsals and recorder in a throw-away folder; only the model is a
script, and so are the answers of the person. The tests feed these logs to the engine as it is now (`sessions replay --check`): a log is
recorded anew where a change of behaviour is meant, and its difference in the commit shows what that means.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from msgspec.structs import replace as with_fields

from agent.app import build_services, load
from agent.engine.context import AppState
from agent.frontends.line import OwnCommand, parse_line
from agent.frontends.session_desk import SessionDesk
from agent.frontends.signals import Signals
from agent.planner.facts import SystemFacts
from agent.planner.llm import LLMPlanner
from agent.planner.offline.planner import OfflinePlanner
from agent.protocol.decisions import (
    Approved,
    CancelGoal,
    Commit,
    Confirmation,
    ConfirmationRequest,
    Discard,
    EditAgain,
    Regenerate,
    Rehearse,
    Remark,
    RiskContext,
    Skipped,
)
from agent.protocol.events import CommandOutput, CommandStarted, PlannerStarted, Record
from agent.protocol.messages import ContinuationKind, EnvironmentFacts, ToolCall, UserInput
from agent.protocol.outcomes import RunOutcome
from agent.protocol.requests import Limits, RunOptions
from agent.providers.scripted import Scripted, ScriptedError, ScriptedReply
from agent.tools.write_file import WriteFile
from tests.support.fake_rehearser import FakeReviewer

REPLAYS = Path(__file__).resolve().parents[1] / "replays"
STAGE = Path("/tmp/agent-replays")  # it stands in the logs, so it is the same everywhere
Situation = Callable[["Stage"], Coroutine[Any, Any, None]]


class StageFacts(SystemFacts):
    """The real facts of paths, on a machine that is nobody's: so that logs do not tell where they were recorded."""

    async def environment(self, cwd: str) -> EnvironmentFacts:
        return EnvironmentFacts(
            os="Linux", shell="bash", cwd=cwd, home=str(STAGE / "home"), tools=("git",), date="2030-01-02"
        )

    def risk_context(self, command: str, cwd: str) -> RiskContext:
        return with_fields(super().risk_context(command, cwd), is_root=False)


class Onlooker:
    """An emitter that acts when something happens: `on(record)` is called with each record."""

    def __init__(self) -> None:
        self.on: Callable[[Record], None] = lambda record: None

    async def emit(self, record: Record) -> None:
        self.on(record)

    def output(self, stream: str, data: bytes) -> None:
        pass


class Person(FakeReviewer):
    """Answers in order; an answer that is a function is called, and what it returns is the answer."""

    async def confirm(self, request: ConfirmationRequest) -> Confirmation:
        answer: Any = await super().confirm(request)
        return await answer(request) if callable(answer) else answer

    async def review(self, request: ConfirmationRequest, rehearsal: Any) -> Any:
        answer: Any = await super().review(request, rehearsal)
        return await answer(rehearsal) if callable(answer) else answer


@dataclass
class Scene:
    """One open session, and what can be done in it."""

    desk: SessionDesk
    services: Any
    work: Path

    async def goal(
        self,
        text: str | ContinuationKind,
        *replies: ScriptedReply | str | Any,
        answers: tuple[Any, ...] = (),
        words: tuple[str | None, ...] = (),
        reviews: tuple[Any, ...] = (),
        codec: str = "mode-json",
        on: Callable[[Record], None] | None = None,
        **changes: Any,
    ) -> RunOutcome:
        """A typed line (`!cmd`, `:retry`, or words), with what the model says and what the person answers."""
        if replies:
            redactor = self.services.engine.app.redactor
            script = [
                reply if isinstance(reply, (ScriptedReply, str)) else ScriptedReply(json=reply) for reply in replies
            ]
            self.desk.ctx.planner = LLMPlanner(Scripted(script), "scripted-1", redactor=redactor, codec=codec)
        else:
            self.desk.ctx.planner = OfflinePlanner(tools_present=lambda name: name == "git")
        self.desk.confirmer = Person(*answers, reviews=reviews, words=words)
        self.desk.emitter.on = on or (lambda record: None)  # type: ignore[attr-defined]  # an Onlooker
        own = self.desk._options
        if changes:
            self.desk._options = lambda token: _changed(own(token), changes)  # type: ignore[method-assign]
        try:
            if isinstance(text, ContinuationKind):
                return await self.desk.send(UserInput.from_continuation(text))
            line = parse_line(text)
            return await self.desk.run(line)  # type: ignore[arg-type]  # what a situation types is a goal or a command
        finally:
            self.desk._options = own  # type: ignore[method-assign]


def _changed(options: RunOptions, changes: dict[str, Any]) -> RunOptions:
    approval = {key: value for key, value in changes.items() if hasattr(options.approval, key)}
    limits = {key: value for key, value in changes.items() if key in Limits.__struct_fields__}
    rest = {key: value for key, value in changes.items() if key not in approval and key not in limits}
    return with_fields(
        options,
        approval=with_fields(options.approval, **approval),
        limits=with_fields(options.limits, **limits),
        **rest,
    )


class Stage:
    """Where one log is recorded: a folder to work in, and sessions over it."""

    def __init__(self, name: str) -> None:
        self.name = name
        shutil.rmtree(STAGE, ignore_errors=True)
        self.work = STAGE / "work"
        for folder in (self.work, STAGE / "home", STAGE / "sessions"):
            folder.mkdir(parents=True)
        self.environ = {
            "HOME": str(STAGE / "home"), "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "TERM": "dumb",
            "XDG_STATE_HOME": str(STAGE / "state"), "XDG_CONFIG_HOME": str(STAGE / "config"),
            "DEPLOY_TOKEN": "zq81-Wm44-pPx9-secret-value",
        }  # fmt: skip

    @asynccontextmanager
    async def session(self, *, interactive: bool = True, tools: bool = False, **flags: Any) -> AsyncIterator[Scene]:
        """The log's session, opened or gone on with."""
        own = {
            "session_dir": str(STAGE / "sessions"),
            "session_id": self.name,
            "cwd": str(self.work),
            "planner": "offline",
        }
        services = build_services(load({**own, **flags}))
        app: AppState = services.engine.app
        services.engine.app = replace(
            app, facts=StageFacts(), is_root=False, tools={"write_file": WriteFile(str(self.work))} if tools else {}
        )
        desk = SessionDesk(
            services=services,
            ctx=services.open_context(self.name),
            emitter=Onlooker(),
            confirmer=Person(),
            signals=Signals(),
            tell=lambda text: None,
            interactive=interactive,
        )
        try:
            yield Scene(desk, services, self.work)
        finally:
            await desk.close()
            await services.shutdown()

    def keep(self) -> None:
        """Put the log where the tests find it."""
        (log,) = (STAGE / "sessions").glob("*.jsonl")
        REPLAYS.mkdir(exist_ok=True)
        shutil.copyfile(log, REPLAYS / f"{self.name}.jsonl")
        os.chmod(REPLAYS / f"{self.name}.jsonl", 0o644)


# --- what a model says ---


def says(text: str) -> dict[str, Any]:
    return {"mode": "chat", "message": text}


def runs(command: str, reason: str = "", **more: Any) -> dict[str, Any]:
    return {"mode": "command", "command": command, "reason": reason or "because it was asked for", **more}


def calls(*named: tuple[str, dict[str, Any]], text: str = "") -> ScriptedReply:
    made = tuple(ToolCall(id=f"c{place}", name=name, arguments=given) for place, (name, given) in enumerate(named, 1))
    return ScriptedReply(text=text, tool_calls=made)


# --- the situations, one log each ---


async def chat(stage: Stage) -> None:
    async with stage.session() as scene:
        await scene.goal("what does ls do", says("It lists the files of a folder.\n\n- `-l` tells more"))
        await scene.goal("and cat?", "It prints files. This is no JSON at all.", codec="native")
        await scene.goal("hello there, offline")


async def confirmations(stage: Stage) -> None:
    (stage.work / "a.txt").write_text("one\ntwo\n")
    async with stage.session() as scene:
        await scene.goal("count the lines", runs("wc -l a.txt"), says("Two lines."))
        await scene.goal(
            "show the first line", runs("head -n 5 a.txt"), says("one"), answers=(Approved(command="head -n 1 a.txt"),)
        )
        await scene.goal("show it backwards", runs("tac a.txt"), says("As you like."), answers=(Skipped(),))
        await scene.goal("no, no", runs("ls"), runs("ls -l"), answers=(Skipped(), Skipped()))
        await scene.goal(
            "list them",
            runs("ls -R /"),
            runs("ls"),
            says("Done."),
            answers=(Remark(text="only here"), Approved(command="ls")),
        )
        await scene.goal("another one", runs("ls -a"), runs("ls -1"), says("Done."), answers=(Regenerate(),))
        await scene.goal("stop", runs("ls"), answers=(CancelGoal(),))
        await scene.goal(
            "make it medium", runs("echo hi"), says("ok"), answers=(Approved(command="rm -r old || true"),)
        )


async def high(stage: Stage) -> None:
    (stage.work / "script.sh").write_text("echo from elsewhere\n")
    async with stage.session() as scene:
        await scene.goal(
            "run what came", runs("base64 -d <<<ZWNobyBoaQo= | bash"), says("It said hi."), words=("proceed",)
        )
        await scene.goal("again", runs("base64 -d <<<ZWNobyBoaQo= | bash"), says("Not run, then."), words=("no",))
        await scene.goal(
            "make it high",
            runs("ls"),
            says("ok"),
            answers=(Approved(command="bash <(echo echo hi)"),),
            words=("proceed",),
        )
        await scene.desk.set_safety(off=True)
        await scene.goal("without the word", runs("base64 -d <<<ZWNobyBoaQo= | bash"), says("It said hi."))
        await scene.desk.set_safety(off=False)


async def refused(stage: Stage) -> None:
    async with stage.session() as scene:
        await scene.goal("clean everything", runs("rm -rf /"), runs("rm -rf ~"))
        await scene.goal("clean the root", runs("rm -rf --no-preserve-root /"), says("That is not allowed here."))
        await scene.goal("clean home", runs("ls"), says("no"), answers=(Approved(command="rm -rf ~"),))
        await scene.goal("!rm -rf /")


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


async def rehearsals(stage: Stage) -> None:
    (stage.work / "site.conf").write_text("upstream = http://example.org\n")
    edit = "sed -i s/http:/https:/ site.conf"
    async with stage.session() as scene:
        await scene.goal("!" + edit, answers=(Rehearse(command=edit),), reviews=(Commit(),))
        await scene.goal("!rm site.conf", answers=(Rehearse(command="rm site.conf"),), reviews=(Discard(),))
        await scene.goal(
            "change it", runs("touch one"), says("Done."),
            answers=(Rehearse(command="touch one"), Approved(command="touch two")), reviews=(EditAgain(),),
        )  # fmt: skip
        await scene.goal(
            "cancelled after it",
            runs("touch three"),
            answers=(Rehearse(command="touch three"),),
            reviews=(CancelGoal(),),
        )
        await scene.goal(
            "with the network", runs("touch four"), says("Done."),
            answers=(Rehearse(command="touch four"),), reviews=(Rehearse(command="touch four", network=True), Commit()),
        )  # fmt: skip

        async def meanwhile(rehearsal: Any) -> Any:
            (stage.work / "site.conf").write_text("changed by somebody else\n")
            return Commit()

        await scene.goal("!" + edit, answers=(Rehearse(command=edit), Skipped()), reviews=(meanwhile,))


async def rehearsed_first(stage: Stage) -> None:
    async with stage.session(rehearse="auto", approve="medium") as scene:
        await scene.goal("make files", runs("mkdir -p d && touch d/a"), runs("ls d"), says("There."))
        await scene.goal("!rm -r d", reviews=(Commit(),))
    async with stage.session(interactive=False, rehearse="auto", approve="low") as scene:
        await scene.desk.run(OwnCommand("touch e"), rehearse="always")
        await scene.desk.run(OwnCommand("touch f"), rehearse="only")
        await scene.desk.run(OwnCommand("echo x > f"), rehearse="only")


async def undone(stage: Stage) -> None:
    (stage.work / "a.txt").write_text("before\n")
    async with stage.session() as scene:
        await scene.goal("!echo after > a.txt")
        store = scene.services.undo()
        entry = store.entries()[0]
        from agent.protocol.events import UndoFinished

        done = store.undo(entry.undo_id)
        await scene.desk.record(UndoFinished(undo_id=done.undo_id, restored=done.restored, state=done.state))
        await scene.goal("!cat a.txt")


async def stopped(stage: Stage) -> None:
    async with stage.session() as scene:
        signals = scene.desk.signals

        def stop_on(kind: type, later: bool = False) -> Callable[[Record], None]:
            def act(record: Record) -> None:
                if isinstance(record.event, kind):
                    asyncio.get_running_loop().call_later(0.2 if later else 0, signals._interrupt)

            return act

        await scene.goal("!echo begun; sleep 30", on=stop_on(CommandOutput))
        await scene.goal("sleep", runs("sleep 30"), on=stop_on(CommandStarted, later=True))
        await scene.goal("think", ScriptedReply(json=says("late"), delay=30), on=stop_on(PlannerStarted, later=True))

        async def ctrl_c(request: ConfirmationRequest) -> Confirmation:
            signals._interrupt()
            await asyncio.sleep(30)
            return Skipped()

        await scene.goal("ask", runs("ls"), answers=(ctrl_c,))

        async def at_review(rehearsal: Any) -> Any:
            signals._interrupt()
            await asyncio.sleep(30)
            return Discard()

        await scene.goal("!touch x", answers=(Rehearse(command="touch x"),), reviews=(at_review,))
        slow = "echo begun; sleep 30"
        await scene.goal(f"!{slow}", answers=(Rehearse(command=slow),), on=stop_on(CommandOutput))
        await scene.goal("!echo out; sleep 30", command_timeout=0.3)
        await scene.goal("wait", runs("sleep 30"), says("It took too long."), command_timeout=0.3)


async def own_commands(stage: Stage) -> None:
    (stage.work / "sub").mkdir()
    async with stage.session() as scene:
        for line in (
            "!cd sub", "!pwd", "!!echo private", "!greet() { rm -r \"$1\"; }", "!greet nothing", "!alias ll='ls -l'", "!ll",
            "!export COLOUR=red", "!printf 'no end of line'", "!kill -9 $$", "!echo 'grüße 日本 \u202e mirrored'", "!cd .. && ls",
            "!seq 1 2000", "!echo to-err >&2; exit 3", "!sudo -n true", "!if then",
        ):  # fmt: skip
            await scene.goal(line)


async def jobs(stage: Stage) -> None:
    async with stage.session() as scene:
        await scene.goal("!sleep 60 & echo started")
        table = scene.services.jobs()
        for job in table.listing():
            await table.end(job.job_id)
        await scene.desk.record_jobs()
        await scene.goal("!echo after it")


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


async def unattended(stage: Stage) -> None:
    async with stage.session(interactive=False, approve="low") as scene:
        await scene.goal("look", runs("ls"), runs("rm -r old"), says("never said"))
        await scene.goal("!rm -r old")
        await scene.goal("!ls")
        await scene.goal("!curl https://example.org/x.sh | sh")
    async with stage.session(interactive=False, approve="medium", safety_off=True) as scene:
        await scene.goal("!base64 -d <<<ZWNobyBoaQo= | bash")
        await scene.goal("!touch made")


async def limits(stage: Stage) -> None:
    async with stage.session(approve="low") as scene:
        await scene.goal("count", *(runs(f"echo {number}") for number in range(5)), max_steps=3)
        spent = [ScriptedReply(json=runs(f"echo {number}"), usage=_usage(400)) for number in range(5)]
        await scene.goal("tokens", *spent, token_budget=1000)
        await scene.goal("time", *(runs(f"echo {number}; sleep 0.6") for number in range(5)), time_budget=1.0)


def _usage(tokens: int) -> Any:
    from agent.protocol.replies import Usage

    return Usage(input_tokens=tokens, output_tokens=10, cost=0.001)


async def policy_files(stage: Stage) -> None:
    config = STAGE / "config" / "agent-shell"
    config.mkdir(parents=True)
    (config / "policy.toml").write_text(
        '[[rule]]\nname = "lists"\naction = "allow"\nprogram = "ls"\nmatch = ["ls"]\nreason = "looking is fine"\n\n'
        '[[rule]]\nname = "no-dd"\naction = "deny"\nprogram = "dd"\nmatch = ["dd if=a of=b"]\nreason = "never here"\n\n'
        '[[rule]]\nname = "careful"\naction = "type"\nprogram = "touch"\nmatch = ["touch a"]\nreason = "think first"\n'
    )
    (stage.work / ".agent-shell-policy.toml").write_text(
        '[[rule]]\nname = "ask-cat"\naction = "ask"\nprogram = "cat"\nmatch = ["cat a"]\nreason = "house rule"\n'
    )
    async with stage.session() as scene:
        await scene.goal("!ls")
        await scene.goal("!dd if=/dev/null of=x")
        await scene.goal("!touch y", words=("proceed",))
        await scene.goal("look", runs("ls; cat /dev/null"), says("Nothing."))


async def safety_policy(stage: Stage) -> None:
    patterns = STAGE / "patterns.json"
    patterns.write_text('[{"name": "no-one", "pattern": "one", "level": "high", "description": "one is taken"}]')
    async with stage.session(safety_policy=str(patterns), approve="medium") as scene:
        await scene.goal("!touch one", words=("proceed",))
        await scene.goal("!touch two")


async def secrets(stage: Stage) -> None:
    token = "ghp_9fKq2LmX7RtVbW4sZcY8nH1jPdQ0aEuG3oTi"
    (stage.work / "key.txt").write_text(f"the key is {token}\n")
    async with stage.session() as scene:
        await scene.goal("!cat key.txt")
        await scene.goal(f"!curl -H 'Authorization: Bearer {token}' https://example.org", answers=(Skipped(),))
        await scene.goal("use it", runs(f"echo {token} | wc -c"), says(f"It begins with {token}."))
        await scene.goal("!echo $DEPLOY_TOKEN")
        await scene.goal(f"!export API_TOKEN={token}")
        await scene.goal("!ls")


async def opinions(stage: Stage) -> None:
    async with stage.session(approve="low") as scene:
        await scene.goal(
            "careful", runs("ls", risk="high", risk_reason="it may list too much"), says("ok"), words=("proceed",)
        )
        await scene.goal("mild", runs("ls", risk="medium", risk_reason="who knows"), says("ok"))
        await scene.goal("harmless", runs("rm -r nothing || true", risk="low"), says("ok"))


async def rated_only(stage: Stage) -> None:
    async with stage.session() as scene:
        await scene.goal("rate it", runs("rm -r build"), dry_run=True)
        await scene.goal("!ls", dry_run=True)
        await scene.goal("only code", runs("ls -la"), code_only=True)


async def confined(stage: Stage) -> None:
    async with stage.session(confine="workspace") as scene:
        await scene.goal("!touch inside")
        await scene.goal("!touch /tmp/agent-replays/outside")
        await scene.goal(
            "!ls", answers=(Rehearse(command="touch /tmp/agent-replays/other"), Skipped()), reviews=(Commit(),)
        )
    async with stage.session(confine="read-only", approve="medium", tools=True) as scene:
        await scene.goal(
            "write", calls(("write_file", {"path": "a.md", "content": "a"})), "Not written.", codec="native"
        )


SITUATIONS: dict[str, Situation] = {
    "chat": chat, "confirmations": confirmations, "high": high, "refused": refused, "going-round": going_round, "tools": tools,
    "rehearsals": rehearsals, "rehearsed-first": rehearsed_first, "undone": undone, "stopped": stopped,
    "own-commands": own_commands, "jobs": jobs, "continued": continued, "planner-errors": planner_errors, "offline": offline,
    "plans": plans,
    "unattended": unattended, "limits": limits, "policy-files": policy_files, "safety-policy": safety_policy,
    "secrets": secrets, "opinions": opinions,
    "rated-only": rated_only, "confined": confined,
}  # fmt: skip


def record(name: str) -> None:
    """Play one situation and keep its log."""
    stage = Stage(name)
    old, folder = dict(os.environ), os.getcwd()
    os.environ.clear()
    os.environ.update(stage.environ)
    os.chdir(stage.work)
    try:
        asyncio.run(SITUATIONS[name](stage))
        stage.keep()
    finally:
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(old)
        shutil.rmtree(STAGE, ignore_errors=True)


def main(names: list[str]) -> None:
    for name in names or sorted(SITUATIONS):
        record(name)
        print(f"{name}: {(REPLAYS / f'{name}.jsonl').stat().st_size:,} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
