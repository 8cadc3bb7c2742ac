"""Judge interpreters that are no shells: the code that they are given, and what their options load."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

from agent.risk.inline.origins import feed_findings
from agent.risk.invocations.folder_files import matched_names
from agent.risk.invocations.leaks import judge_served
from agent.risk.invocations.shells import script_file
from agent.risk.invocations.written_code import judge_language, judge_loaded
from agent.risk.reader.words import UNKNOWN, Invocation, Output, Word
from agent.risk.tables.options import Args
from agent.risk.tables.store import Program
from agent.risk.tables.store import program as find_program

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker


def inline(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Invocation | Output:
    """python, perl, ruby, node, php, lua …: code given inline is scanned, files are run."""
    if table.name == "python":
        _judge_shadows(walker, invocation, args)
    _judge_addresses(walker, invocation, table, args)
    modules = args.values("-m") if table.name == "python" else []
    module = modules[0] if modules else None  # what follows the first is the module's
    coded = not args.names.isdisjoint(table.script) and bool(args.values(*table.script))
    if module is not None and not (coded and _first(args, table.script, "-m")):  # what comes first ends the options
        from agent.risk.invocations.python_modules import run_module

        judge_loaded(walker, invocation, module.text, "python")
        return run_module(walker, invocation, module)
    if table.name == "php" and args.has("-S"):
        walker.add("serve", args.values("-S"), invocation.place)
        judge_served(walker, invocation, args.value("-t") or Word(invocation.cwd, *invocation.place))
        return None, ""
    if table.name == "perl" and [word.text[:3] for word in invocation.words[1:]] == ["-V:"]:  # one of its own settings
        return None, ""
    if coded:
        return _given(walker, invocation, table, args)
    if _only_shows(invocation, table, args):
        return None, ""
    for word in args.values("-f", "--file") if table.name == "php" else []:
        return script_file(walker, invocation, word, "php")
    if args.operands and args.operands[0].text != "-":
        checks = _CHECKS.get(table.name, set())
        if args.names & checks and args.names <= checks | {
            "-w",
            "-W",
        }:  # with any other option, it may load something first
            return None, ""
        if table.name == "perl" and args.has("-M", "-m"):  # `-M'strict;code'` runs before the script does
            judge_language(walker, invocation, _loaded(walker, invocation, table, args), "perl")
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


# Options with which a file is only read. Perl's -c is none: it runs what is to be done at once (BEGIN).
_CHECKS: dict[str, set[str]] = {"node": {"-c", "--check"}, "php": {"-l", "--syntax-check"}, "ruby": {"-c", "--syntax"}}


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
    """Tell whether one of `names` is given before `other`."""
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
    if args.has("-I", "-P"):
        return
    known = walker.rater.context.facts.get(invocation.cwd, ())
    hidden = [Word(fact.partition("=")[2], *invocation.place) for fact in known if fact.startswith("shadows=")]
    if hidden or UNKNOWN in invocation.cwd:
        reason = "would load {targets} from this folder instead of Python's own module"
        if not hidden:
            reason = "may load modules from a folder that is only known when it runs instead of Python's own"
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
