"""`:set`, `:config`, `:safety`, `:tty`: change what holds for this session, or the file of settings."""

from __future__ import annotations

from agent.commands.context import Change, CommandContext, CommandServices, DispatchOutcome
from agent.commands.definition import Definition, only
from agent.commands.models import set_model, to_planner
from agent.protocol.commands import EditConfig, Set, SetModel
from agent.protocol.confinement import CONFINEMENTS
from agent.protocol.errors import InvalidRequest, InvalidState, NotFound
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
    """Say how to set what `:set` does not set."""
    if key in _OF_THEIR_OWN:
        return f"`:{key} {_OF_THEIR_OWN[key]}` sets it"
    if key.startswith("limit_") or key == "shell":
        return f"it holds from the start: `--{key.replace('_', '-')}` on the command line, or config.toml"
    from agent.config.table import SETTINGS  # only for who asks

    if key in {setting.name for setting in SETTINGS}:
        return "`:config` opens the file in which it can be set"
    return f"these can be set: {', '.join(_SETTABLE)}"


async def edit_config(context: CommandContext, arguments: EditConfig) -> DispatchOutcome:
    return DispatchOutcome(frontend_request=FrontendRequest(action="edit", argument=context.app.config_path))


def _key_and_value(rest: str) -> Set:
    key, _, value = rest.partition(" ")
    if not key or not value.strip():
        raise InvalidRequest(
            f"give a setting and its value, as in `:set approve low`; these can be set: {', '.join(_SETTABLE)}"
        )
    return Set(key, value.strip())


_SAFETY = ("on", "off")


async def safety(context: CommandContext, arguments: str) -> DispatchOutcome:
    if not arguments:
        context.tell("safety is OFF" if context.session.safety_off else "safety is on")
        return DispatchOutcome()
    off = arguments == "off"
    if off and not context.interactive:
        raise InvalidRequest("safety can be switched off only by a person at a terminal")
    return DispatchOutcome(
        "safety is off for this session: high-risk commands need no typed word"
        if off
        else "safety is on: high-risk commands need the typed word",
        changes=(Change("safety", arguments, {"safety_off": off}),),
    )


_MEANS = {
    "on": "every command gets the whole terminal: nothing of its output is filtered, coloured, or kept but its end",
    "off": "no command gets a terminal: they read nothing from it and write into pipes",
    "auto": "commands get the terminal that their programs need",
}


async def choose_tty(context: CommandContext, arguments: str) -> DispatchOutcome:
    """Show (no argument) or change the choice."""
    now = _now(context)
    if not arguments:
        context.tell(f"tty is {now}: {_MEANS[now]}")
        return DispatchOutcome()
    executor = context.session.executor

    def make() -> None:
        executor.choose_tty(arguments)  # type: ignore[union-attr]  # what has a `tty` has this too

    change = Change("tty", arguments, before=now, make=make)
    return DispatchOutcome(f"tty is {arguments}: {_MEANS[arguments]}", changes=(change,))


def _now(context: CommandContext) -> str:
    """Say what holds now, "" where there is no terminal."""
    return getattr(context.session.executor, "tty", None) or ""


def _usable(context: CommandContext, arguments: str) -> None:
    if not _now(context):
        raise InvalidState(expected="a terminal that commands could get", found="none")


def _values(services: CommandServices) -> tuple[str, ...]:
    """`approve low` and such, for completion."""
    known = {**_CHOICES, "theme": _THEMES, "model": services.model_names()}
    return tuple(f"{key} {value}" for key, values in known.items() for value in values)


COMMANDS = (
    Definition(
        names=("set",),
        arguments="KEY VALUE",
        help="change a setting for this session",
        examples=(":set approve low", ":set confine workspace", ":set theme light"),
        read=_key_and_value,
        core=(Set,),
        handle=set_value,
        choices=_SETTABLE,
        complete=_values,
        line=(":set KEY VALUE, :config", "change a setting for this session; edit them all"),
    ),
    Definition(
        names=("config",),
        help="edit your settings file",
        examples=(":config",),
        read=only(make=EditConfig),
        core=(EditConfig,),
        handle=edit_config,
    ),
    Definition(
        names=("safety",),
        arguments="[on|off]",
        help="the typed word for high risk, in this session",
        examples=(":safety", ":safety on"),
        read=only(*_SAFETY, message=":safety takes on or off"),
        handle=safety,
        choices=_SAFETY,
        line=(":safety, :policy, :tty", "the typed word; rules; commands' terminal; :vault"),
    ),
    Definition(
        names=("tty",),
        arguments="[on|off|auto]",
        help="give commands the whole terminal, none, or as fits",
        examples=(":tty", ":tty on"),
        read=only(*_MEANS, message=":tty takes on, off or auto"),
        handle=choose_tty,
        usable=_usable,
        choices=tuple(_MEANS),
    ),
)
