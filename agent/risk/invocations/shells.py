"""Judge shells and the files of code that are run: what code they are given, and by which way."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.risk.inline.origins import feed_findings, judge_code
from agent.risk.invocations.written_code import judge_language, judge_loaded
from agent.risk.reader.fish import as_bash
from agent.risk.reader.words import UNKNOWN, Invocation, Output, Word, join_taint
from agent.risk.tables.options import Args
from agent.risk.tables.store import WRAPPERS, Program
from agent.risk.tables.store import program as find_program

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker


_ZSH_FILE = re.compile(r"((?:^|[;&|(\n])\s*|\s)=\(")  # `diff =(ls a) =(ls b)`: a file with the output
_ZSH_EXPANDED = re.compile(r"\$\{\([^()e]*e[^()]*\)[^{}'\"]{0,80}:[-=+](['\"]?)(.*?)\1\}", re.S)  # `${(e):-'…'}`


def _read_as(walker: Walker, invocation: Invocation, text: str) -> str:
    """The text as bash would have it, where it is written for fish; what only zsh runs in it is judged."""
    shell = invocation.words[0].text.rpartition("/")[2]
    if shell.startswith(("zsh", "rzsh")) and "(" in text:
        from agent.risk.invocations.zsh_code import judge_qualifiers

        judge_qualifiers(walker, invocation, text)
        text = _ZSH_FILE.sub(r"\1<(", text)
        for found in list(_ZSH_EXPANDED.finditer(text))[:20]:
            walker.script(f"echo {found[2]}", invocation.place, invocation)
    if not shell.startswith("fish"):
        return text
    walker.work.spend(len(text) / 4)
    return as_bash(text)


def shell(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Invocation | Output:
    """bash, sh, zsh, dash …: -c text, a script file, or code on stdin."""
    if len(invocation.words) == 2 and invocation.stdin is None and invocation.words[1].text in ("--version", "--help"):
        return None, ""
    if re.search(r"(?i)(?:^|/)(?:pwsh(?:-preview)?|powershell)(?:\.exe)?$", invocation.words[0].text):
        return powershell(walker, invocation)
    for word in args.values("--rcfile", "--init-file"):  # read by a shell that is, or is told to be, interactive
        if word.text != "/dev/null":
            script_file(walker, invocation, word)
    for given in [*args.values("--command", "-C", "--init-command"), *_code_of_fish(invocation)]:
        word = given.part(_read_as(walker, invocation, given.text))
        judge_code(walker, invocation, word.text, word.taint)
        walker.script(word.text, invocation.place, invocation.inner([], table.name), invocation.stdin)
    if args.has("--command"):
        return None, ""
    if args.has("-c"):
        words = args.operands
        if not words:
            return None, ""
        code = words[0].part(_read_as(walker, invocation, words[0].text))
        judge_code(walker, invocation, code.text, code.taint)
        saved = walker.state.positional, walker.state.shell_name, walker.state.exports_all
        last_here = walker.state.last_here
        walker.state.last_here = _runs_last_here(invocation, args)
        walker.state.exports_all |= args.has("-a") or any(word.text == "allexport" for word in args.values("-o"))
        walker.state.positional = words[2:]
        walker.state.shell_name = words[1].text if len(words) > 1 else "bash"
        result = walker.script(code.text, invocation.place, invocation.inner([], table.name), invocation.stdin)
        walker.state.positional, walker.state.shell_name, walker.state.exports_all = saved
        walker.state.last_here = last_here
        return result
    if args.has("-n", "--no-execute") and args.operands and not args.has("-s", "+n"):
        return None, ""
    if args.operands and not args.has("-s"):
        return script_file(walker, invocation, args.operands[0])
    return feed_shell(walker, invocation)


def _code_of_fish(invocation: Invocation) -> list[Word]:
    """Collect the code that fish is given where other shells see none: its options take the next word alone, and further ones count."""
    if not invocation.words[0].text.rpartition("/")[2].startswith("fish"):
        return []
    codes, before = [], ""
    for word in invocation.words[1:]:
        attached = _FISH_CODE.match(word.text)
        if before:
            codes.append(word)
        if attached and attached["code"]:
            codes.append(word.part(attached["code"]))
        before = word.text if attached and not attached["code"] else ""
    return codes


_FISH_CODE = re.compile(r"(?s)(?:-[A-Za-z]*?[cC]|--(?:init-)?command(?:=|(?=$)))(?P<code>.*)")


def _runs_last_here(invocation: Invocation, args: Args) -> bool:
    """Tell whether the last command of a pipeline runs in the shell itself: always in zsh and ksh, in bash with `-O lastpipe`."""
    named = invocation.words[0].text.rpartition("/")[2].startswith(("zsh", "ksh"))
    return named or any(word.text == "lastpipe" for word in args.values("-O"))


def powershell(walker: Walker, invocation: Invocation) -> Output:
    """`pwsh -Command code`, `-EncodedCommand base64`, `-File script`, code on standard input, or an interactive one."""
    from agent.risk.inline.powershell import decoded, judge_cmdlets

    words = invocation.words[1:]
    index = 0
    while index < len(words):
        option = words[index].text.lower().lstrip("-/") if words[index].text[:1] in "-/" else ""
        following = words[index + 1 :]
        if not option or words[index].text == "-":
            break
        if option in ("version", "help", "?", "h", "v"):
            return None, ""
        if "encodedcommand".startswith(option) or option == "ec":
            walker.add("run-decoded", [], invocation.place)
            judge_cmdlets(walker, invocation, decoded(following[0].text) if following else "")
            return None, ""
        if "command".startswith(option) or option == "commandwithargs":
            judge_cmdlets(walker, invocation, " ".join(word.text for word in following))
            return None, ""
        if "file".startswith(option) and following:
            return script_file(walker, invocation, following[0])
        index += 1 if option.startswith(("no", "sta", "mta", "inter", "login", "l")) else 2
    if index < len(words) and words[index].text != "-":
        rest = words[index:]
        if rest[0].text.endswith(".ps1"):
            return script_file(walker, invocation, rest[0])
        judge_cmdlets(walker, invocation, " ".join(word.text for word in rest))
    elif invocation.stdin is not None:
        if "net" in invocation.stdin[1]:
            walker.add("run-remote", [], invocation.place)
        judge_cmdlets(walker, invocation, invocation.stdin[0] or UNKNOWN)
    else:
        open_shell(walker, invocation)
    return None, ""


def script_file(walker: Walker, invocation: Invocation, word: Word, language: str = "") -> Output:
    """A file of code: the project's own, or something that came from elsewhere, or was written by this very command.

    `language`: what it is written in, where that is not the shell's.
    """
    written = walker.files.read(word, invocation.cwd)
    if written is not None:
        feed_findings(walker, invocation, *written)
        if language and written[0]:
            judge_language(walker, invocation, written[0], language, written[1])
            judge_loaded(walker, invocation, written[0], language)
        else:
            walker.script(written[0] or "", invocation.place, invocation.inner([], "script"))
    if (
        "net" in word.taint
        or word.text.startswith(("http://", "https://"))
        or walker.fetched(word.text, invocation.cwd)
    ):
        walker.add("run-remote", [word], invocation.place)
    elif "opaque" in word.taint:
        walker.add("run-decoded", [word], invocation.place)
    elif "proc" in word.taint or word.text in ("/dev/stdin", "-", "/dev/fd/0", "/proc/self/fd/0"):
        return feed_shell(walker, invocation) if "proc" not in word.taint else _opaque(walker, invocation, word)
    else:
        walker.add("run", [word], invocation.place, rule="run.script")
    return None, ""


def program_file(walker: Walker, invocation: Invocation, word: Word) -> None:
    """A file of code for something that is no shell, such as `sed -f`: from standard input it is not shell text."""
    if word.text not in ("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0") and "proc" not in word.taint:
        script_file(walker, invocation, word)
    elif "net" in (invocation.stdin or ("", ""))[1] or "net" in word.taint:
        walker.add("run-remote", [word], invocation.place)
    else:
        walker.add("run", [word], invocation.place, reason="runs the output of another command", rule="run.script")


def _opaque(walker: Walker, invocation: Invocation, word: Word) -> Output:
    if "secret" not in word.taint and "cmd" not in word.taint:
        walker.add("run", [word], invocation.place, reason="runs the output of another command")
    else:
        walker.add("run-opaque", [word], invocation.place)
    return None, ""


def feed_shell(walker: Walker, invocation: Invocation) -> Output:
    """Code on standard input."""
    stdin = invocation.stdin
    if any(target.word.text.startswith(("/dev/tcp/", "/dev/udp/")) for target in invocation.redirects):
        walker.add("reverse-shell", [], invocation.place)
        return None, "shell"
    if stdin is None:
        open_shell(walker, invocation)
        return None, "shell"
    text, taint = stdin
    feed_findings(walker, invocation, text, taint)
    if text and text.strip(UNKNOWN + " \n"):
        return walker.script(_read_as(walker, invocation, text), invocation.place, invocation.inner([], "stdin"))
    return None, join_taint(taint, "shell")


# These run what they are told to, a shell like anything else. Whatever else opens a shell is not meant for it.
_CARRIERS = (
    *WRAPPERS,
    "invocations.shells:shell",
    "programs.remote_and_later:",
    "programs.containers:",
    "programs.secret_tools:secret_store",
    "programs.network:behind_options",
)


def open_shell(walker: Walker, invocation: Invocation) -> None:
    """A shell that takes what is typed. Nothing of that is seen, so what counts is whose it is and how it is come by."""
    if invocation.elevated:
        walker.add("elevate-shell", [], invocation.place)
    elif any(re.fullmatch(r"-[a-z]{0,3}p[a-z]{0,3}", word.text) for word in invocation.words[1:]):
        reason = "opens a shell that keeps the rights of a set-uid program"
        walker.add("elevate-shell", [], invocation.place, reason=reason, rule="elevate-shell.kept")
    elif (carrier := _odd_carrier(walker)) and not walker.suspecting:
        reason = f"has {carrier} open a shell, in which nothing is checked"
        walker.add("shell-escape", [], invocation.place, reason=reason)
    else:
        walker.add("run", [], invocation.place, reason="opens a shell of its own", rule="run.shell")


def _odd_carrier(walker: Walker) -> str:
    """The program around this one that is no wrapper, if there is one: an editor, a pager, an archiver, an interpreter."""
    for outer in walker.programs.around():
        name = outer.words[0].text.rpartition("/")[2]
        table = find_program(name)
        if table is not None and table.handler and not table.handler.startswith(_CARRIERS):
            return name
    return ""
