"""Judge containers and clusters: host rights, and the command inside."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from agent.protocol.decisions import Level
from agent.risk.paths.known_facts import read_at
from agent.risk.reader.words import Invocation, Output, Word
from agent.risk.tables.options import Args
from agent.risk.tables.store import Program

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_HOST_PATHS = re.compile(
    r"^(?:/|/etc|/var/run/docker\.sock|/root|/home|/proc|/sys|/dev|/boot|/usr|/var|/bin|/lib|/run)(?:/|$|:)|docker\.sock"
)


_OF_EXEC = re.compile(r"[^-]|-[itTd]+$|--(?:interactive|tty|detach)$|-[uw]|--(?:user|workdir|index)\b")


_TAKES_NOTHING = re.compile(r"(?:-[itd]+|--(?:rm|interactive|tty|detach|init|read-only|privileged|help))$")


def gives_host(path: str) -> bool:
    """Tell whether a container that gets `path` gets the host."""
    return _HOST_PATHS.match(path) is not None


def _unshared(walker: Walker, invocation: Invocation, table: Program, words: list[Word]) -> Output | Invocation:
    """`podman unshare`: as root of one's own namespace a program, or a shell."""
    if words:
        return invocation.inner(invocation.words[invocation.words.index(words[0]) :], table.name)
    from agent.risk.invocations.shells import feed_shell

    return feed_shell(walker, invocation)


def container(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | Invocation | None:
    """docker/podman run and exec: host mounts and rights, then the command inside."""
    verbs = [word.text for word in args.operands]
    if not verbs:
        return None
    if verbs[0] == "compose":  # a program of its own, with options of its own
        words = invocation.words[invocation.words.index(args.operands[0]) :]
        return invocation.inner([words[0].part("docker-compose"), *words[1:]], table.name)
    if table.name == "docker-compose" and invocation.words[1].text.startswith("-"):
        return _behind_options(walker, invocation, table)
    offset = 1 if verbs[0] == "container" and len(verbs) > 1 else 0
    verb = verbs[offset]
    if verb == "unshare" and not args.has("--help", "-h"):
        return _unshared(walker, invocation, table, args.operands[offset + 1 :])
    if verb not in ("run", "exec", "create"):
        return _several(walker, invocation, args, args.operands[offset:])
    place = invocation.place
    text_words = [word.text for word in invocation.words]
    if "--help" in itertools.takewhile(_TAKES_NOTHING.match, text_words[text_words.index(verb) + 1 :]):
        return None, ""
    wide = (_given(args, "--privileged") or args.has("--cap-add")) or any(
        w.text in ("host",) for w in args.values("--pid", "--ipc", "--userns", "--uts", "--cgroupns")
    )
    for word in args.values("-v", "--volume", "--mount", "--device"):
        source = re.sub(r"^.*(?:source|src)=", "", word.text).split(",")[0] if "=" in word.text else word.text
        wide = wide or bool(_HOST_PATHS.match(source)) or source.split(":")[0] in (walker.state.home, "~")
        places = read_at(word.part(source.partition(":")[0]), invocation.cwd, walker.rater.context.facts)
        wide = wide or any(gives_host(each.text) or each.text == walker.state.home for each in places[1:])
    if wide:
        walker.add("container-host", [], place)
    position = text_words.index(verb)
    words = invocation.words[position + 1 :]
    index = 0
    while index < len(words) and words[index].text.startswith("-"):
        name = words[index].text
        if re.fullmatch(r"-[itdqP]+", name):
            index += 1
            continue
        takes = name in table.value or (
            re.fullmatch(r"-[a-zA-Z]{2,}", name) is not None and "-" + name[-1] in table.value
        )
        index += 2 if takes and "=" not in name else 1
    command = words[index + 1 :]
    plain = all(_OF_EXEC.match(word.text) for word in words[:index]) and position == 1 + offset
    # What runs there counts: the container runs its image's programs anyway.
    level = Level.LOW if plain and verb == "exec" and command else None
    walker.add("container-run", words[index : index + 1], place, level=level, rule=f"container.{verb}")
    if command and not command[0].text.startswith("-"):
        walker.dispatch(invocation.inner(command, table.name, remote=True))
    return None, ""


def _behind_options(walker: Walker, invocation: Invocation, table: Program) -> Output | Invocation:
    """`docker compose` without the options in front of its verb; `--dry-run` among them is for all verbs."""
    if any(word.text == "--dry-run" for word in _options_before(invocation.words[1:], table)):
        walker.reads = True
        return None, ""
    return invocation.inner([invocation.words[0], *_from_verb(invocation.words[1:], table)], table.name)


def _several(walker: Walker, invocation: Invocation, args: Args, words: list[Word]) -> Output | None:
    """Judge lists of all there is, and removing all that another command lists: by force, or where nothing narrowed the list."""
    verb = words[0].text
    if verb in ("ps", "ls", "images") and not args.has("-f", "--filter", "-l", "-n", "--last", "--help"):
        walker.reads = True
        return None, "every"
    given = [word.taint.split() for word in words[1:] if not word.known]
    forced = args.has("-f", "--force", "-fv", "-v") and any("cmd" in taint for taint in given)
    if verb in ("rm", "kill", "rmi", "remove") and (forced or any("every" in taint for taint in given)):
        reason = "removes every container or image that another command lists"
        walker.add("container-destroy", [], invocation.place, reason=reason, rule="container-destroy.bulk")
    return None


def _from_verb(words: list[Word], table: Program) -> list[Word]:
    """Skip the options of the program itself, whose letters mean something else behind its verbs."""
    index = 0
    while index < len(words) and words[index].text.startswith("-"):
        index += 2 if words[index].text in table.value else 1
    return words[index:]


def _options_before(words: list[Word], table: Program) -> list[Word]:
    """The options of the program itself, without their values."""
    before = words[: len(words) - len(_from_verb(words, table))]
    return [word for index, word in enumerate(before) if not index or before[index - 1].text not in table.value]


def _given(args: Args, name: str) -> bool:
    """Tell whether a switch is on: `--privileged=false` is not."""
    return args.has(name) and not any(word.text in ("false", "0") for word in args.values(name))


def kube_exec(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """kubectl exec POD -- command; `--dry-run=none` is not dry."""
    if any(word.text in ("none", "false") for word in args.values("--dry-run")):
        args.names.discard("--dry-run")
    verbs = [word.text for word in args.operands]
    if verbs[:1] == ["delete"] and len(verbs) == 2 and "/" in verbs[1]:  # `pod/x`
        args.operands[1:] = [args.operands[1].part(piece) for piece in verbs[1].split("/", 1)]
    if args.has("--help") and len(verbs) == 1:
        return None, ""
    texts = [word.text for word in invocation.words]
    if verbs[:1] in (["run"], ["debug"]) and reaches_the_node(verbs, args):
        walker.add("container-host", args.operands[1:2], invocation.place, rule="container-host.cluster")
    if verbs[:1] in (["apply"], ["create"], ["replace"]) and not args.has("--dry-run"):
        manifests = [*args.operands[1:], *args.values("--filename", "--kustomize")]  # `-f` is a switch of other verbs
        _judge_manifests(walker, invocation, manifests)
    if "exec" in verbs[:3] or (verbs[:1] == ["run"] and "--" in texts) or verbs[:1] == ["debug"]:
        walker.add("container-run", args.operands[1:2], invocation.place, rule="cluster.exec")
        command = args.operands[2:] if verbs[0] == "exec" else []
        if "--" in texts:
            command = invocation.words[texts.index("--") + 1 :]
        if command:
            walker.dispatch(invocation.inner(command, table.name, remote=True))
        return None, ""
    return None


def _judge_manifests(walker: Walker, invocation: Invocation, manifests: list[Word]) -> None:
    """A cluster runs whatever a manifest says, with the rights it asks for: one from elsewhere is code from elsewhere."""
    piped = "net" in (invocation.stdin or ("", ""))[1].split()
    for word in manifests:
        from_afar = "://" in word.text or "net" in word.taint.split() or (piped and word.text == "-")
        if from_afar or walker.fetched(word.text, invocation.cwd):
            reason = "has the cluster run what {targets} says, which comes from elsewhere"
            walker.add("run-remote", [word], invocation.place, reason=reason, rule="cluster.fetched")


def reaches_the_node(verbs: list[str], args: Args) -> bool:
    """Tell whether a new pod gets the rights of the machine that it runs on, or its files."""
    return (
        _given(args, "--privileged")
        or any(word.text == "sysadmin" for word in args.values("--profile"))
        or (verbs[0] == "debug" and any(verb.startswith(("node/", "nodes/")) for verb in verbs[1:]))
    )


def inside(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """`ddev exec COMMAND`, `lando ssh -c COMMAND`: the command runs in a container."""
    if not args.operands or args.operands[0].text not in ("exec", "run"):
        return None
    texts = [word.text for word in invocation.words]
    command = _from_verb(invocation.words[texts.index(args.operands[0].text) + 1 :], table)
    walker.add("container-run", [], invocation.place, rule="container.exec")
    if command:
        walker.dispatch(invocation.inner(command, table.name, remote=True))
    return None, ""
