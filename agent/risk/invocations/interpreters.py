"""Judge shells and other interpreters: what code they are given, and by which way."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

from agent.risk.inline.origins import feed_findings, judge_code
from agent.risk.invocations.folder_files import matched_names
from agent.risk.invocations.leaks import judge_served
from agent.risk.invocations.written_code import judge_language, judge_loaded
from agent.risk.paths.absolute import absolute
from agent.risk.reader.words import UNKNOWN, Invocation, Output, Word, join_taint
from agent.risk.tables.options import Args
from agent.risk.tables.store import Program
from agent.risk.tables.store import program as find_program

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker


def shell(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Invocation | Output:
    """bash, sh, zsh, dash …: -c text, a script file, or code on stdin."""
    if len(invocation.words) == 2 and invocation.stdin is None and invocation.words[1].text in ("--version", "--help"):
        return None, ""
    if invocation.words[0].text.rpartition("/")[2].lower().removesuffix(".exe") in (
        "pwsh",
        "powershell",
        "pwsh-preview",
    ):
        return powershell(walker, invocation)
    for word in args.values("--rcfile", "--init-file"):  # read by a shell that is, or is told to be, interactive
        if word.text != "/dev/null":
            script_file(walker, invocation, word)
    for word in args.values("--command", "-C", "--init-command"):  # of fish
        judge_code(walker, invocation, word.text, word.taint)
        walker.script(word.text, invocation.place, invocation.inner([], table.name), invocation.stdin)
    if args.has("--command"):
        return None, ""
    if args.has("-c"):
        words = args.operands
        if not words:
            return None, ""
        judge_code(walker, invocation, words[0].text, words[0].taint)
        saved = walker.state.positional, walker.state.shell_name, walker.state.exports_all
        last_here = walker.state.last_here
        walker.state.last_here = _runs_last_here(invocation, args)
        walker.state.exports_all |= args.has("-a") or any(word.text == "allexport" for word in args.values("-o"))
        walker.state.positional = words[2:]
        walker.state.shell_name = words[1].text if len(words) > 1 else "bash"
        result = walker.script(words[0].text, invocation.place, invocation.inner([], table.name), invocation.stdin)
        walker.state.positional, walker.state.shell_name, walker.state.exports_all = saved
        walker.state.last_here = last_here
        return result
    if args.has("-n") and args.operands and not args.has("-s", "+n"):
        return None, ""
    if args.operands and not args.has("-s"):
        return script_file(walker, invocation, args.operands[0])
    return feed_shell(walker, invocation)


def _runs_last_here(invocation: Invocation, args: Args) -> bool:
    """Whether the last command of a pipeline runs in the shell itself: always in zsh and ksh, in bash with `-O lastpipe`."""
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


def fetched(walker: Walker, invocation: Invocation, word: Word) -> bool:
    """Whether this very command downloads the file it runs."""
    return bool(walker.downloads) and absolute(word.text, invocation.cwd) in walker.downloads


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
    if "net" in word.taint or word.text.startswith(("http://", "https://")) or fetched(walker, invocation, word):
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
        return walker.script(text, invocation.place, invocation.inner([], "stdin"))
    return None, join_taint(taint, "shell")


# These run what they are told to, a shell like anything else. Whatever else opens a shell is not meant for it.
_CARRIERS = (
    "invocations.wrappers:",
    "invocations.interpreters:shell",
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


def inline(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Invocation | Output:
    """python, perl, ruby, node, php, lua …: code given inline is scanned, files are run."""
    if table.name == "python":
        _judge_shadows(walker, invocation, args)
    _judge_addresses(walker, invocation, table, args)
    module = args.value("-m") if table.name == "python" else None
    coded = not args.names.isdisjoint(table.script) and bool(args.values(*table.script))
    if module is not None and not (coded and _first(args, table.script, "-m")):  # what comes first ends the options
        from agent.risk.invocations.python_modules import run_module

        judge_loaded(walker, invocation, module.text, "python")
        return run_module(walker, invocation, module)
    if table.name == "php" and args.has("-S"):
        walker.add("serve", args.values("-S"), invocation.place)
        judge_served(walker, invocation, args.value("-t") or Word(invocation.cwd, *invocation.place))
        return None, ""
    if coded:
        return _given(walker, invocation, table, args)
    if _only_shows(invocation, table, args):
        return None, ""
    for word in args.values("-f", "--file") if table.name == "php" else []:
        return script_file(walker, invocation, word, "php")
    if args.operands and args.operands[0].text != "-":
        checks = {"node": {"-c", "--check"}, "php": {"-l"}}.get(table.name, set())
        if args.names and args.names <= checks:  # with any other option, it may load something first
            return None, ""
        _judge_management(walker, invocation, args.operands[0])
        return script_file(walker, invocation, args.operands[0], _language(table, invocation))
    if invocation.stdin is None:
        walker.add(
            "run", [Word(f"an interactive {table.name}", *invocation.place)], invocation.place, rule="run.interactive"
        )
        return None, ""
    text, taint = invocation.stdin
    feed_findings(walker, invocation, text, taint)
    if text:
        judge_language(walker, invocation, text, _language(table, invocation), taint)
        judge_loaded(walker, invocation, text, table.name)
    return None, taint


def _judge_management(walker: Walker, invocation: Invocation, script: Word) -> None:
    """`python manage.py flush`, `php artisan db:wipe`: a script that is a program of its own, by its name; high counts."""
    name = script.text.rpartition("/")[2]
    at = invocation.words.index(script)
    if find_program(name) is not None and len(invocation.words) > at + 1:
        walker.suspect([script.part(name), *invocation.words[at + 1 :]], invocation)


def _given(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output:
    """Code in the words of the command; further operands are files that it reads, or changes with `perl -i`."""
    place = invocation.place
    loaded = _loaded(walker, invocation, table, args)
    snippets = args.values(*table.script)
    if table.name in ("perl", "ruby"):  # one program of several lines
        taint = " ".join(word.taint for word in snippets).strip()
        snippets = [Word("\n".join(word.text for word in snippets), *place, taint=taint)]
    for word in snippets:
        judge_language(walker, invocation, loaded + word.text, _language(table, invocation), word.taint)
        judge_loaded(walker, invocation, loaded + word.text, table.name)
    if table.name == "perl" and any(name.startswith("-i") for name in args.names):
        walker.add("modify", args.operands, place, invocation=invocation)
    else:
        for word in args.operands:
            walker.add("read", [word], place, invocation=invocation)
    _opened_names(walker, invocation, table, args)
    return None, (invocation.stdin or (None, ""))[1]


def _first(args: Args, names: frozenset[str], other: str) -> bool:
    """Whether one of `names` is given before `other`."""
    return next(name in names for name, _ in args.options if name in names or name == other)


_LOADING = {"perl": ("-M", "-m"), "ruby": ("-r", "--require"), "node": ("-r", "--require", "--import"), "lua": ("-l",)}
_LOADS = {"ruby": "require '{}';", "node": "require('{}');", "lua": "require '{}';"}
_IMPORTS = re.compile(r"-W[^:]*:[^:]*:[^:]*\.|-Xpresite")
_MORE = {  # options that load or run something besides the code
    "python": ("-i",), "perl": ("-I", "-d", "-x"), "ruby": ("-I", "-x"), "php": ("-F", "-S", "-d", "-c", "-z", "-t"), "lua": ("-i",),
    "erl": ("-s", "-run", "-pa", "-pz", "-config", "-boot"),
    "node": ("-i", "--interactive", "--loader", "--experimental-loader", "--env-file", "--inspect", "--inspect-brk", "--test"),
}  # fmt: skip


def _judge_addresses(walker: Walker, invocation: Invocation, table: Program, args: Args) -> None:
    """`node --import=data:text/javascript,…`: the address is the code, or says where the code comes from."""
    for word in args.values(*_LOADING.get(table.name, ()), "--loader", "--experimental-loader"):
        kind, _, rest = word.text.partition(":")
        if kind == "data":
            about, _, text = rest.partition(",")
            if about.endswith("base64"):
                walker.add("run-decoded", [word], invocation.place)
            else:
                judge_language(walker, invocation, unquote(text), table.name, word.taint)
        elif kind in ("http", "https"):
            walker.add("run-remote", [word], invocation.place)


def _language(table: Program, invocation: Invocation) -> str:
    """The language of the code: the table's, or that of the program where one table has those of several."""
    return invocation.words[0].text.rpartition("/")[2] if table.name == "Rscript" else table.name


def _judge_shadows(walker: Walker, invocation: Invocation, args: Args) -> None:
    """Modules of the folder that hide those of the library: with -c, -m and code on standard input the folder comes first."""
    if args.has("-I", "-P") or UNKNOWN in invocation.cwd:
        return
    known = walker.rater.context.facts.get(invocation.cwd, ())
    hidden = [Word(fact.partition("=")[2], *invocation.place) for fact in known if fact.startswith("shadows=")]
    if hidden:
        reason = "would load {targets} from this folder instead of Python's own module"
        walker.add("run", hidden, invocation.place, reason=reason, rule="run.shadow")


def _loaded(walker: Walker, invocation: Invocation, table: Program, args: Args) -> str:
    """Code for the modules that options load. Options that load or run something else are told."""
    more = [name for name in _MORE.get(table.name, ()) if name in args.names]
    if table.name == "python":  # -W ignore::module.Class and -X presite=module import
        more += [name for name, word in args.options if word is not None and _IMPORTS.match(name + word.text)]
    if more:
        words = [Word(name, *invocation.place) for name in more]
        reason = "loads or runs something besides the code it is given: {targets}"
        walker.add("run", words, invocation.place, reason=reason, rule="run.option")
    modules = [word.text for word in args.values(*_LOADING.get(table.name, ()))]
    if table.name != "perl":
        return "".join(_LOADS[table.name].format(text) for text in modules)
    uses = [
        re.sub(r"=(.*)", lambda names: f" qw({names[1]})", text, flags=re.S) for text in modules
    ]  # -MList::Util=sum,max
    code = "".join(f"no {text[1:]};" if text[:1] == "-" else f"use {text};" for text in uses)
    pattern = args.value("-F")
    if pattern is not None:  # perl writes it into its code as it is given
        code += f"split({pattern.text});" if pattern.text[:1] in ("/", "'", '"') else f"m\1{pattern.text}\1;"
    return code + ("<>;" if args.has("-n", "-p") else "")


def _only_shows(invocation: Invocation, table: Program, args: Args) -> bool:
    """`python3 --version`, `php -i`: nothing beside it, which could be loaded or read all the same."""
    if invocation.stdin is not None:
        return False
    words = invocation.words[1:]
    if len(words) == 1 and words[0].text in ("--version", "--help", "-version", "-help", "-V", "-h", "-v"):
        return words[0].text != "-v" or table.name != "python"  # there it tells what is loaded, and goes on
    return bool(args.names) and args.names <= table.dry and not args.operands


def javascript(walker: Walker, invocation: Invocation, table: Program, args: Args) -> None:
    """deno, bun: code behind `eval` or `-e`; the table says what the rest does."""
    snippets = args.values(*table.script)
    if table.name == "deno" and args.operands and args.operands[0].text == "eval":
        snippets += args.operands[1:2]
    for word in snippets:
        judge_language(walker, invocation, word.text, "node", word.taint)
    words = [word.text for word in args.operands if not word.text.startswith("-") or word.text == "-"]
    if invocation.stdin is not None and not snippets and words in ([], ["-"], ["run"], ["run", "-"], ["repl"]):
        text, taint = invocation.stdin
        feed_findings(walker, invocation, text, taint)
        if text:
            judge_language(walker, invocation, text, "node", taint)


_NAMES_FROM = frozenset(("all", "listed", "file", "input", "net", "opaque"))


def _opened_names(walker: Walker, invocation: Invocation, table: Program, args: Args) -> None:
    """Perl's `<>`, and so -n and -p, opens an operand `command|` as a pipe from that command."""
    if table.name != "perl":
        return
    opens = args.has("-n", "-p") or any(
        "<>" in word.text or "<ARGV>" in word.text for word in args.values(*table.script)
    )
    for word in args.operands:
        if opens and not _NAMES_FROM.isdisjoint(word.taint.split()):
            reason = "has perl open {targets} by unseen names, and one that ends in | is run"
            walker.add("run", [word], invocation.place, reason=reason, rule="perl.open")
        names = [word, *matched_names(walker, word, invocation.cwd, "magic")] if opens else [word]
        for name in names:
            _open_magic(walker, invocation, name, opens=opens)


def _open_magic(walker: Walker, invocation: Invocation, name: Word, *, opens: bool) -> None:
    """A name as perl opens it: `command |` and `| command` are run, `> file` is written."""
    text = name.text.strip()
    if text.endswith("|") or text.startswith("|"):
        walker.script(text.strip("| "), invocation.place, invocation)
        reason = "has perl run what is named as a file: {targets}"
        walker.add("run", [name], invocation.place, reason=reason, rule="perl.open")
    elif opens and text.startswith((">", "+>", "+<")):
        walker.add("write", [name.part(text.lstrip("+<>& "))], invocation.place, invocation=invocation)
