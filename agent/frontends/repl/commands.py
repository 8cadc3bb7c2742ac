"""Commands that only a REPL understands: `:help`, `:new`, `:session`, `:branch` and the like, `:model`, `:models`, `:safety`,
`:policy`, `:tty`, `:jobs`, `:kill`, `:rehearse`, `:undo`, `:history`, `:memory`, `:forget`."""

from __future__ import annotations

from agent.commands.table import FrontendCommand, help_rows
from agent.frontends.past_words import known_text
from agent.frontends.repl.toolbar import usage_text
from agent.frontends.session_controller import SessionDesk
from agent.frontends.shown import Show, shown, shown_line
from agent.protocol.commands import SetModel
from agent.protocol.errors import InvalidRequest
from agent.protocol.outcomes import GoalSummary

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


async def run_frontend_command(desk: SessionDesk, command: FrontendCommand, show: Show) -> None:
    """Do `command`; `show` prints a text, through a pager where it is long. Raises CoreError."""
    argument = command.argument
    match command.name:
        case "help" | "history" | "alternatives":
            await _told(desk, command, show)
        case "new":
            await _new(desk, argument)
        case "session":
            await _session(desk, argument, show)
        case "branch" | "retry" | "undo-turn" | "resume":
            from agent.frontends.repl.branch_commands import run_branch_command

            await run_branch_command(desk, command)
        case "model" | "models":
            await _model(desk, command, show)
        case "safety":
            await _safety(desk, argument)
        case "policy":
            from agent.frontends.repl.policy_command import run_policy_command

            rules = desk.services.rules
            await run_policy_command(rules, argument, desk.ctx.cwd, show=show, ask=desk.ask, tell=desk.tell)
        case "tty":
            from agent.frontends.repl.tty_command import choose_tty

            desk.tell(choose_tty(desk.ctx.executor, argument))
        case "jobs" | "kill":
            await _jobs(desk, command, show)
        case "rehearse" | "undo":
            from agent.frontends.repl.rehearse_commands import run_rehearse_command

            await run_rehearse_command(desk, command, show)
        case "memory" | "forget":
            await _memory(desk, command, show)
        case other:
            raise InvalidRequest(f":{other} cannot be used here")


def help_text() -> str:
    """Everything that can be typed at the goal prompt."""
    named = ((left.split()[0], left, right) for left, right in help_rows())
    shared = _SAID | _ELSEWHERE
    rows = [*_TYPED, *(_TOGETHER.get(name, (left, right)) for name, left, right in named if name not in shared)]
    width = max(len(left) for left, _ in rows)
    return "\n".join(f"{left.ljust(width)}  {right}" for left, right in rows)


async def _told(desk: SessionDesk, command: FrontendCommand, show: Show) -> None:
    if command.name in ("help", "history"):
        await show(help_text() if command.name == "help" else history_text(desk))
        return
    from agent.frontends.repl.alternatives_command import run_alternatives

    text = await run_alternatives(desk, command.argument)
    if text:
        await show(text)


async def _new(desk: SessionDesk, argument: str) -> None:
    if argument:
        raise InvalidRequest(
            ":new takes no argument", hint="`:session new NAME` starts one of that name, `:session NAME` goes on in one"
        )
    await desk.switch(None)
    desk.tell(f"new session {desk.ctx.session_id}")


async def _jobs(desk: SessionDesk, command: FrontendCommand, show: Show) -> None:
    from agent.frontends.repl.job_commands import kill_jobs, show_jobs

    if command.name == "jobs":
        await show_jobs(desk.jobs, command.argument, show)
        return
    await kill_jobs(desk.jobs, command.argument, desk.tell)
    await desk.record_jobs()


async def _session(desk: SessionDesk, name: str, show: Show) -> None:
    if not name:
        await show(session_text(desk))
        return
    first, *words = name.split()
    if first == "new" and words:
        await _new_named(desk, " ".join(words))
        return
    from agent.frontends.repl.branch_commands import existing_session

    wanted = existing_session(desk, name)
    if wanted == desk.ctx.session_id:
        desk.tell(f"this is session {shown_line(wanted, 80)}")
        return
    await desk.switch(wanted)
    desk.tell(f"session {desk.ctx.session_id}: {known_text(desk.ctx)}")
    for note in desk.ctx.notes:
        desk.tell(note)


async def _new_named(desk: SessionDesk, name: str) -> None:
    if name == desk.ctx.session_id or desk.services.session_is_there(name):
        shown_name = shown_line(name, 80)
        raise InvalidRequest(f"there is a session {shown_name} already", hint=f":session {shown_name} goes on in it")
    await desk.switch(name)
    desk.tell(f"new session {desk.ctx.session_id}")


def _all_goals(desk: SessionDesk) -> list[GoalSummary]:
    return [*desk.ctx.earlier_goals, *desk.ctx.goals]


def session_text(desk: SessionDesk) -> str:
    """Id, path, and the goals so far."""
    ctx = desk.ctx
    lines = [f"session  {ctx.session_id}", f"log      {ctx.recorder.path or 'not kept (--no-persist)'}"]
    spent = usage_text(ctx.usage)
    if spent:
        lines.append(f"spent    {spent}")
    goals = _all_goals(desk)
    lines.append(f"goals    {len(goals)}")
    lines += [f"  {goal.status.value:<17} {shown_line(goal.goal, 100)}" for goal in goals]
    return "\n".join(lines)


def history_text(desk: SessionDesk) -> str:
    """Goals of this session with their commands and how they ended."""
    goals = _all_goals(desk)
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


async def _memory(desk: SessionDesk, command: FrontendCommand, show: Show) -> None:
    from agent.frontends.repl.memory_command import MemoryDesk

    services = desk.services
    memory = MemoryDesk(
        services.memory(),
        desk.ctx.cwd,
        mode=services.settings.memory,
        ask=desk.ask,
        tell=desk.tell,
        record=desk.ctx.recorder.append,
    )
    if command.name == "memory":
        await memory.show(command.argument, show)
    else:
        await memory.forget(command.argument)


async def _model(desk: SessionDesk, command: FrontendCommand, show: Show) -> None:
    if command.name == "models":
        from agent.frontends.repl.models_command import run_models_command

        await run_models_command(desk, command.argument, show)
        return
    if command.argument:
        await desk.send(None, SetModel(command.argument))
        return
    planner = desk.ctx.planner
    desk.tell(f"planner {planner.name}, model {planner.model or 'none'}")


async def _safety(desk: SessionDesk, argument: str) -> None:
    if argument in ("on", "off"):
        if not desk.interactive and argument == "off":
            raise InvalidRequest("safety can be switched off only by a person at a terminal")
        await desk.set_safety(off=argument == "off")
    elif argument:
        raise InvalidRequest(":safety takes on or off")
    else:
        desk.tell("safety is OFF" if desk.ctx.safety_off else "safety is on")
