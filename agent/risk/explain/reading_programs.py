"""Say in words what single programs do that only read: `finds files below src`, `sorts them by size`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from agent.risk.explain.layout import one_line
from agent.risk.tables.options import Args

UNKNOWN = "…"
NAMED = 40  # characters of a word that is quoted
_ALTERNATIVES = 3  # names that are told
_COLUMNS = re.compile(r"\{\s*print\s+\$[\w$,\s]+\}\Z")


def _find(args: Args, words: list[str], them: str) -> str:
    size = next((index for index, text in enumerate(words) if text[:1] in ("-", "(", "!")), len(words))
    tests = words[size:]
    values = dict(pairwise(tests))
    noun = {"d": "folders", "l": "links"}.get(values.get("-type", ""), "files")
    names = [value for test, value in pairwise(tests) if test in ("-name", "-iname", "-path")]
    unwanted = "!" in tests or "-not" in tests  # whose names they are is not told
    named = (
        ""
        if unwanted
        else " or ".join(map(_shown, names[:_ALTERNATIVES])) + (" …" if len(names) > _ALTERNATIVES else "")
    )
    what = f"{noun} named {named}" if named else f"empty {noun}" if "-empty" in tests else noun
    if "-size" in tests:
        what += " of a certain size"
    if any(test.startswith(("-mtime", "-mmin", "-newer", "-atime", "-ctime")) for test in tests):
        what += " of a certain age"
    return f"finds {what} below {_places(words[:size])}"


def _grep(args: Args, words: list[str], them: str) -> str:
    patterns = [word.text for word in (*args.values("-e"), *args.values("--regexp"))]
    operands = [word.text for word in args.operands]
    if not patterns:
        patterns, operands = operands[:1], operands[1:]
    if not patterns:
        return ""
    what = _shown(patterns[0]) + (" and more" if len(patterns) > 1 else "")
    names = _names(args)
    deep = names & {"-r", "-R", "--recursive", "--dereference-recursive"}
    if them and not operands:
        if names & {"-c", "--count"}:
            return f"counts those with {what}"
        return f"{'drops' if names & {'-v', '--invert-match'} else 'keeps'} those with {what}"
    where = _places(operands) if operands or deep else ""
    if not where:
        return ""
    if names & {"-l", "--files-with-matches"}:
        return f"lists files in {where} with {what}" if deep else f"lists which of {where} hold {what}"
    return f"searches {where} for {'lines without ' if names & {'-v', '--invert-match'} else ''}{what}"


def _sort(args: Args, words: list[str], them: str) -> str:
    names = _names(args)
    column = next((word.text for word in (*args.values("-k"), *args.values("--key"))), "")
    by = ""
    if names & {"-h", "--human-numeric-sort"}:
        by = " by size"
    elif names & {"-n", "-g", "--numeric-sort"}:
        by = " by number"
    elif names & {"-R", "--random-sort"}:
        return f"shuffles {them or _places(_texts(args))}"
    if column[:1].isdigit():
        by += f" in column {re.match('[0-9]+', column)[0]}"  # type: ignore[index]
    backwards = names & {"-r", "--reverse"}
    order = "" if not backwards else ", the biggest first" if by else " backwards"
    return f"sorts {them or _places(_texts(args))}{by}{order}" + (", each once" if names & {"-u", "--unique"} else "")


def _end(which: str) -> Callable[[Args, list[str], str], str]:
    def tell(args: Args, words: list[str], them: str) -> str:
        texts = _texts(args)
        of = "" if them and not texts else f" of {_places(texts)}"
        if {"-f", "-F", "--follow"} & _names(args):
            return f"follows what is added to {_places(texts)}" if texts else ""
        size = next((word.text for word in (*args.values("-c"), *args.values("--bytes"))), "")
        if size:
            return f"shows the {which} {_shown(size)} bytes{of}"
        given = [word.text for word in (*args.values("-n"), *args.values("--lines"))]
        number = given[0] if given else next((word[1:] for word in words if re.fullmatch("-[0-9]+", word)), "10")
        if number[:1] == "+" and number[1:].isdecimal():
            return f"shows all from line {number[1:]} on{of}"
        if number[:1] == "-" and which == "first":
            return f"shows all but the last {_shown(number[1:])}{of}"
        number = number.lstrip("-")
        if not number.isdecimal():
            return ""
        lines = " lines" if of and number != "1" else " line" if of else ""
        return f"shows the {which}{lines}{of}" if number == "1" else f"shows the {which} {number}{lines}{of}"

    return tell


def _wc(args: Args, words: list[str], them: str) -> str:
    names, texts = _names(args), _texts(args)
    nouns = {"-l": "lines", "--lines": "lines", "-w": "words", "-c": "bytes", "-m": "characters"}
    counted = [noun for option, noun in nouns.items() if option in names]
    if len(counted) != 1:
        return ""
    if them and not texts:
        return "counts them" if counted == ["lines"] else f"counts their {counted[0]}"
    return f"counts the {counted[0]} of {_places(texts)}"


def _uniq(args: Args, words: list[str], them: str) -> str:
    names = _names(args)
    if not them:
        return ""
    if names & {"-c", "--count"}:
        return "counts equal ones"
    return "keeps repeated ones" if names & {"-d", "--repeated"} else "drops repeats"


def _awk(args: Args, words: list[str], them: str) -> str:
    texts = _texts(args)
    if not texts or args.values("-f"):
        return ""
    what = "takes columns" if _COLUMNS.match(texts[0].strip()) else "works line by line"
    if them and len(texts) == 1:
        return f"{what} out of them" if what == "takes columns" else what
    return f"{what} {'out of' if what == 'takes columns' else 'through'} {_places(texts[1:])}" if texts[1:] else ""


def _du(args: Args, words: list[str], them: str) -> str:
    texts = _texts(args)
    return f"adds up the size of {them}" if them and not texts else f"adds up the size of {_places(texts)}"


def _always(text: str) -> Callable[[Args, list[str], str], str]:
    """Of what comes in; what is read from files is told as its table has it."""

    def tell(args: Args, words: list[str], them: str) -> str:
        return text if them else ""

    return tell


def _cat(args: Args, words: list[str], them: str) -> str:
    return f"prints {_places(_texts(args))}" if _texts(args) else ""


def _ls(args: Args, words: list[str], them: str) -> str:
    texts = _texts(args)
    if not texts or "-d" in args.names:
        return ""
    return (
        f"lists {_places(texts)}"
        if any(set("*?[") & set(text) for text in texts)
        else f"lists what is in {_places(texts)}"
    )


def _tar(args: Args, words: list[str], them: str) -> str:
    return "lists what is in the archive"


def _sed(args: Args, words: list[str], them: str) -> str:
    if them:
        return "rewrites the lines"
    files = _texts(args)[0 if args.values("-e") or args.values("-f") else 1 :]
    if not files:
        return ""
    return f"prints some lines of {_places(files)}" if "-n" in args.names else f"prints {_places(files)} with changes"


def _plainly(text: str) -> Callable[[Args, list[str], str], str]:
    """Of programs whose table tells of several."""
    return lambda args, words, them: text


TOLD: dict[str, Callable[[Args, list[str], str], str]] = {
    "find": _find,
    **dict.fromkeys(("grep", "egrep", "fgrep", "rg"), _grep),
    "cat": _cat,
    "ls": _ls,
    "sort": _sort,
    "head": _end("first"),
    "tail": _end("last"),
    "wc": _wc,
    "uniq": _uniq,
    **dict.fromkeys(("awk", "gawk", "mawk"), _awk),
    "du": _du,
    "cut": _always("takes columns out of them"),
    "tr": _always("replaces characters"),
    "sed": _sed,
    "tar": _tar,
    "ps": _plainly("lists processes"),
    "free": _plainly("shows how much memory is free"),
    "uptime": _plainly("shows how long the machine has been up"),
    "uname": _plainly("shows the name of the system"),
    "whoami": _plainly("shows who you are"),
    "id": _plainly("shows who you are, and your groups"),
    **dict.fromkeys(("top", "htop", "btop"), _plainly("shows what the machine is busy with")),
    **dict.fromkeys(("which", "whereis"), _plainly("shows where programs are")),
    "echo": _plainly("prints text"),
    "column": _always("lines them up"),
    "nl": _always("numbers them"),
    "tac": _always("turns their order round"),
    **dict.fromkeys(("less", "more", "most"), _always("shows them page by page")),
}


def _names(args: Args) -> set[str]:
    return set(args.names)


def _texts(args: Args) -> list[str]:
    return [word.text for word in args.operands]


def _shown(text: str) -> str:
    shown = one_line(text, NAMED)
    return f"‘{shown}’" if " " in shown or not shown else shown


def _places(texts: Sequence[str]) -> str:
    known = [text for text in dict.fromkeys(texts) if UNKNOWN not in text]
    if len(known) < len(set(texts)):
        return "what is found"
    if not known or known in (["."], ["./"]):
        return "this folder"
    if len(known) > 2 or sum(map(len, known)) > NAMED:
        return f"{len(known)} files and folders" if len(known) > 1 else one_line(known[0], NAMED)
    return " and ".join(
        "everything here" if text == "*" else "the root folder" if text == "/" else _shown(text) for text in known
    )
