"""Handlers of the core commands: each says what is to be changed, and changes nothing."""

from __future__ import annotations

import os
import stat

from agent.commands import table
from agent.commands.context import Change, DispatchOutcome, Services, Session
from agent.protocol import commands as core
from agent.protocol.confinement import CONFINEMENTS
from agent.protocol.errors import InvalidRequest, InvalidState, IoError, NotFound
from agent.protocol.messages import FileInput, UserInput
from agent.protocol.outcomes import FrontendRequest
from agent.protocol.ports import Planner

_MAX_FILE_BYTES = 256 * 1024
_CHOICES = {"approve": ("ask", "low", "medium"), "confine": CONFINEMENTS}
_SETTABLE = ("approve", "confine", "model", "planner")
_OF_THEIR_OWN = {"rehearse": "auto|ask|off", "tty": "on|off|auto"}
"""Settings with a command of their own, and its values."""


def set_model(app: Services, session: Session, command: core.SetModel) -> DispatchOutcome:
    """Another model of the same planner (`name`), or of another one (`planner:name`)."""
    planner_name, separator, model = command.model.partition(":")
    known = separator and planner_name.replace("-", "_").isidentifier()
    try:
        planner = app.make_planner(planner_name, model or None, session.redactor) if known else None
    except NotFound:
        planner = None  # model names may contain colons themselves ("llama3:8b")
    planner = planner or app.make_planner(None, command.model, session.redactor)
    text = f"model: {planner.model or planner.name}"
    return DispatchOutcome(
        "SetModel", text, {"planner": planner.name, "model": planner.model}, changes=_to_planner(planner)
    )


def _to_planner(planner: Planner) -> tuple[Change, ...]:
    return Change("planner", planner.name, {"planner": planner}), Change("model", planner.model, {})


def use_prompt(app: Services, session: Session, command: core.UsePrompt) -> DispatchOutcome:
    return DispatchOutcome("UsePrompt", inject_input=UserInput.from_text(command.text))


def use_role(app: Services, session: Session, command: core.UseRole) -> DispatchOutcome:
    """Take a role; its trailing text flows on as a goal."""
    role = app.load_role(command.name)
    text = f"role: {command.name}"
    if session.planner.name == "offline":
        text += " (the offline planner has no use for it)"
    given = UserInput.from_text(command.trailing_text) if command.trailing_text else None
    return DispatchOutcome(
        "UseRole", text, {"role": command.name}, changes=(_to_role(command.name, role),), inject_input=given
    )


def _to_role(name: str, text: str) -> Change:
    return Change("role", name, {"role_name": name, "role_text": text})


def exit_role(app: Services, session: Session, command: core.ExitRole) -> DispatchOutcome:
    if not session.role_name:
        raise InvalidState(expected="an active role", found="none")
    left = session.role_name
    return DispatchOutcome("ExitRole", f"left the role {left}", {"role": left}, changes=(_to_role("", ""),))


def info(app: Services, session: Session, command: core.Info) -> DispatchOutcome:
    if command.scope is core.InfoScope.SESSION:
        data = _session_data(session)
    elif command.scope is core.InfoScope.ROLE and session.role_name:
        data = {"role": session.role_name, "text": session.role_text}
    elif command.scope is core.InfoScope.SYSTEM:
        data = {row["setting"]: row["value"] for row in app.settings_rows()}
        data |= {"planner": session.planner.name, "model": session.planner.model, "cwd": session.cwd}
        data |= {"approve": session.approve, "confine": session.confine, "safety_off": str(session.safety_off)}
    else:
        raise InvalidState(expected=f"an active {command.scope.value}", found="none")
    width = max(map(len, data))
    text = "\n".join(f"{key.ljust(width)}  {value}" for key, value in data.items())
    return DispatchOutcome("Info", text, dict(data))


def _session_data(session: Session) -> dict[str, str]:
    usage = session.usage
    return {
        "id": session.session_id,
        "log": session.recorder.path or "not kept (--no-persist)",
        "goals": str(len(session.earlier_goals) + len(session.goals)),
        "planner": session.planner.name,
        "model": session.planner.model,
        "approve": session.approve,
        "safety": "OFF" if session.safety_off else "on",
        "confine": session.confine,
        "cwd": session.cwd,
        "tokens": f"{usage.input_tokens + usage.output_tokens:,}",
        "cost": "unknown" if usage.cost is None else f"${usage.cost:.4f}",
    }


def set_value(app: Services, session: Session, command: core.Set) -> DispatchOutcome:
    key, value = command.key, command.value
    changes: tuple[Change, ...] = (Change(key, value, {key: value}),)
    if key in _CHOICES:
        if value not in _CHOICES[key]:
            raise InvalidRequest(f"{key} is one of: {'; '.join(_CHOICES[key])}")
    elif key == "model":
        return set_model(app, session, core.SetModel(value))
    elif key == "planner":
        changes = _to_planner(app.make_planner(value, None, session.redactor))
    else:
        raise NotFound("setting for a session", key, hint=_where_set(key))
    return DispatchOutcome("Set", f"{key} = {value}", {"key": key, "value": value}, changes=changes)


def _where_set(key: str) -> str:
    """How to set what `:set` does not set."""
    if key in _OF_THEIR_OWN:
        return f"`:{key} {_OF_THEIR_OWN[key]}` sets it"
    if key.startswith("limit_") or key == "shell":
        return f"it holds from the start: `--{key.replace('_', '-')}` on the command line, or config.toml"
    return f"these can be set: {', '.join(_SETTABLE)}"


def empty_session(app: Services, session: Session, command: core.EmptySession) -> DispatchOutcome:
    count = len(session.history)
    emptied = Change("history", "", {"history": []}, before=f"{count} items")
    return DispatchOutcome(
        "EmptySession", "the planner starts from nothing; the log stays", {"forgotten": count}, changes=(emptied,)
    )


def include_files(app: Services, session: Session, command: core.IncludeFiles) -> DispatchOutcome:
    """Attach files to the trailing text, or to the next goal."""
    files = tuple(read_file(path, session.cwd) for path in command.paths)
    names = ", ".join(file.path for file in files)
    if command.trailing_text:
        given = UserInput.from_text_and_files(command.trailing_text, files)
        return DispatchOutcome("IncludeFiles", f"with {names}", {"files": list(command.paths)}, inject_input=given)
    pending = [*session.pending_files, *files]
    attached = Change("files", ", ".join(file.path for file in pending), {"pending_files": pending})
    text = f"the next goal comes with {names}"
    return DispatchOutcome("IncludeFiles", text, {"files": list(command.paths)}, changes=(attached,))


def read_file(path: str, cwd: str) -> FileInput:
    """A text file for the planner, capped. Raises NotFound, IoError."""
    full = os.path.join(cwd or os.getcwd(), os.path.expanduser(path))
    try:
        if not stat.S_ISREG(os.stat(full).st_mode):
            raise IoError(f"{path} is not a regular file")
        with open(full, "rb") as file:
            data = file.read(_MAX_FILE_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        raise NotFound("file", path) from None
    except (OSError, ValueError) as error:
        raise IoError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None
    text = data[:_MAX_FILE_BYTES].decode("utf-8", "replace")
    if len(data) > _MAX_FILE_BYTES:
        from agent.redaction.cuts import end_of_kept

        text = text[: end_of_kept(text)]  # half a secret would not be known for one
        text += f"\n[… only the first {_MAX_FILE_BYTES // 1024} KiB are shown …]"
    return FileInput(path=path, content=text)


def edit_config(app: Services, session: Session, command: core.EditConfig) -> DispatchOutcome:
    return DispatchOutcome("EditConfig", frontend_request=FrontendRequest(action="edit", argument=app.config_path))


def copy(app: Services, session: Session, command: core.Copy) -> DispatchOutcome:
    text = session.last_message or session.last_command
    if not text:
        raise InvalidState(expected="a reply or a command in this session", found="none")
    return DispatchOutcome("Copy", "copied", frontend_request=FrontendRequest(action="copy", argument=text))


def help_text(app: Services, session: Session, command: core.Help) -> DispatchOutcome:
    rows = table.help_rows()
    width = max(len(usage) for usage, _ in rows)
    return DispatchOutcome("Help", "\n".join(f"{usage.ljust(width)}  {text}" for usage, text in rows))
