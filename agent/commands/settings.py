"""`:set` changes a setting for this session, `:config` opens the person's settings file."""

from __future__ import annotations

from agent.commands.context import Change, CommandContext, DispatchOutcome
from agent.commands.definition import Definition, no_argument
from agent.commands.models import set_model, to_planner
from agent.protocol.commands import EditConfig, Set, SetModel
from agent.protocol.confinement import CONFINEMENTS
from agent.protocol.errors import InvalidRequest, NotFound
from agent.protocol.outcomes import FrontendRequest

_CHOICES = {"approve": ("ask", "low", "medium"), "confine": CONFINEMENTS}
_SETTABLE = ("approve", "confine", "model", "planner", "theme")
_THEMES = ("dark", "light")
_OF_THEIR_OWN = {"rehearse": "auto|preview|ask|off", "tty": "on|off|auto"}
"""Settings with a command of their own, and its values."""


async def set_value(context: CommandContext, arguments: Set) -> DispatchOutcome:
    """Raises InvalidRequest for a value that it cannot have, NotFound for what is set elsewhere."""
    key, value = arguments.key, arguments.value
    changes: tuple[Change, ...] = (Change(key, value, {key: value}),)
    if key in _CHOICES:
        if value not in _CHOICES[key]:
            raise InvalidRequest(f"{key} is one of: {'; '.join(_CHOICES[key])}")
    elif key == "model":
        return set_model(context, SetModel(value))
    elif key == "planner":
        changes = to_planner(context.app.make_planner(value, None, context.session.redactor))
    elif key == "theme":
        if value not in _THEMES:
            raise InvalidRequest(
                f"theme is one of: {', '.join(_THEMES)}; config.toml takes a Pygments style for code, too"
            )
        return DispatchOutcome(f"theme = {value}", frontend_request=FrontendRequest(action="theme", argument=value))
    else:
        raise NotFound("setting for a session", key, hint=_where_set(key))
    return DispatchOutcome(f"{key} = {value}", {"key": key, "value": value}, changes=changes)


def _where_set(key: str) -> str:
    """How to set what `:set` does not set."""
    if key in _OF_THEIR_OWN:
        return f"`:{key} {_OF_THEIR_OWN[key]}` sets it"
    if key.startswith("limit_") or key == "shell":
        return f"it holds from the start: `--{key.replace('_', '-')}` on the command line, or config.toml"
    return f"these can be set: {', '.join(_SETTABLE)}"


async def edit_config(context: CommandContext, arguments: EditConfig) -> DispatchOutcome:
    return DispatchOutcome(frontend_request=FrontendRequest(action="edit", argument=context.app.config_path))


def _key_and_value(rest: str) -> Set:
    key, _, value = rest.partition(" ")
    if not key or not value.strip():
        raise InvalidRequest("give a setting and its value, as in `:set approve low`")
    return Set(key, value.strip())


COMMANDS = (
    Definition(
        names=("set",),
        arguments="KEY VALUE",
        help="change a setting for this session",
        examples=(":set approve low", ":set confine workspace", ":set theme light"),
        read=_key_and_value,
        core=(Set,),
        handle=set_value,
        order=230,
        line=(":set KEY VALUE, :config", "change a setting for this session; edit them all"),
    ),
    Definition(
        names=("config",),
        help="edit your settings file",
        examples=(":config",),
        read=no_argument(EditConfig),
        core=(EditConfig,),
        handle=edit_config,
        order=290,
        elsewhere=True,
    ),
)
