"""Predict what programs write to stdout where that can be known: text for echo and friends, taint for downloads and secrets."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, cast

from agent.risk.invocations.endless import ENDLESS, VAST, judge_endless, size_of
from agent.risk.invocations.leaks import judge_left
from agent.risk.paths.absolute import absolute
from agent.risk.paths.secret_paths import names_secret
from agent.risk.reader.words import UNKNOWN, Invocation, Output, Word, join_taint, origin, taint_of
from agent.risk.tables.names import members
from agent.risk.tables.options import Args
from agent.risk.tables.store import Program
from agent.text.lazy_pattern import lazily

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker
from agent.risk.shell.printed_text import _MAX_TEXT, Special, decoder, decoding, echo, gzip, printf, rev, tr

_LISTS = members("lists.whole")
_KEPT = frozenset(("secrets", "account-secret", "history"))
# Sub-commands of git that print names of commits, which no file's content decides.
_OBJECT_NAMES = frozenset(("rev-parse", "merge-base", "rev-list", "describe", "symbolic-ref", "name-rev", "write-tree"))

# A form of one's own for what is told: words, and places in them that are filled in.
_PLACE = lazily(r"%[({\w]|\{\{|\$\{?\w")
_SIGN = lazily(r"[%{$]")
_ASSIGNS_TEXT = lazily(r"\$\w+ *= *\".* ")


def _is_template(text: str) -> bool:
    """Tell whether a place to be filled in stands behind two words or more, or a language of formats is given such a text."""
    if " " not in text:
        return False
    begin = 0
    for sign in _SIGN.finditer(text):
        if _PLACE.match(text, sign.start()) and re.search(r"\w", text[begin : sign.start()].rpartition(" ")[0]):
            return True
        begin = sign.end()
    return _ASSIGNS_TEXT.match(text) is not None


def output_of(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output:
    """Text and taint of stdout. `table.output` names the way; "pass" hands on what came in."""
    kind = table.output
    whole = _LISTS.get(table.name)
    if whole and len(args.operands) < 2 and any(w.text.rpartition("/")[2] in whole for w in invocation.words[:3]):
        return None, "every listed"
    if not kind:
        return None, ""
    special = _SPECIAL.get(kind)
    if special is not None:
        text, taint = special(walker, invocation, args)
        if kind in _OF_FILES and args.operands and not taint:
            taint = "file"
        if kind in _OF_FILES and any(word.text in ENDLESS for word in args.operands):
            taint = join_taint(taint, "endless")
        if kind in _OF_FILES and any(names_secret(w, invocation.cwd) for w in args.operands):
            taint = join_taint(taint, "secret")
        return (text[:_MAX_TEXT] if text is not None else None), taint
    if table.name == "git" and args.operands and args.operands[0].text in _OBJECT_NAMES:
        return None, ""
    return _read_and_told(walker, invocation, table, args)


def _read_and_told(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output:
    """Predict what is told of what was read: by `pass` the same, or in a form of its own, by any other kind something new."""
    kind, taint = table.output, _handed_on(invocation, table, args)
    if any(word.glob and walker.rater.scopes.of(word, invocation.cwd) in _KEPT for word in args.operands):
        taint = join_taint(taint, "secret")
    if kind == "pass" and any(_is_template(word.text) for word in invocation.words[1:]):
        kind, taint = "made", taint.replace("file", "").strip()
    stdin = invocation.stdin
    if kind != "pass":
        return None, join_taint(kind, taint)
    if stdin is not None and stdin[0] and (args.operands or args.options):
        return None, join_taint("made", taint)
    if not args.operands and not args.options and stdin is not None:
        return stdin[0], taint
    if args.operands and stdin is None and not taint:
        taint = "file"
    return None, taint.replace("glob", "").replace("var", "").strip()


def _handed_on(invocation: Invocation, table: Program, args: Args) -> str:
    """The taint of what a filter reads, from its operands and its input, less what it cuts off."""
    taint = taint_of(args.operands)
    if any(names_secret(word, invocation.cwd) for word in args.operands):
        taint = join_taint(taint, "secret")
    if invocation.stdin is not None:
        taint = join_taint(taint, invocation.stdin[1])
    for whole in ("processes", "every"):
        if whole in taint.split() and _picks_lines(table, args):
            taint = " ".join(word for word in taint.split() if word != whole)
    if table.name == "awk" and args.operands and _MAKES.search(args.operands[0].text):
        taint = " ".join(word for word in taint.split() if word != "file")  # its own words, around what a file says
    if any(word.text in ENDLESS for word in args.operands):
        taint = join_taint(taint, "endless")
    if "endless" in taint:
        sizes = [size_of(word.text) for _, word in args.options if word is not None]
        if max(sizes, default=table.name == "head") in range(1, VAST):
            taint = taint.replace("endless", "").strip()
    return taint


def _cat(walker: Walker, invocation: Invocation, args: Args) -> Output:
    stdin = invocation.stdin
    if not [w for w in args.operands if w.text != "-"]:
        return stdin if stdin is not None else (None, "")
    taint = "file"
    pieces: list[str | None] = []
    for word in args.operands:
        taint = join_taint(taint, word.taint)
        if names_secret(word, invocation.cwd):
            taint = join_taint(taint, "secret")
        if word.text in ENDLESS:
            taint = join_taint(taint, "endless")
        text, known = walker.files.read(word, invocation.cwd) or (None, "")
        pieces.append(text)
        taint = join_taint(taint, known)
    if None in pieces or args.options:
        return None, taint
    return "".join(piece for piece in pieces if piece), taint.replace("file", "").strip()


def _tee(walker: Walker, invocation: Invocation, args: Args) -> Output:
    output: Output = invocation.stdin if invocation.stdin is not None else (None, "")
    for word in args.operands:
        walker.files.write(word.text, invocation.cwd, output, append=args.has("-a", "--append"))
        if walker.rater.scopes.of(word, invocation.cwd) not in ("null", "remote"):
            judge_left(walker, invocation, word, output[1])
    if walker.outgoing:
        from agent.risk.shell.descriptors import written_to

        written_to(walker, args.operands, output)
    judge_endless(walker, invocation, args.operands, output[1])
    return output


def _which(walker: Walker, invocation: Invocation, args: Args) -> Output:
    return (args.operands[0].text, args.operands[0].taint) if len(args.operands) == 1 else (None, "")


def _yes(walker: Walker, invocation: Invocation, args: Args) -> Output:
    return (" ".join(word.text for word in invocation.words[1:]) or "y") + "\n", "endless"


def _path_part(walker: Walker, invocation: Invocation, args: Args) -> Output:
    if len(args.operands) != 1 or UNKNOWN in args.operands[0].text:
        return None, next((w.taint for w in args.operands if w.taint), "")
    text = args.operands[0].text
    if invocation.words[0].text.endswith("dirname"):
        return (text.rstrip("/").rpartition("/")[0] or ("/" if text.startswith("/") else ".")), ""
    return text.rstrip("/").rpartition("/")[2], ""


def _everywhere(walker: Walker, invocation: Invocation, args: Args) -> Output:
    """Names of files anywhere on the machine, or below the one folder that is named."""
    folder = args.value("-onlyin")
    return f"{folder.text.rstrip('/') if folder is not None else ''}/{UNKNOWN}\n", "found"


def _leads_to(walker: Walker, invocation: Invocation, args: Args) -> Output:
    """The targets of links: only known when it runs, but those below /dev lead to devices."""
    words = args.operands
    devices = [w for w in words if walker.rater.scopes.of(w, invocation.cwd) == "device"]
    taint = join_taint(taint_of(words), "" if devices else "cmd")
    return (f"/dev/{UNKNOWN}\n" if devices else None), taint


def _find(walker: Walker, invocation: Invocation, args: Args) -> Output:
    """Names below the roots: known in front, unknown behind."""
    roots = []
    for word in invocation.words[1:]:
        if word.text[:1] in ("-", "(", "!") and len(word.text) > 0:
            break
        roots.append(word.text)
    from agent.risk.programs.find import found

    names, taint = found(invocation.words[1:], informed=bool(walker.rater.context.facts))
    return "".join(f"{root.rstrip('/') or ''}/{name}\n" for root in roots or ["."] for name in names), taint


_CLASSES = lazily(r"\[[^\]]*\]|\\.|\{[^}]*\}")
_MAKES = lazily(r"""\bprintf?\b[^;}]*"[^"]*[A-Za-z]""")
_OTHERS = lazily(r"""!\s*/[^/]*/|!\s*[=~]\s*(?:/[^/]*/|"[^"]*"|[\w.]+)""")  # conditions of awk for all but some
_PICKS = lazily(r"""[/"~]|==""")  # and for some by their text; how much they use, or their place, bounds little
_OF_USERS = frozenset(("-u", "-U", "-G", "--euid", "--uid", "--group", "-d", "--delimiter"))
_OF_SOME = frozenset(
    ("-P", "--parent", "-t", "--terminal", "-F", "--pidfile", "-s", "--session", "-n", "-o", "--newest", "--oldest")
)
_DEEP = lazily(r"/(?!(?:home|usr|var|etc|dev|proc|opt|srv|lib\w*)/?$)[^/]")
_NARROWS = lazily(r"-\w*[cpi]|\+[dD]|[^-+]")
_BOUNDING = ("-C", "-p", "-q", "-s", "--pid", "--ppid", "--quick-pid", "--sid")


def _processes(walker: Walker, invocation: Invocation, args: Args) -> Output:
    """ps, pgrep and lsof: "processes" where the list is of all of them, or of all of somebody's."""
    name = invocation.words[0].text.rpartition("/")[2]
    if name == "ps":
        return None, "" if args.has(*_BOUNDING) else "processes"
    if name == "pgrep":
        words = invocation.words
        of_some = any(before.text in _OF_SOME for before in words)
        patterns = [word for before, word in pairwise(words) if word.text[:1] != "-" and before.text not in _OF_USERS]
        named = any(_CLASSES.sub("", word.text).strip(".*^$+?") for word in patterns)
        bounded = of_some or (named and not args.has("-v", "--inverse"))
        return None, "" if bounded else "processes"
    if name == "lsof":
        given = [word.text for before, word in pairwise(invocation.words) if before.text != "-u"]
        places = [text for text in given if text[:1] == "/"]
        bounded = all(_DEEP.match(text) for text in places) if places else any(_NARROWS.match(text) for text in given)
        return None, "" if bounded else "processes"
    return None, (invocation.stdin or (None, ""))[1]


def _picks_lines(table: Program, args: Args) -> bool:
    """Tell whether a filter picks some of the lines that it reads."""
    if table.name == "grep" and args.operands and not re.search(r"\w", _CLASSES.sub("", args.operands[0].text)):
        return False  # any number or name fits
    if table.name == "awk":
        text = args.operands[0].text.lstrip() if args.operands else ""
        condition, _, _ = _OTHERS.sub("", text).partition("{")
        return _PICKS.search(condition) is not None
    if table.name == "head":
        return not any(word.text.startswith("+") for word in args.values("-n", "--lines"))
    return (table.name == "grep" and not args.has("-v", "--invert-match")) or (
        table.name in ("fzf", "sed") and args.has("-n")
    )


def _printenv(walker: Walker, invocation: Invocation, args: Args) -> Output:
    """The values of the named variables, or of all."""
    taints = [origin(word.text) for word in args.operands]
    return None, "credential" if any("credential" in taint for taint in taints) else "" if taints else "secret"


def _ls(walker: Walker, invocation: Invocation, args: Args) -> Output:
    everyone = any(absolute(word.text, invocation.cwd) == "/proc" for word in args.operands or [Word(".", 0, 0)])
    return None, "listed processes" if everyone else "listed"


def _bytes_of(decoder: str, text: str) -> bytes:
    import base64  # a hundredth of a first rating, and rarely needed

    return cast("bytes", getattr(base64, decoder)("".join(text.split())))


_OF_FILES = frozenset(("base64", "base32", "xxd", "rev", "decoder", "gzip"))


def _seq(walker: Walker, invocation: Invocation, args: Args) -> Output:
    formed = any(" " in word.text for word in invocation.words[1:])  # `-f 'rm -rf /home/u%g'`
    return (None, "made") if formed else ("1", "")


_SPECIAL: dict[str, Special] = {
    "echo": echo, "printf": printf, "rev": rev, "tr": tr, "decoder": decoder, "gzip": gzip, "cat": _cat,
    "base64": decoding(("-d", "-D", "--decode", "-di"), lambda text: _bytes_of("b64decode", text + "===")),
    "base32": decoding(("-d", "--decode"), lambda text: _bytes_of("b32decode", text)),
    "xxd": decoding(("-r", "--revert"), lambda text: bytes.fromhex(re.sub(r"[^0-9A-Fa-f]", "", text))),
    "tee": _tee, "which": _which, "yes": _yes, "pwd": lambda walker, invocation, args: (invocation.cwd, ""), "seq": _seq,
    "mktemp": lambda *_: ("/tmp/tmp.XXXXXXXX", ""),  # noqa: S108  # a name, not a file
    "path-part": _path_part,
    "find": _find, "everywhere": _everywhere, "leads-to": _leads_to, "ls": _ls, "processes": _processes, "printenv": _printenv,
}  # fmt: skip
