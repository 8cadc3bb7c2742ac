"""Ways out of programs that mostly read: small languages of their own, files that they write by the way, options in files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.protocol.decisions import Level
from agent.risk.gtfobins.general import Kind, runs
from agent.risk.invocations.shown_secrets import environments
from agent.risk.reader.invocation import Invocation
from agent.risk.reader.words import Word
from agent.risk.tables.options import split_args
from agent.risk.tables.store import program

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_MLR_REACHES = re.compile(r"\b(?:system|exec)\s*\(|\b(?:tee|emit\w*|print\w*|dump|edump)\b[^;{}]*[>|]|^-f$")
_JQ_ENVIRONMENT = re.compile(r"\$ENV\b(?!\s*(?:\.\s*\w|\[\s*\"))|(?<![\w.$\"])env\b(?!\s*(?:\.\s*\w|\[|\())")
_JVM_RUNS = re.compile(
    r"-(?:javaagent|agent|Xbootclasspath|Xrun|XX:(?:OnError|OnOutOfMemoryError|Flags|VMOptionsFile))|@", re.S
)
_EXIFTOOL_READS = re.compile(r"-(?:charset|api|lang|listItem|sep|geolocation)\b", re.I)
_GCC_RUNS = re.compile(r"-B(?=.)|-(?:fplugin|specs|fuse-ld|wrapper)")


def mlr(walker: Walker, invocation: Invocation, word: Word) -> None:
    """Programs of `put` and `filter`: `system`, `exec`, and output that is sent elsewhere."""
    texts = [other.text for other in invocation.words]
    if not any(verb in texts for verb in ("put", "filter")):
        return
    start = min(texts.index(verb) for verb in ("put", "filter") if verb in texts)
    for other in invocation.words[start + 1 :]:
        if _MLR_REACHES.search(re.sub(r'"(?:\\.|[^"\\])*"', '""', other.text)):
            reason = "has Miller run or write what its program says"
            walker.add("run", [other], invocation.place, reason=reason, rule="escape.run")


def jq(walker: Walker, invocation: Invocation, word: Word) -> None:
    """All variables of the environment, which can hold secrets; `system` of newer yq."""
    for other in invocation.words[1:]:
        if _JQ_ENVIRONMENT.search(other.text) and not other.text.startswith("-"):
            walker.add("secret", [], invocation.place, rule="secret.environment")
        if word.text.rpartition("/")[2] == "yq" and re.search(r"\bsystem\(", other.text):
            runs(walker, invocation, other)


def splits(walker: Walker, invocation: Invocation, word: Word) -> None:
    walker.add("create", [], invocation.place, level=Level.MEDIUM, reason="writes files that its expression names")


def writeout(walker: Walker, invocation: Invocation, word: Word) -> None:
    """curl's `-w '%output{FILE}…'`; a format that is read from a file is not seen."""
    if word.text.startswith("@"):
        walker.add(
            "run",
            [word],
            invocation.place,
            reason="takes from {targets} what curl prints and writes",
            rule="escape.options",
        )
    for found in re.finditer(r"%output\{(>>)?([^}]*)\}", word.text):
        walker.add("append" if found[1] else "write", [word.part(found[2])], invocation.place, invocation=invocation)


def jvm(walker: Walker, invocation: Invocation, word: Word) -> None:
    if _JVM_RUNS.match(word.text):
        runs(walker, invocation, word)


def perf(walker: Walker, invocation: Invocation, word: Word) -> None:
    """`perf script` runs scripts that it is named."""
    words = invocation.words
    if (
        len(words) > 2
        and words[1].text == "script"
        and any(re.match(r"-\w*s|--script|--dlf|\w", other.text) for other in words[2:])
    ):
        walker.add("run", words[2:], invocation.place, rule="run.script")


def compilers(walker: Walker, invocation: Invocation, word: Word) -> None:
    """Files that a compiler writes beside, also where it only checks or lists; and parts of it that are its caller's."""
    words = invocation.words
    for index, other in enumerate(words[1:], 1):
        text = other.text
        if found := re.match(r"-(?:MF|Wp,-MM?D,|dumpdir)(.*)", text, re.S):
            file = other.part(found[1]) if found[1] else words[index + 1] if index + 1 < len(words) else other
            walker.add("write", [file], invocation.place, invocation=invocation)
        elif text.startswith(("-save-temps", "-fdump-", "-fcallgraph-info", "-fprofile-")) or text in ("-MD", "-MMD"):
            walker.add("create", [], invocation.place, level=Level.MEDIUM, reason="writes more files than its result")
        elif (
            text == "-o"
            and index + 1 < len(words)
            and any(re.match(r"-(?:MM?$|fsyntax-only)", given.text) for given in words)
        ):
            walker.add("write", [words[index + 1]], invocation.place, invocation=invocation)
        elif _GCC_RUNS.match(text):
            runs(walker, invocation, other)


def batch(walker: Walker, invocation: Invocation, word: Word) -> None:
    """`ip -batch FILE`: commands of its own from a file."""
    for index, other in enumerate(invocation.words[1:-1], 1):
        if re.fullmatch(r"-b(?:a(?:t(?:ch?)?)?)?", other.text):
            walker.add("run", [invocation.words[index + 1]], invocation.place, rule="run.script")


def tags(walker: Walker, invocation: Invocation, word: Word) -> None:
    """exiftool's `-TAG=VALUE` and `-TAG<FORMAT` change files, and rename them where the tag is their name."""
    changes = [other for other in invocation.words[1:] if re.match(r"-[A-Za-z][\w:*#-]*[+^-]?<?[=<]", other.text)]
    if [other for other in changes if not _EXIFTOOL_READS.match(other.text)]:
        walker.add(
            "modify", [], invocation.place, level=Level.MEDIUM, reason="changes or renames the files that it is given"
        )


def reports(walker: Walker, invocation: Invocation, word: Word) -> None:
    walker.add("create", [], invocation.place, level=Level.MEDIUM, reason="writes more files than its result")


def beside(walker: Walker, invocation: Invocation, word: Word) -> None:
    """pdftotext writes beside its one operand unless a second one, `-`, says otherwise."""
    table = program("pdftotext")
    args = split_args(invocation.words[1:], table) if table is not None else None
    if args is not None and len(args.operands) == 1:
        reports(walker, invocation, word)


READERS: dict[str, Kind] = {
    "tags": tags,
    "reports": reports,
    "beside": beside,
    "environments": environments,
    "mlr": mlr,
    "jq": jq,
    "splits": splits,
    "writeout": writeout,
    "jvm": jvm,
    "perf": perf,
    "compilers": compilers,
    "batch": batch,
}
