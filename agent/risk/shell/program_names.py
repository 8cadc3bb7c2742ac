"""Find the program that the first word of a command names: by path, PATH, wildcards and spelling."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.protocol.decisions import Level
from agent.risk.inline.origins import feed_findings
from agent.risk.invocations.given_names import ITSELF
from agent.risk.paths.search_path import STANDARD_FOLDERS, opens_in_front
from agent.risk.reader.words import Invocation
from agent.risk.shell import builtins as shell_builtins
from agent.risk.tables.store import may_be_command
from agent.risk.tables.store import program as find_program

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_ELEVATES = frozenset(("invocations.elevation:elevate", "invocations.elevation:su"))


def program_name(walker: Walker, invocation: Invocation) -> str | None:
    """The name to look up of a first word that is known; None where the program is not (a finding has been added)."""
    word = invocation.words[0]
    text, place = word.text, invocation.place_of(word)
    if ITSELF.fullmatch(text):
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
    if base[-4:].lower() == ".exe" and find_program(base[:-4].lower()) is not None:
        walker.add("run-unknown", [word], place, rule="run.windows")  # as WSL and Wine start it
        return base[:-4].lower()
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
