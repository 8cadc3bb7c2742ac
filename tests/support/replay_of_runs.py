"""Situations to record that come from running commands: rehearsed, undone, stopped, in the background, or a person's own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from agent.frontends.line import OwnCommand
from agent.frontends.subcommands.rehearse import NeverCommits
from agent.protocol.confirmations import (
    Approved,
    CancelGoal,
    Commit,
    Confirmation,
    ConfirmationRequest,
    Discard,
    EditAgain,
    Rehearse,
    Skipped,
)
from agent.protocol.events.command import CommandOutput, CommandStarted
from agent.protocol.events.goal import PlannerStarted
from agent.protocol.records import Record
from agent.providers.scripted import ScriptedReply
from tests.support.replay_stage import Person, Stage, Typed, as_shown, runs, says


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


async def previews(stage: Stage) -> None:
    (stage.work / "a.txt").write_text("one\n")
    async with stage.session(rehearse="preview") as scene:
        await scene.goal("!mv -v a.txt b.txt", answers=(as_shown,))
        await scene.goal("!mv b.txt c.txt", answers=(Skipped(),))
        await scene.goal(
            "rename it", runs("mv b.txt c.txt"), says("Done."),
            answers=(Typed(("mv b.txt d.txt", "mv -v b.txt e.txt")),),
        )  # fmt: skip
        await scene.goal(
            "!mv e.txt f.txt", answers=(Approved(command="mv e.txt g.txt"), as_shown)
        )  # sent off before its preview came, which is shown first
        await scene.goal("!mv missing.txt h.txt", answers=(as_shown,))
        await scene.goal("!mv g.txt h.txt", answers=(Rehearse(command="mv g.txt h.txt"),), reviews=(Commit(),))

        async def changed_meanwhile(request: ConfirmationRequest) -> Confirmation:
            (stage.work / "h.txt").write_text("changed by somebody else\n")
            return request.as_shown

        await scene.goal("!sed -i s/one/two/ h.txt", answers=(changed_meanwhile, Skipped()))
        await scene.goal("!uname", answers=(as_shown,))


async def rehearsed_first(stage: Stage) -> None:
    async with stage.session(rehearse="auto", approve="medium") as scene:
        await scene.goal("make files", runs("mkdir -p d && touch d/a"), runs("ls d"), says("There."))
        await scene.goal("!rm -r d", reviews=(Commit(),))
    async with stage.session(interactive=False, rehearse="auto", approve="low") as scene:
        await scene.controller.run(OwnCommand("touch e"), rehearse="always")
        await scene.controller.run(OwnCommand("touch f"), rehearse="only")
        await scene.controller.run(OwnCommand("echo x > f"), rehearse="only")
    async with stage.session(interactive=False, approve="ask") as scene:
        (stage.work / "lines.txt").write_text("before\n")
        scene.controller.confirmer = NeverCommits()
        await scene.controller.run(OwnCommand("sed -i s/before/after/ lines.txt"), rehearse="only")
        await scene.controller.run(OwnCommand("rm -rf lines.txt"), rehearse="only", network=True)
    async with stage.session(approve="ask") as scene:
        for reviews, answers in (((EditAgain(),), (Skipped(),)), ((Discard(),), ()), ((Commit(),), ())):
            scene.controller.confirmer = Person(*answers, reviews=reviews)
            await scene.controller.run(OwnCommand("sed -i s/before/after/ lines.txt"), rehearse="always")


async def undone(stage: Stage) -> None:
    (stage.work / "a.txt").write_text("before\n")
    async with stage.session() as scene:
        await scene.goal("!echo after > a.txt")
        store = scene.services.undo()
        entry = store.entries()[0]
        from agent.commands.undo import UndoController

        await UndoController(store, scene.controller.turn_run, tell=lambda text: None).undo(entry.undo_id, sure=True)
        await scene.goal("!cat a.txt")


async def stopped(stage: Stage) -> None:
    async with stage.session() as scene:
        signals = scene.controller.signals

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
        table = scene.controller.ctx.jobs
        for job in table.listing():
            await table.end(job.job_id)
        await scene.controller.record_jobs()
        await scene.goal("!echo after it")
