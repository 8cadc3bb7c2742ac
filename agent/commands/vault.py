"""`:vault`, `:authenticate`: keep secrets under names, get a provider's key, and run a command that gets one in its environment."""

from __future__ import annotations

from functools import partial
from typing import Any

from agent.commands.context import CommandContext, CommandServices, DispatchOutcome
from agent.commands.definition import Definition
from agent.protocol.commands import Authenticate, NamedCommand, VaultAdd, VaultDelete, VaultGet, VaultList, VaultUpdate
from agent.protocol.errors import InvalidRequest, InvalidState, PolicyDenied
from agent.protocol.events.session import LibraryChanged
from agent.protocol.messages import UserInput
from agent.protocol.outcomes import FrontendRequest
from agent.protocol.requests import Approval
from agent.waiting import in_thread

VERBS = ("list", "passphrase", "add", "get", "edit", "delete", "run")


async def vault(context: CommandContext, arguments: Any) -> DispatchOutcome:
    """Raises CoreError."""
    match arguments:
        case VaultList():
            return await _listed(context)
        case VaultAdd() | VaultUpdate():
            return await _keep(context, arguments.name, arguments.value, new=isinstance(arguments, VaultAdd))
        case VaultGet():
            return await _shown(context, arguments.name)
        case VaultDelete():
            return await _deleted(context, arguments.name)
        case "passphrase":
            return await _another_passphrase(context)
    return await _run(context, *arguments)


async def _listed(context: CommandContext) -> DispatchOutcome:
    held = context.services.vault()
    names = await in_thread(held.names)
    place = await in_thread(lambda: held.place) if names else ""
    where = "the keyring of the system" if place == "keyring" else held.path
    text = "\n".join((*names, f"({len(names)} in {where})")) if names else "the vault is empty; `:vault add NAME`"
    return DispatchOutcome(text, {"names": list(names), "place": place})


async def _keep(context: CommandContext, name: str, value: str, *, new: bool) -> DispatchOutcome:
    held = context.services.vault()
    await in_thread(partial(held.check, name, new=new))
    await _open(context)
    if not value:
        if context.person.hidden is None:
            raise _nobody("nobody is there to type the value")
        value = await context.person.hidden(f"value of {name}") or ""
        if not value:
            return DispatchOutcome("nothing was kept")
    await context.record(LibraryChanged(kind="secret", name=name, path=held.path))
    await in_thread(partial(held.put, name, value, new=new))
    return DispatchOutcome(f"{name} is in the vault", {"secret": name})


async def _shown(context: CommandContext, name: str) -> DispatchOutcome:
    _check_permitted(context, name)
    reveal = context.person.reveal
    if reveal is None or not context.interactive:
        raise _nobody(f"a secret is shown on a terminal only; `:vault run {name} -- COMMAND` gives it to a command")
    await _open(context)
    await context.record(LibraryChanged(kind="secret", name=name, how="shown"))
    reveal(await in_thread(partial(context.services.vault().get, name)))
    return DispatchOutcome(f"{name} was shown on the terminal", {"secret": name})


def _check_permitted(context: CommandContext, name: str) -> None:
    """Hold it against the policy as the command line that shows it. Raises PolicyDenied."""
    from agent.policy.deciding import decide

    session = context.session
    report = context.services.rate(f"agent-shell vault get {name}", session.cwd, session.session_id)
    verdict = decide(report, Approval(interactive=True), policy=context.app.policy(session.cwd, session.rules))
    if verdict.action == "refuse":
        raise PolicyDenied(verdict.reason or "refused by policy", hint=f"rule {verdict.rule}")


async def _deleted(context: CommandContext, name: str) -> DispatchOutcome:
    held = context.services.vault()
    await in_thread(partial(held.check, name, new=False))
    if context.person.ask is None:
        raise _nobody(f"delete {name}: nobody is there to ask")
    if not await context.person.ask(f"delete {name} from the vault?"):
        return DispatchOutcome("nothing was deleted")
    await _open(context)
    await context.record(LibraryChanged(kind="secret", name=name, how="deleted", path=held.path))
    await in_thread(partial(held.delete, name))
    return DispatchOutcome(f"deleted: {name}", {"secret": name})


async def _run(context: CommandContext, name: str, command: str) -> DispatchOutcome:
    await in_thread(partial(context.services.vault().check, name, new=False))
    await _open(context)
    await in_thread(partial(context.services.vault().get, name))  # known from now on, whatever the command prints
    return DispatchOutcome(inject_input=UserInput(text=command, shell=True, secrets=(name,)), rehearse="off")


async def _another_passphrase(context: CommandContext) -> DispatchOutcome:
    from agent.vault.opening import change_passphrase

    held = context.services.vault()
    begin = partial(context.record, LibraryChanged(kind="vault", name="passphrase", path=held.path))
    await change_passphrase(held, context.person.hidden, context.tell, begin)
    return DispatchOutcome("the vault has another passphrase")


async def _open(context: CommandContext) -> None:
    from agent.vault.opening import open_vault

    await open_vault(context.services.vault(), context.person.hidden, context.tell)


def _nobody(message: str) -> InvalidState:
    return InvalidState(expected="somebody at a terminal", found="nobody", message=message)


def _run_words(rest: str) -> tuple[str, str]:
    name, dashes, command = rest.partition(" -- ")
    if not dashes or not command.strip() or " " in name.strip():
        raise InvalidRequest("write it as `:vault run NAME -- COMMAND`")
    return name.strip(), command.strip()


def _read(rest: str) -> Any:
    """A core command, or the words of `run`. No message repeats the line: a value may stand in it."""
    verb, _, rest = rest.partition(" ")
    name, _, value = rest.strip().partition(" ")
    if verb == "run":
        return _run_words(rest.strip())
    if verb in ("", "list") and not rest:
        return VaultList()
    if verb == "passphrase" and not rest:
        return verb
    if verb not in (*VERBS, "update"):
        raise InvalidRequest("that is no command of the vault", hint=f"it has: {', '.join(VERBS)}")
    if not name:
        raise InvalidRequest("name the secret, as in `:vault add GITHUB_TOKEN`")
    if verb == "add":
        return VaultAdd(name, value.strip())
    if verb in ("edit", "update"):
        return VaultUpdate(name, value.strip())
    if verb in ("get", "delete") and not value:
        return VaultGet(name) if verb == "get" else VaultDelete(name)
    raise InvalidRequest(f"nothing stands behind `:vault {verb if verb in VERBS[:2] else f'{verb} NAME'}`")


async def authenticate(context: CommandContext, arguments: Authenticate) -> DispatchOutcome:
    """At the provider of this session where none is named. Raises NotFound, InvalidRequest, InvalidState."""
    from agent.providers.catalog import load_catalog

    catalog = await in_thread(load_catalog)
    own = context.session.planner.name
    entry = catalog.entry(arguments.provider or (own if own in catalog.entries else ""))
    if not entry.key_url:
        raise InvalidRequest(f"{entry.title} needs no key")
    if context.person.hidden is None:
        raise _nobody("nobody is there to type the key")
    variable, loaded = entry.key_variable, context.services.loaded
    text = f"{entry.title} gives out keys at {entry.key_url}; yours is kept in the vault as {variable}"
    if loaded is not None and loaded.given(variable):
        text += ". The one that the environment or .env holds counts before it"
    verb = "edit" if variable in await in_thread(context.services.vault().names) else "add"
    page = FrontendRequest(action="open", argument=entry.key_url, command=NamedCommand("vault", f"{verb} {variable}"))
    return DispatchOutcome(text, {"provider": entry.name, "secret": variable}, frontend_request=page)


def _names(services: CommandServices) -> tuple[str, ...]:
    return tuple(f"{verb} {name}" for verb in VERBS[3:] for name in services.vault().names())


def _providers(services: CommandServices) -> tuple[str, ...]:
    from agent.providers.catalog import load_catalog

    return tuple(name for name, entry in load_catalog().entries.items() if entry.key_url)


COMMANDS = (
    Definition(
        names=("vault",),
        arguments="[list|passphrase|add|get|edit|delete NAME|run NAME -- COMMAND]",
        help="keep secrets; give one to a command that needs it",
        examples=(":vault add GITHUB_TOKEN", ":vault run GITHUB_TOKEN -- gh release list", ":vault list"),
        read=_read,
        core=(VaultAdd, VaultGet, VaultUpdate, VaultDelete, VaultList),
        handle=vault,
        choices=VERBS,
        complete=_names,
    ),
    Definition(
        names=("authenticate", "login"),
        arguments="[PROVIDER]",
        help="get a key of a provider on its page, and keep it in the vault",
        examples=(":authenticate", ":authenticate anthropic"),
        read=Authenticate,
        core=(Authenticate,),
        handle=authenticate,
        complete=_providers,
    ),
)
