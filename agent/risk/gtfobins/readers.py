"""Judge ways out of programs that read, show or convert: small languages of theirs, files written by the way, scripts among formats."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from agent.protocol.decisions import Level
from agent.risk.gtfobins.effects import add_effect
from agent.risk.gtfobins.general import file, runs, shell_text
from agent.risk.reader.words import Invocation, Word
from agent.risk.tables.names import names
from agent.risk.tables.options import split_args
from agent.risk.tables.store import program
from agent.text.lazy_pattern import LazyPattern

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_CODER = LazyPattern(r"(?:-?)([A-Za-z][\w-]*):(.*)", re.S)
_FORMATS = names("imagemagick.formats")
_FILTERS = names("ffmpeg.filters")
_GRAPH_OPTIONS = LazyPattern(r"-(?:vf|af|lavfi|filter(?:_complex)?(?::.*)?)")
_WRITTEN_BY_FILTER = LazyPattern(
    r"(?:metadata=(?:(?!metadata=)[^,;])*?\bfile|stats_file|log_path|\bstats|vidstabdetect=(?:(?!vidstabdetect=)[^,;])*?\bresult"
    r"|signature=(?:(?!signature=)[^,;])*?\bfilename)"
    r"=([^:,;]+)"
)
_QUOTED = LazyPattern(r"'[^']*'|\\.", re.S)


def coders(walker: Walker, invocation: Invocation, word: Word) -> None:
    """`format:file` of ImageMagick: some formats are scripts, delete what they read, fetch, or open windows."""
    for other in invocation.words[1:]:
        text = other.text
        found = _CODER.fullmatch(text)
        odd = found is not None and found[1].lower() not in _FORMATS and not text.startswith("-")
        if odd or (found is not None and found[2][:1] == "@") or text[:1] == "@" or text.lower().endswith(".msl"):
            reason = "reads {targets}, which may be a script, or delete, fetch or write what it names"
            walker.add("run", [other], invocation.place, reason=reason, rule="escape.coder")


def filters(walker: Walker, invocation: Invocation, word: Word) -> None:
    """Filters of ffmpeg: files that they write, plug-ins that they load, and those that are not known."""
    words = invocation.words
    sources = any(other.text == "lavfi" for other in words)
    for index, other in enumerate(words[1:], 1):
        for found in _WRITTEN_BY_FILTER.finditer(other.text):
            name = found[1].strip("'\\")
            if name not in ("-", "/dev/stdout", "/dev/stderr", "pipe"):
                walker.add("write", [other.part(name)], invocation.place, invocation=invocation)
        if other.text.startswith("-/"):  # `-/filter:v FILE`: the option's value stands there
            walker.add("run", words[index + 1 : index + 2], invocation.place, rule="escape.options")
        behind = words[index - 1].text
        if _GRAPH_OPTIONS.fullmatch(behind) or (sources and other.text != "lavfi" and behind in ("-i", "-f", "lavfi")):
            graph(walker, invocation, other)
    if any("vidstabdetect" in other.text and "result=" not in other.text for other in words):
        walker.add("write", [word.part("transforms.trf")], invocation.place, invocation=invocation)


def graph(walker: Walker, invocation: Invocation, word: Word) -> None:
    """One graph of filters: each has to be known."""
    if word.text.startswith("-"):
        return
    for piece in re.split(r"[;,]", _QUOTED.sub("_", word.text)):
        name = re.sub(r"^(?:\s*\[[^\]]*\])*\s*", "", piece)
        name = re.split(r"[=@\[\s]", name, maxsplit=1)[0]
        if name and name not in _FILTERS and not re.fullmatch(r"[\d.)(]+|sws_flags|.*\)", name):
            reason = "uses {targets}, a filter that may load code or read, fetch and write files"
            walker.add(
                "run",
                [word.part(piece.rpartition("file=")[2] or name)],
                invocation.place,
                reason=reason,
                rule="escape.filter",
            )


def expressions(walker: Walker, invocation: Invocation, word: Word) -> None:
    """exiftool's Perl: in `-if`, in filters, and behind `;` in `${TAG;…}` of formats."""
    from agent.risk.inline import code as inline_code

    words = invocation.words
    for other, value in pairwise(words[1:]):
        option, text = other.text.lower(), value.text
        if option in ("-p", "-printformat") and "$" not in text:
            file(walker, invocation, value)
        elif option in ("-p", "-printformat", "-d", "-w", "-echo", "-o", "-tagout"):
            for found in re.finditer(r"\$\{[^};]*;(.*?)\}", text, re.S):
                inline_code.judge(walker, invocation, found[1], "perl", value.taint)
        elif re.fullmatch(r"-if\d*", option) and other.text != "-if":
            inline_code.judge(walker, invocation, text, "perl", value.taint)
            runs(walker, invocation, value)
        elif re.fullmatch(r"-(?:(?:w|textout|tagout|efile)\d*[+!:]*\d*|delete_original!)", option) and option != "-w":
            reason = "changes files, or writes more beside them"
            walker.add("create", [], invocation.place, level=Level.MEDIUM, reason=reason)
        elif option == "-api" and re.match(r"\s*(?:filter|compact|config)", text, re.I):
            runs(walker, invocation, value)


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
            runs(walker, invocation, other)


def jq(walker: Walker, invocation: Invocation, word: Word) -> None:
    """All variables of the environment, which can hold secrets; `system` of newer yq."""
    for other in invocation.words[1:]:
        if _JQ_ENVIRONMENT.search(other.text) and not other.text.startswith("-"):
            walker.add("secret", [], invocation.place, rule="secret.environment")
        if word.text.rpartition("/")[2] == "yq" and re.search(r"\bsystem\(", other.text):
            runs(walker, invocation, other)


def writeout(walker: Walker, invocation: Invocation, word: Word) -> None:
    """curl's `-w '%output{FILE}…'`; a format that is read from a file is not seen."""
    if word.text.startswith("@"):
        reason = "takes from {targets} what curl prints and writes"
        walker.add("run", [word], invocation.place, reason=reason, rule="escape.options")
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


_SCRIPT = re.compile(r"(?:^|,)(?:down)?script=(?!no(?:,|$))([^,]+)")


def interface_scripts(walker: Walker, invocation: Invocation, word: Word) -> None:
    """`-netdev tap,script=FILE`: what a virtual machine's network is set up and taken down by."""
    for other in invocation.words[1:]:
        for found in _SCRIPT.finditer(other.text):
            runs(walker, invocation, other.part(found[1]))
    for found in re.finditer(
        r"\bexec:([^\"\n]+)", (invocation.stdin or ("", ""))[0] or ""
    ):  # `migrate "exec:…"` of its monitor
        shell_text(walker, invocation, word.part(found[1]))


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
        reason = "changes or renames the files that it is given"
        walker.add("modify", [], invocation.place, level=Level.MEDIUM, reason=reason)


def beside(walker: Walker, invocation: Invocation, word: Word) -> None:
    """pdftotext writes beside its one operand unless a second one, `-`, says otherwise."""
    table = program("pdftotext")
    args = split_args(invocation.words[1:], table) if table is not None else None
    if args is not None and len(args.operands) == 1:
        add_effect(walker, invocation, word, "reports")
