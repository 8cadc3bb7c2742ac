"""Rate `python -m`: modules that only read, that write or serve, that are given code, and all others, which run code."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from agent.protocol.decisions import Level
from agent.risk.invocations.leaks import judge_served
from agent.risk.invocations.open_places import is_open
from agent.risk.invocations.written_code import judge_language
from agent.risk.reader.words import Invocation, Output, Word, several

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_READING_MODULES = frozenset(
    ("this calendar platform site ast dis tokenize pickletools py_compile compileall base64 tabnanny quopri").split()
)

EXPLAINING = frozenset(
    "http.server json.tool zipfile tarfile venv timeit trace cProfile pdb unittest zipapp ensurepip".split()
)


def run_module(walker: Walker, invocation: Invocation, module: Word) -> Invocation | Output:
    """python -m module …"""
    words = invocation.words
    index = next((i for i, word in enumerate(words) if word.text.endswith(module.text) and i > 0), len(words) - 1)
    rest = words[index + 1 :]
    if module.text in ("pip", "pip3", "pipx", "poetry", "uv", "conda", "twine"):
        return invocation.inner([module, *rest], "python -m")
    if module.text in EXPLAINING and [word.text for word in rest] in (["--help"], ["-h"]):
        return None, ""
    if module.text in ("http.server", "SimpleHTTPServer", "smtpd", "pyftpdlib"):
        walker.add("serve", [], invocation.place)
        follows = itertools.pairwise(rest)
        folder = next((after for word, after in follows if word.text in ("-d", "--directory")), None)
        judge_served(walker, invocation, folder or Word(invocation.cwd, *invocation.place))
    elif module.text == "timeit":
        _timed(walker, invocation, rest)
    elif module.text == "json.tool":
        operands = [
            word
            for before, word in itertools.pairwise([module, *rest])
            if (word.text[:1] != "-" or word.text == "-") and not (before.text[:3] == "--i" and "=" not in before.text)
        ]  # only `--indent` takes the next word, also shortened
        walker.add("read", operands[:1], invocation.place, invocation=invocation)
        written = operands[1:2] or [word for word in operands if several(word)]
        if written:
            walker.add("write", written, invocation.place, invocation=invocation)
    elif module.text == "pdb":
        _debugged(walker, invocation, rest)
        walker.add("run", [module], invocation.place, rule="run.module")
    elif module.text in ("pydoc", "inspect"):
        _documented(walker, invocation, module, rest)
    elif module.text in ("zipfile", "tarfile"):
        _archive_module(walker, invocation, module, rest)
    elif module.text in _READING_MODULES:
        written = [after for before, after in itertools.pairwise(rest) if before.text in ("-o", "--output")]
        written += [word.part(word.text[2:]) for word in rest if word.text[:2] == "-o" and len(word.text) > 2]
        if written:
            walker.add("write", written, invocation.place, invocation=invocation)
        walker.add("read", [word for word in rest if word.text[:1] != "-"], invocation.place, invocation=invocation)
    else:
        walker.add("run", [module], invocation.place, rule="run.module")
        _unpacked(walker, invocation, module, rest)
    return None, ""


# These show what is in a file by building it, which calls what it says.
_UNPACKING = ("pickle", "_pickle", "cPickle", "shelve")


def _unpacked(walker: Walker, invocation: Invocation, module: Word, rest: list[Word]) -> None:
    files = [word for word in rest if is_open(walker, word.text)] if module.text in _UNPACKING else []
    if files:
        reason = "builds the objects in {targets}, which others could have put there, and which can run anything"
        walker.add("run", files, invocation.place, level=Level.HIGH, reason=reason, rule="run.unpacked")


def _timed(walker: Walker, invocation: Invocation, rest: list[Word]) -> None:
    """`python -m timeit -s SETUP STATEMENT…`: each is code, also as the value of an option."""
    texts = [re.sub(r"^(?:-[a-z]*?[su]|--\w+=)", "", word.text) for word in rest]
    code = "\n".join(text for text in texts if text[:1] != "-" and text not in ("nsec", "usec", "msec", "sec"))
    judge_language(walker, invocation, code, "python", " ".join(word.taint for word in rest).strip())


def _debugged(walker: Walker, invocation: Invocation, rest: list[Word]) -> None:
    """`python -m pdb -c COMMAND…`: what is no command of the debugger's is Python code."""
    given = [word.text for before, word in itertools.pairwise(rest) if before.text in ("-c", "--command")]
    given += [re.sub(r"^(?:-c|--command=)", "", word.text) for word in rest if re.match(r"-c.|--command=", word.text)]
    code = "\n".join(re.sub(r"^\s*(?:!|p\s|pp\s|interact\b)", "", text) for text in given)
    if code:
        judge_language(walker, invocation, code, "python")


def _documented(walker: Walker, invocation: Invocation, module: Word, rest: list[Word]) -> None:
    """`python -m pydoc NAME` imports what it names, so that only modules that are known to be Python's own are looked at."""
    from agent.risk.inline.python import BUILTINS, MODULES

    for word in rest:
        module_name = word.text.partition(".")[0]
        if module_name not in MODULES and word.text not in BUILTINS and word.text != "-k":
            walker.add("run", [word], invocation.place, rule="run.module")
            return


def _archive_module(walker: Walker, invocation: Invocation, module: Word, rest: list[Word]) -> None:
    """`python -m zipfile -l FILE`, `-e FILE [FOLDER]`, `-c FILE SOURCE…`, and the same of tarfile."""
    action = rest[0].text if rest else ""
    if action in ("-l", "--list", "-t", "--test"):
        walker.add("read", rest[1:], invocation.place, invocation=invocation)
    elif action in ("-c", "--create"):
        walker.add("write", rest[1:2], invocation.place, invocation=invocation)
    elif action in ("-e", "--extract"):
        into = rest[2:3] or [Word(".", *invocation.place)]
        reason = "unpacks into {targets}, replacing files of the same name"
        walker.add("extract", into, invocation.place, reason=reason, invocation=invocation)
    else:
        walker.add("run", [module], invocation.place, rule="run.module")
