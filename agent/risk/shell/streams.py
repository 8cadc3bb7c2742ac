"""Track what flows between programs: redirections, the output of one as the input of the next, and files that the command itself writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.protocol.decisions import Level
from agent.risk.invocations.endless import ENDLESS, judge_endless
from agent.risk.invocations.leaks import judge_left
from agent.risk.invocations.open_places import is_open
from agent.risk.invocations.start_files import judge_started
from agent.risk.invocations.written_code import judge_later
from agent.risk.paths.absolute import absolute
from agent.risk.paths.known_facts import read_at
from agent.risk.paths.secret_paths import is_secret, names_secret
from agent.risk.reader.cursor import STEP
from agent.risk.reader.tree import Redirect, Sequence
from agent.risk.reader.words import NUMBER, UNKNOWN, Invocation, Output, Target, Word, join_taint
from agent.risk.shell.state import Value

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_MAX_FILES = 200
_FIRST_DESCRIPTOR = 63
_STANDARD_INPUT = frozenset(("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"))


class Files:
    """Contents by absolute path, as far as they are known."""

    def __init__(self) -> None:
        self._contents: dict[str, Output] = {}
        self._substitutions = 0
        self.option_names: set[str] = set()
        """Absolute paths that the command makes whose names begin with a dash, or a plus: a wildcard gives them to a program as options."""

    def made(self, words: list[Word], cwd: str) -> None:
        """Remember those of new names that begin with a dash or a plus."""
        for word in words:
            path = word.text.rstrip("/")
            if path.rpartition("/")[2].startswith(("-", "+")) and word.known and len(self.option_names) < _MAX_FILES:
                self.option_names.add(absolute(path, cwd))

    def substitution(self, output: Output) -> str:
        """The name of a process substitution that gives `output`."""
        number = _FIRST_DESCRIPTOR - self._substitutions  # downwards, as bash counts them
        name = f"/dev/fd/{number if number > 2 else 2 * _FIRST_DESCRIPTOR - number}"
        self._substitutions += 1
        self.write(name, "/", output)
        return name

    def write(self, path: str, cwd: str, output: Output, *, append: bool = False) -> None:
        """Note what was written to `path`; text that is not known makes the file unknown again."""
        if UNKNOWN in path or not path:
            return
        path = absolute(path, cwd)
        text, taint = output
        if append and path in self._contents:
            before, earlier = self._contents[path]
            text = None if before is None or text is None else before + text
            taint = join_taint(earlier, taint)
        if path in self._contents or len(self._contents) < _MAX_FILES:
            self._contents[path] = text, taint

    def written(self) -> dict[str, Output]:
        """Everything that the command has written to files."""
        return self._contents

    def read(self, word: Word, cwd: str) -> Output | None:
        """The text in the file named `word`, where that is known."""
        if not self._contents or UNKNOWN in word.text or word.text in _STANDARD_INPUT:
            return None
        found = self._contents.get(absolute(word.text, cwd))
        if found is None or found[0] or "opaque" in found[1] or "socket" in found[1]:
            return found
        return None


_WRITES = {">": "write", ">|": "write", "&>": "write", ">>": "append", "&>>": "append", "<>": "modify"}


def judge_redirect(walker: Walker, target: Target, place: tuple[int, int], *, of_group: bool) -> None:
    """A redirection to or from a file or the network. `of_group`: no program stands around it that would say in which folder."""
    word, operator = target.word, target.operator
    if operator in (">&", "<&"):
        text = word.text.rstrip("-")
        if text == "" or text.isdigit() or word.text == "-":
            return
        if operator == "<&":
            return
        operator = ">"
    if word.text.startswith(("/dev/tcp/", "/dev/udp/")):
        walker.add("send", [word], place, rule="network.device")
        return
    if operator == "<":
        if any(is_secret(absolute(each.text, walker.state.cwd)) for each in _read_at(walker, word)):
            walker.add("secret", [word], place)
        return
    kind = _WRITES.get(operator)
    if kind is not None and "proc" not in word.taint:
        folder = walker.state.cwd
        elsewhere = of_group and folder != walker.rater.context.cwd and UNKNOWN not in folder + word.text
        walker.add(kind, [word.part(absolute(word.text, folder)) if elsewhere else word], place)


def file_input(walker: Walker, word: Word) -> Output:
    """The text that comes out of a file, or of a process substitution."""
    written = walker.files.read(word, walker.state.cwd)
    if written is not None:
        return written[0], join_taint(written[1], word.taint)
    if "proc" in word.taint or "net" in word.taint:
        return None, word.taint
    if word.taint == NUMBER:
        return None, NUMBER
    if word.text.startswith(("/dev/tcp/", "/dev/udp/")):
        return None, "net socket"
    if word.text == "/dev/null":
        return "", ""
    if word.text in ENDLESS:
        return None, "file endless"
    secret = any(names_secret(each, walker.state.cwd) for each in _read_at(walker, word))
    taint = "file secret" if secret else "file"
    return None, f"{taint} open" if is_open(walker, word.text) else taint


def _read_at(walker: Walker, word: Word) -> list[Word]:
    return read_at(word, walker.state.cwd, walker.rater.context.facts)


def takes_output(target: Target) -> bool:
    """Tell whether standard output goes there, which is a file."""
    if target.operator == ">&":
        return not target.fd and target.word.text != "-" and not target.word.text.rstrip("-").isdigit()
    return target.operator in (">", ">>", ">|", "&>", "&>>") and target.fd in ("", "1")


def keep_written(walker: Walker, targets: list[Target], output: Output) -> None:
    """Remember what files hold from here on."""
    for target in targets:
        if takes_output(target):
            walker.files.write(target.word.text, walker.state.cwd, output, append=target.operator in (">>", "&>>"))
            if "net" in output[1]:
                walker.downloads.add(absolute(target.word.text, walker.state.cwd))


def judge_stored(walker: Walker, invocation: Invocation, targets: list[Target], output: Output) -> None:
    """Output that goes to a file: secrets must not be stored, remote code must not be made to start by itself."""
    text, taint = output
    keep_written(walker, targets, output)
    judge_endless(walker, invocation, [target.word for target in targets if takes_output(target)], taint)
    if not taint and not text:
        return
    for target in targets:
        scope = walker.rater.scopes.of(target.word, walker.state.cwd)
        if scope in ("null", "remote"):  # a socket too, which is one of the descriptors
            continue
        if takes_output(target):
            judge_started(walker, invocation, absolute(target.word.text, walker.state.cwd), output)
        if judge_left(walker, invocation, target.word, taint):
            continue
        if "net" in taint and scope in ("schedule", "config", "account", "system"):
            walker.add("persist", [target.word], invocation.place, level=Level.HIGH)
        elif text and scope in ("schedule", "config"):  # lines that will run later
            judge_later(walker, invocation, text)


def feed_sinks(walker: Walker, targets: list[Target], output: Output) -> None:
    """`> >(…)`: the commands in it read what the one before writes; what goes there in other ways is not known."""
    for target in targets:
        text, taint = output if takes_output(target) else (None, "")
        for body in target.sinks:
            walker.isolated(body, (text or None, taint))


def descriptor(walker: Walker, number: str, source: Output, stdin: Output | None) -> Output | None:
    """Standard input after `source` was opened as descriptor `number`, "" for the usual one."""
    if number in ("", "0"):
        return source
    walker.descriptors[number] = source
    for folder in ("/dev/fd", "/proc/self/fd"):
        walker.files.write(f"{folder}/{number}", "/", source)
    return stdin


def redirects(
    walker: Walker, redirects: list[Redirect], stdin: Output | None, place: tuple[int, int], *, of_group: bool = False
) -> tuple[Output | None, list[Target]]:
    """Judge redirections; what stdin becomes, and the resolved targets."""
    targets: list[Target] = []
    for redirect in redirects:
        walker.work.spend(STEP)
        if redirect.operator == "<<":
            if redirect.body is not None:
                body, taint = walker.expander.body(redirect.body, place)
                stdin = descriptor(walker, redirect.fd, (body, taint), stdin)
            continue
        spot = walker.place(redirect.start, redirect.end)
        if redirect.operator == "<<<":
            word = walker.expander.text(redirect.target, spot, "\n")
            stdin = descriptor(walker, redirect.fd, (word.text + "\n", word.taint), stdin)
            continue
        if redirect.fd.endswith("}"):  # `{name}<file` puts the number of the descriptor into a variable
            walker.expander.place = spot
            if redirect.fd.endswith("]}"):
                walker.refer(redirect.fd[1:-1], "")
            else:
                walker.state.assign(redirect.fd[1:-1], Value(["10"], NUMBER))
        sinks: list[Sequence] = []
        walker.sinks = sinks
        words = walker.expander.texts(redirect.target, spot)
        walker.sinks = None
        for word in words:
            target = Target(redirect.operator, redirect.fd, word)
            target.sinks, sinks = sinks, []
            targets.append(target)
            if redirect.operator != "<" and (walker.outgoing or target.sinks or word.text.startswith("/dev/")):
                from agent.risk.shell.descriptors import open_descriptor  # rarely needed

                open_descriptor(walker, target)
            if redirect.operator in ("<", "<>"):
                stdin = descriptor(walker, redirect.fd, file_input(walker, word), stdin)
            elif redirect.operator == "<&" and redirect.fd in ("", "0") and word.text != "-":
                stdin = walker.descriptors.get(word.text, (None, "input")) if word.text != "0" else stdin
            judge_redirect(walker, target, spot, of_group=of_group)
    return stdin, targets
