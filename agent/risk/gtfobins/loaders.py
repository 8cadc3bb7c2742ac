"""Judge ways out that load code or settings, reach other machines, or are an effect by themselves: host rights, tunnels, boot loaders."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from agent.protocol.decisions import Level
from agent.risk.gtfobins.effects import add_effect
from agent.risk.gtfobins.general import library, load, loaded, runs, shell_text
from agent.risk.invocations.environment import is_trusted, judge_environment, others_may_change
from agent.risk.reader.words import Invocation, Word
from agent.risk.tables.options import split_args
from agent.risk.tables.store import Program
from agent.risk.tables.store import program as find_program

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker


def privileged(walker: Walker, invocation: Invocation, word: Word) -> None:
    if word.text.strip() not in ("false", "0"):
        walker.add("container-host", [], invocation.place, rule="container.privileged")


def mounted(walker: Walker, invocation: Invocation, word: Word) -> None:
    from agent.risk.programs.containers import gives_host

    if gives_host(word.text):
        walker.add("container-host", [word], invocation.place, rule="container.mount")


def serve(walker: Walker, invocation: Invocation, word: Word) -> None:
    if any("httpd" in other.text for other in invocation.words):
        walker.add("serve", [], invocation.place)


def boot(walker: Walker, invocation: Invocation, word: Word) -> None:
    if not any(other.text in ("--version", "--help", "-V") for other in invocation.words):
        reason, words = "writes the boot loader", invocation.words[1:]
        walker.add("device-write", words, invocation.place, reason=reason, rule="device-write.boot")


def removes(walker: Walker, invocation: Invocation, word: Word) -> None:
    operands = [other for other in invocation.words[2:] if not other.text.startswith("-")]
    walker.add("delete", operands[1:], invocation.place, recursive=True, invocation=invocation)


def disk(walker: Walker, invocation: Invocation, word: Word) -> None:
    """A disk of a virtual machine, which writes it as it likes: `-drive file=/dev/sda`."""
    found = re.search(r"(?:^|,)(?:file|(?:file\.)?filename)=([^,]*)", word.text)
    spared = any(other.text.lstrip("-") == "snapshot" for other in invocation.words)
    place = word.part(found[1] if found else word.text)
    kept = re.search(r"read-?only(?:=on|,|$)|snapshot=on|media=cdrom", word.text)
    if not (spared or kept) and walker.rater.scopes.of(place, invocation.cwd) == "device":
        walker.add("device-write", [place], invocation.place, reason="lets a virtual machine write {targets}")


def alternative(walker: Walker, invocation: Invocation, word: Word) -> None:
    """`update-alternatives --set NAME PATH`: high for the shell, and for what does not lie with the system's programs."""
    for index, other in enumerate(invocation.words[1:-2], 1):
        if other.text in ("--set", "--install", "--slave"):
            name, path = (
                invocation.words[index + 1 :][-2:] if other.text == "--set" else invocation.words[index + 2 :][:2]
            )
            table = find_program(name.text)
            shell = table is not None and table.handler == "invocations.shells:shell"
            if shell or walker.rater.scopes.of(path, invocation.cwd) not in ("system", "outside"):
                reason = f"has {name.text[:40]} stand for {{targets}}"
                walker.add("link", [path], invocation.place, level=Level.HIGH, reason=reason, rule="link.alternative")


def domain(walker: Walker, invocation: Invocation, word: Word) -> None:
    """`defaults delete -g` takes all settings that applications share; with a key behind it, one of them."""
    if word.text[:1] in ("", "-") and any(other.text in ("delete", "delete-all") for other in invocation.words[1:4]):
        reason = "deletes all settings that applications share"
        walker.add("destroy", [], invocation.place, reason=reason, rule="destroy.settings")


def trusted(walker: Walker, invocation: Invocation, word: Word) -> None:
    """A key that was fetched from somewhere: who has it says from then on what root installs."""
    texts = [other.text for other in invocation.words[1:]]
    fetched = texts[-2:] == ["add", "-"] and "net" in (invocation.stdin or ("", ""))[1].split()
    if fetched or ({"--fetch-keys", "--import"}.intersection(texts) and any("://" in text for text in texts)):
        reason = "trusts a key from the network with what root installs"
        walker.add(
            "configure-system", [], invocation.place, level=Level.HIGH, reason=reason, rule="configure-system.trust"
        )


_DATA = (".yml", ".yaml", ".ini", ".json", ".toml", ".cfg")


def own(walker: Walker, invocation: Invocation, word: Word) -> None:
    """Settings that can name programs to run: fine where they are the system's or the person's own."""
    text = re.sub(r"^(?:sql|dbm|file):", "", word.text)
    word = word.part(f"{walker.rater.scopes.home}{text[1:]}" if text.startswith("~/") else text)
    if word.text.lower() not in ("", "none") and not is_trusted(walker, word.text):
        loaded(walker, invocation, word, "takes settings that can run commands from {targets}")


_SETS = ("set-environment", "setenv", "set-env", "set-environ")


def sets(walker: Walker, invocation: Invocation, word: Word) -> None:
    """Variables for all that is started from here on: `systemctl --user set-environment NAME=VALUE`, `tmux setenv -g NAME VALUE`."""
    words = [other for other in invocation.words[1:] if not other.text.startswith("-")]
    if words and words[0].text not in _SETS and word.text.rpartition("/")[2] != "dbus-update-activation-environment":
        return
    given = [
        (name, other.part(value)) for other in words for name, equals, value in [other.text.partition("=")] if equals
    ]
    given += [(name.text, value) for name, value in pairwise(words[1:]) if name.text.isidentifier()]
    judge_environment(walker, given, invocation.place)


def does(walker: Walker, invocation: Invocation, word: Word) -> None:
    """An option that has no value and makes the program run things by itself."""
    name = invocation.words[0].text.rpartition("/")[2]
    reason = f"lets {name} run what its files or settings say"
    walker.add("run", [], invocation.place, reason=reason, rule="escape.run")


def admits(walker: Walker, invocation: Invocation, word: Word) -> None:
    """A key that lets its owner in: one that others could have put there may be anybody's."""
    if others_may_change(walker, word.text):
        walker.add("account", [word], invocation.place, reason="lets the owner of the key {targets} log in there")


def read(walker: Walker, invocation: Invocation, word: Word) -> None:
    if word.text not in ("", "-"):
        walker.add("read", [word], invocation.place, invocation=invocation)


def pipes(walker: Walker, invocation: Invocation, word: Word) -> None:
    """`sox '|command' …`: a command where a file is expected."""
    for other in invocation.words[1:]:
        if other.text.lstrip().startswith("|"):
            shell_text(walker, invocation, other.part(other.text.lstrip()[1:]))


def paths(walker: Walker, invocation: Invocation, word: Word) -> None:
    """Plug-ins named as operands: by a path they are loaded, by a name they are the system's."""
    for other in invocation.words[1:]:
        if not other.text.startswith("-") and not other.text.endswith(".json"):
            library(walker, invocation, other)


def evaluated(walker: Walker, invocation: Invocation, word: Word) -> None:
    """Files whose macros run commands while they are only read."""
    operands = [other for other in invocation.words[1:] if not other.text.startswith("-")]
    if operands:
        walker.add("run", operands, invocation.place, reason="runs commands that {targets} may hold", rule="escape.run")


def inventory(walker: Walker, invocation: Invocation, word: Word) -> None:
    """Hosts of ansible: a list with a comma, a file of data, or a program that tells them."""
    text = word.text
    if text and "," not in text and not text.endswith(_DATA) and text.rstrip("/").rpartition("/")[2] not in _HOSTS:
        load(walker, invocation, word)


_HOSTS = ("hosts", "inventory", "inventories")


def format_file(walker: Walker, invocation: Invocation, word: Word) -> None:
    """A format of pandoc: its own by a name, somebody's program by a path or as Lua."""
    if "/" in word.text or re.search(r"\.lua\b", word.text) or not word.known:
        load(walker, invocation, word)


def hypervisor(walker: Walker, invocation: Invocation, word: Word) -> None:
    """Addresses of libvirt: `+ext` and `command=` name a program, `+ssh` another machine."""
    if "+ext" in word.text or "command=" in word.text or not word.known:
        runs(walker, invocation, word)
    elif re.match(r"\w+\+(?:lib)?ssh2?:", word.text):
        add_effect(walker, invocation, word, "elsewhere")


def interface(walker: Walker, invocation: Invocation, word: Word) -> None:
    """Ways to steer vlc: others than its windows take commands from a script or from the network."""
    if word.text not in ("dummy", "qt", "ncurses", "macosx", "skins2"):
        add_effect(walker, invocation, word, "listens")


def judge_unlisted(
    walker: Walker, invocation: Invocation, table: Program | None, ways: tuple[tuple[str, str], ...]
) -> None:
    """At least medium for options that are not known to be harmless, of programs with many that run something."""
    known = {option for option, _ in ways}
    for name in split_args(invocation.words[1:], with_values(table or Program(""), ways)).names:
        if name in known or (name[:2] == "--" and any(option.startswith(name) for option in known)):
            continue
        program = invocation.words[0].text.rpartition("/")[2]
        reason = f"may run or write something: {program} has many options that do, and {name[:30]} is not known"
        walker.add("run", [], invocation.place, reason=reason, rule="run.option")


def with_values(table: Program, ways: tuple[tuple[str, str], ...]) -> Program:
    """The table, knowing that the options of `ways` take values."""
    from msgspec.structs import replace

    given = {option for option, kind in ways if kind not in VALUELESS and option[:1] in "-+" and option[1:]}
    return replace(table, value=table.value | given)


VALUELESS = ("does", "listens", "known")
