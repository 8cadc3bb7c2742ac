"""Commands that only a REPL understands: `:help`, `:new`, `:session`, `:branch` and the like, `:model`, `:models`, `:safety`,
`:policy`, `:tty`, `:jobs`, `:kill`, `:rehearse`, `:undo`, `:history`, `:memory`, `:forget`."""

from __future__ import annotations

from agent.commands.context import Change
from agent.commands.table import FrontendCommand, help_rows
from agent.frontends.past_words import known_lines
from agent.frontends.services import Show
from agent.frontends.session_controller import SessionController
from agent.protocol.commands import SetModel
from agent.protocol.errors import InvalidRequest
from agent.protocol.outcomes import GoalSummary
from agent.protocol.replies import usage_text
from agent.text.shown import shown, shown_line

_TYPED = (
    ("GOAL", "what you want, in plain words"),
    ("!COMMAND", "your own command, through the same gate"),
    ("!!COMMAND", "the same, kept from planner and input history"),
    ("exit, quit, Ctrl-D", "leave; Ctrl-C clears a line or ends a command"),
    ("Alt-Enter, Ctrl-Z", "a new line; suspend us, or make what runs a job"),
    ("Tab, Ctrl-R", "complete; search the history"),
    ("F1, F2, F6, F8, F9", "at commands: keys, explain, other, rule, rehearse"),
)
_SAID = frozenset((":help", ":quit"))  # one is being read, the other stands above
# Rows that share a line, so that the whole stays on one screen: by the name that begins it.
_TOGETHER = {
    ":new": (":new, :session, :resume", "start, show a session; go on after crash or stop"),
    ":branch": (":branch, :retry, :undo-turn", "a copy: as it is, last goal again, or without it"),
    ":model": (":model [NAME], :models", "show or change the model; list what is here"),
    ":undo": (":undo, :alternatives", "take back a run; what else the goal may mean"),
    ":jobs": (":jobs [ID], :kill ID", "list background jobs, or show one; end one or all"),
    ":memory": (":memory, :history, :info", "accepted commands; goals so far; settings, state"),
    ":set": (":set KEY VALUE, :config", "change a setting for this session; edit them all"),
    ":role": (":role [NAME], :prompt GOAL", "take a role, or leave it; send any text as a goal"),
    ":empty": (":empty, :forget, :copy", "forget history, or commands; copy the last reply"),
}
_ELSEWHERE = frozenset(
    (
        ":session",
        ":models",
        ":alternatives",
        ":resume",
        ":retry",
        ":undo-turn",
        ":prompt",
        ":kill",
        ":info",
        ":copy",
        ":config",
        ":history",
        ":forget",
    )
)


async def run_frontend_command(controller: SessionController, command: FrontendCommand, show: Show) -> None:
    """Do `command`; `show` prints a text, through a pager where it is long. Raises CoreError."""
    argument = command.argument
    match command.name:
        case "help" | "history" | "alternatives":
            await _told(controller, command, show)
        case "new":
            await _new(controller, argument)
        case "session":
            await _session(controller, argument, show)
        case "branch" | "retry" | "undo-turn" | "resume":
            from agent.frontends.repl.branch_commands import run_branch_command

            await run_branch_command(controller, command)
        case "model" | "models":
            await _model(controller, command, show)
        case "safety":
            await _safety(controller, argument)
        case "policy":
            from agent.frontends.repl.policy_command import run_policy_command

            await run_policy_command(
                controller.rules(), argument, controller.ctx.cwd, show=show, ask=controller.ask, tell=controller.tell
            )
        case "tty":
            from agent.frontends.repl.tty_command import choose_tty

            await choose_tty(controller, argument)
        case "jobs" | "kill":
            await _jobs(controller, command, show)
        case "rehearse" | "undo":
            from agent.frontends.repl.rehearse_commands import run_rehearse_command

            await run_rehearse_command(controller, command, show)
        case "memory" | "forget":
            await _memory(controller, command, show)
        case other:
            raise InvalidRequest(f":{other} cannot be used here")


def help_text() -> str:
    """Everything that can be typed at the goal prompt."""
    named = ((left.split()[0], left, right) for left, right in help_rows())
    shared = _SAID | _ELSEWHERE
    rows = [*_TYPED, *(_TOGETHER.get(name, (left, right)) for name, left, right in named if name not in shared)]
    width = max(len(left) for left, _ in rows)
    return "\n".join(f"{left.ljust(width)}  {right}" for left, right in rows)


async def _told(controller: SessionController, command: FrontendCommand, show: Show) -> None:
    if command.name in ("help", "history"):
        await show(help_text() if command.name == "help" else history_text(controller))
        return
    from agent.frontends.repl.alternatives_command import run_alternatives

    text = await run_alternatives(controller, command.argument)
    if text:
        await show(text)


async def _new(controller: SessionController, argument: str) -> None:
    if argument:
        raise InvalidRequest(
            ":new takes no argument", hint="`:session new NAME` starts one of that name, `:session NAME` goes on in one"
        )
    await controller.switch(None)
    controller.tell(f"new session {controller.ctx.session_id}")


async def _jobs(controller: SessionController, command: FrontendCommand, show: Show) -> None:
    from agent.frontends.repl.job_commands import kill_jobs, show_jobs

    if command.name == "jobs":
        await show_jobs(controller.jobs, command.argument, show)
        return
    await kill_jobs(controller.jobs, command.argument, controller.tell)
    await controller.record_jobs()


async def _session(controller: SessionController, name: str, show: Show) -> None:
    if not name:
        await show(session_text(controller))
        return
    first, *words = name.split()
    if first == "new" and words:
        await _new_named(controller, " ".join(words))
        return
    from agent.frontends.repl.branch_commands import existing_session

    wanted = existing_session(controller, name)
    if wanted == controller.ctx.session_id:
        controller.tell(f"this is session {shown_line(wanted, 80)}")
        return
    await controller.switch(wanted)
    for line in known_lines(controller.ctx):
        controller.tell(line)


async def _new_named(controller: SessionController, name: str) -> None:
    if name == controller.ctx.session_id or controller.services.session_is_there(name):
        shown_name = shown_line(name, 80)
        raise InvalidRequest(f"there is a session {shown_name} already", hint=f":session {shown_name} goes on in it")
    await controller.switch(name)
    controller.tell(f"new session {controller.ctx.session_id}")


def _all_goals(controller: SessionController) -> list[GoalSummary]:
    return [*controller.ctx.earlier_goals, *controller.ctx.goals]


def session_text(controller: SessionController) -> str:
    """Id, path, and the goals so far."""
    ctx = controller.ctx
    lines = [f"session  {ctx.session_id}", f"log      {ctx.recorder.path or 'not kept (--no-persist)'}"]
    spent = usage_text(ctx.usage)
    if spent:
        lines.append(f"spent    {spent}")
    goals = _all_goals(controller)
    lines.append(f"goals    {len(goals)}")
    lines += [f"  {goal.status.value:<17} {shown_line(goal.goal, 100)}" for goal in goals]
    return "\n".join(lines)


def history_text(controller: SessionController) -> str:
    """Goals of this session with their commands and how they ended."""
    goals = _all_goals(controller)
    if not goals:
        return "no goals yet"
    lines = []
    for number, goal in enumerate(goals, 1):
        lines.append(f"{number}. {shown_line(goal.goal, 200)}  [{goal.status.value}]")
        for command in goal.commands:
            ended = command.outcome if command.exit_code is None else f"exit {command.exit_code}"
            mark = ", edited" if command.edited else ""
            text = shown(command.run or command.proposed).replace("\n", "\n       ")
            lines.append(f"     $ {text}  [{command.risk}, {ended}{mark}]")
    return "\n".join(lines)


async def _memory(controller: SessionController, command: FrontendCommand, show: Show) -> None:
    from agent.frontends.repl.memory_command import MemoryController

    services = controller.services
    memory = MemoryController(
        services.memory(),
        controller.ctx.cwd,
        mode=services.settings.memory,
        ask=controller.ask,
        tell=controller.tell,
        record=controller.record,
    )
    if command.name == "memory":
        await memory.show(command.argument, show)
    else:
        await memory.forget(command.argument)


async def _model(controller: SessionController, command: FrontendCommand, show: Show) -> None:
    if command.name == "models":
        from agent.frontends.repl.models_command import run_models_command

        await run_models_command(controller, command.argument, show)
        return
    if command.argument:
        await controller.send(None, SetModel(command.argument))
        return
    planner = controller.ctx.planner
    controller.tell(f"planner {planner.name}, model {planner.model or 'none'}")


async def _safety(controller: SessionController, argument: str) -> None:
    if argument in ("on", "off"):
        if not controller.interactive and argument == "off":
            raise InvalidRequest("safety can be switched off only by a person at a terminal")
        off = argument == "off"
        await controller.change(Change("safety", argument, {"safety_off": off}))
        controller.tell(
            "safety is off for this session: high-risk commands need no typed word"
            if off
            else "safety is on: high-risk commands need the typed word"
        )
    elif argument:
        raise InvalidRequest(":safety takes on or off")
    else:
        controller.tell("safety is OFF" if controller.ctx.safety_off else "safety is on")
