"""Find the program that the first word of a command names, and follow the names that a command gives by copies and links."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.protocol.decisions import Level
from agent.risk.inline.origins import feed_findings
from agent.risk.paths.absolute import absolute
from agent.risk.paths.search_path import STANDARD_FOLDERS, opens_in_front
from agent.risk.reader.words import UNKNOWN, Invocation, Word
from agent.risk.shell import builtins as shell_builtins
from agent.risk.tables.names import names
from agent.risk.tables.options import split_args
from agent.risk.tables.store import Program, may_be_command
from agent.risk.tables.store import program as find_program
from agent.text.lazy_pattern import LazyPattern

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker


NAMING = frozenset(("cp", "mv", "install", "ln"))
"""Tables of programs that give a file another name."""
ITSELF = LazyPattern(r"/proc/(?:self|thread-self|\d+|\0)/exe")
"""The program of the process that looks there: on a command line, the shell."""
_MAX_NAMES = 50
_MAX_STEPS = 8


def keep_names(walker: Walker, invocation: Invocation, table: Program) -> None:
    """Remember what the names that `cp`, `mv`, `install` and `ln` make stand for."""
    args = split_args(invocation.words[1:], table)
    target = args.value("-t", "--target-directory")
    sources = args.operands if target is not None else args.operands[:-1] or args.operands
    if target is None:
        target = args.operands[-1] if len(args.operands) > 1 else Word(".", *invocation.place)
    for source in sources:
        known = source.known or ITSELF.fullmatch(source.text)
        if not known or not target.known or len(walker.names) >= _MAX_NAMES:
            continue
        base = source.text.rstrip("/").rpartition("/")[2]
        for place in (absolute(target.text, invocation.cwd), absolute(f"{target.text}/{base}", invocation.cwd)):
            folder = place.rpartition("/")[0] if args.has("-s", "--symbolic") else invocation.cwd
            leads = _program_path(source) or absolute(source.text, folder)
            if leads == place:
                continue
            if walker.fetched(leads, "/"):
                walker.downloads.add(place)
            if table.name == "ln":
                walker.rater.scopes.links[place] = leads
            if table.name == "ln" or leads in walker.names or leads.rpartition("/")[0] in STANDARD_FOLDERS:
                walker.names[place] = leads


def _program_path(source: Word) -> str:
    """Find a program whose name alone another command printed, as in `cp $(command -v rm) x`."""
    if ITSELF.fullmatch(source.text):
        return "/bin/bash"
    return f"/usr/bin/{source.text}" if "/" not in source.text and find_program(source.text) is not None else ""


def real_program(walker: Walker, invocation: Invocation) -> Invocation:
    """The command with the program that its first word stands for, where the text itself has given that name."""
    word = invocation.words[0]
    if "/" in word.text:
        path = absolute(word.text, invocation.cwd)
    else:
        path = next((place for place in walker.names if place.endswith(f"bin/{word.text}")), "")
        if not path and ("PATH" in walker.state.variables or any(name == "PATH" for name, _ in invocation.environment)):
            path = next((place for place in walker.names if place.endswith(f"/{word.text}")), "")
    steps = 0
    while path in walker.names and steps < _MAX_STEPS:
        path = walker.names[path]
        steps += 1
    if not steps or UNKNOWN in path or path.rpartition("/")[0] not in STANDARD_FOLDERS:
        return invocation
    reason = f"runs {{targets}}, a name that this command gives to {path}"
    walker.add("run-unknown", [word], invocation.place, reason=reason, rule="run.renamed")
    return invocation.inner([word.part(path), *invocation.words[1:]], word.text)


_WINDOWS = LazyPattern(r"/mnt/[a-z]/windows(?:/|$)", re.I)
_ELEVATES = frozenset(("invocations.elevation:elevate", "invocations.elevation:su"))


def program_name(walker: Walker, invocation: Invocation) -> str | None:
    """The name to look up of a first word that is known; None where the program is not (a finding has been added)."""
    word = invocation.words[0]
    text, place = word.text, invocation.place_of(word)
    if text.startswith("/proc/") and ITSELF.fullmatch(text):
        walker.add(
            "run-unknown", [word], place, rule="run.itself", reason="runs the shell by the number of its process"
        )
        return "bash"
    if "opaque" in word.taint.split():  # known or not: who decodes the name of a program means to hide it
        walker.add("run-decoded", [word], place)
    if "all" in word.taint.split():  # below find's folder: not the folder, but whatever lies there
        walker.add("run", [word], place, reason="runs whatever files are found below {targets}")
        return None
    folder, slash, base = text.rpartition("/")
    if base[-4:].lower() in (".exe", ".com"):
        shown, plain = _of_windows(walker, invocation, folder, base[:-4].lower())
        if shown or plain:
            return plain
    if word.glob:
        walker.add("run-opaque", [word], place, reason="names its program by a wildcard: {targets}")
        if not slash:
            return None
        base = _guess(base) or base
    elif slash and folder not in STANDARD_FOLDERS:
        _judge_file(walker, invocation, place)
        if find_program(base) is None:
            suspect_words(walker, invocation)
            return None
    elif (
        not slash
        and walker.state.finds_elsewhere(walker.programs.inherited.get("PATH"), walker.rater.scopes, text)
        and not shell_builtins.is_builtin(text)
    ):
        if any(path.endswith(f"/{text}") for path in walker.downloads):
            walker.add("run-remote", [word], place, rule="run.fetched")
        _judge_found(walker, invocation)
    if find_program(base) is None and base.lower() != base and find_program(base.lower()) is not None:
        walker.add("run-unknown", [word], place, reason="runs {targets}, which is not the usual spelling")
        return base.lower()
    return base


def _of_windows(walker: Walker, invocation: Invocation, folder: str, plain: str) -> tuple[bool, str | None]:
    """A program as WSL and Wine start it: whether it only shows something, and its name where a table has that."""
    if not folder or _WINDOWS.match(folder):
        from agent.risk.programs.desktop import judge_windows, windows_line  # rarely needed

        before = len(walker.findings)
        reads = judge_windows(walker, invocation, windows_line(invocation))
        if reads and len(walker.findings) == before and plain in names("command_prompt.own"):
            return True, None
    if find_program(plain) is None:
        return False, None
    walker.add("run-unknown", invocation.words[:1], invocation.place_of(invocation.words[0]), rule="run.windows")
    return False, plain


def _judge_file(walker: Walker, invocation: Invocation, place: tuple[int, int]) -> None:
    """A program in a file that is named by its path: fetched, or written by this very command, or there already."""
    word = invocation.words[0]
    if walker.fetched(word.text, invocation.cwd):
        walker.add("run-remote", [word], place, rule="run.fetched")
    else:
        walker.add("run-unknown", [word], place, rule="run.path", reason="runs the file {targets}")
    written = walker.files.read(word, invocation.cwd)
    if written is not None:
        feed_findings(walker, invocation, *written)
        walker.script(written[0] or "", invocation.place, invocation, invocation.stdin)


def _judge_found(walker: Walker, invocation: Invocation) -> None:
    """A plain name that PATH may make another program's: high where that could be put there, or be given a password, by others."""
    word = invocation.words[0]
    for path, (text, taint) in list(walker.files.written().items()):
        if path.endswith(f"/{word.text}"):
            feed_findings(walker, invocation, text, taint)
            walker.script(text or "", invocation.place, invocation, invocation.stdin)
    known = find_program(word.text)
    reason = ""
    if known is not None and known.handler in _ELEVATES:
        reason = "may run another {targets} than the system's, which would be given the password"
    elif _found_in_the_open(walker, invocation):
        reason = "may run a {targets} that others could have put into a temporary folder"
    level = Level.HIGH if reason else None
    place = invocation.place_of(word)
    walker.add("run-unknown", [word], place, level=level, reason=reason, rule="run.path-changed")


def _found_in_the_open(walker: Walker, invocation: Invocation) -> bool:
    """Tell whether the PATH that this command has set begins in a folder where everybody may put programs."""
    value = walker.state.variables.get("PATH")
    texts = [word.text for name, word in invocation.environment if name == "PATH"]
    if value is not None and value is not walker.programs.inherited.get("PATH"):
        texts += value.texts
    return any(opens_in_front(text, walker.rater.scopes, invocation.cwd) for text in texts)


def _guess(pattern: str) -> str | None:
    """A dangerous program that a globbed name could mean."""
    import fnmatch

    names = ("rm", "dd", "sh", "bash", "cat", "nc", "chmod", "mv", "python3", "curl", "wget")
    return next((name for name in names if fnmatch.fnmatchcase(name, pattern)), None)


def suspect_words(walker: Walker, invocation: Invocation) -> None:
    """Judge the words of an unknown program as a command for it to run: `./wrapper rm -rf /`, the loader and its program."""
    for index in range(1, min(len(invocation.words) - 1, 6)):
        if may_be_command(invocation.words[index]):
            walker.suspect(invocation.words[index:], invocation)
            break
