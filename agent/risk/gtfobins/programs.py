"""Judge ways out in a language or notation of one program: macros of rpm, TeX, git-like settings, debuggers."""

from __future__ import annotations

import re
from itertools import islice, pairwise
from typing import TYPE_CHECKING

from agent.risk.gtfobins.effects import add_effect
from agent.risk.gtfobins.general import argv, file, library, load, runs, shell_text
from agent.risk.reader.words import Invocation, Word
from agent.text.lazy_pattern import LazyPattern

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker


_APT_MANNER = re.compile(
    r"(?:APT::(?:Install-|Get::|Color|Cache::|Architecture|Default-Release|Sandbox::User|Immediate|Status-Fd)|Acquire::(?:Retries|Check-|Languages|ForceIPv[46]|"
    r"https?::(?:Proxy=|Timeout|No-Cache)|AllowReleaseInfoChange|Queue-Mode|PDiffs|GzipIndexes)|DPkg::(?:Use-Pty|Progress-Fancy|Lock::|Options::=--force-conf)"
    r"|Debug::|quiet|Dpkg::Options::=--force-conf|APT::Periodic)",
    re.I,
)


def hg(walker: Walker, invocation: Invocation, word: Word) -> None:
    """Settings of Mercurial: few are known to say only how, the others may name programs and extensions."""
    name, _, value = word.text.partition("=")
    if not re.match(
        r"(?:ui\.(?:username|verbose|quiet|color|interactive|paginate|merge)|color\.|diff\.|phases\.|progress\.|defaults\.)",
        name,
    ):
        shell_text(walker, invocation, word.part(value.lstrip("!")))
        runs(walker, invocation, word if value else word.part(name))


def svn(walker: Walker, invocation: Invocation, word: Word) -> None:
    """`FILE:SECTION:NAME=VALUE`: tunnels and helpers are commands."""
    name, _, value = word.text.partition("=")
    if re.search(r":tunnels:|:helpers:|-cmd$|-program$|:hooks-env", name):
        shell_text(walker, invocation, word.part(value.lstrip("$")))
    runs(walker, invocation, word)


def apt(walker: Walker, invocation: Invocation, word: Word) -> None:
    found = re.match(r"(?:APT|DPkg|Dir::Bin|Acquire)::[\w:-]*(?:Invoke\w*|Pager|Pkgs|ProxyAutoDetect|Tools|Options|Bin[\w:]*)[:]*=(.*)",
                     word.text, re.I | re.S)  # fmt: skip
    if found or word.text.lower().startswith("dir::bin"):
        shell_text(walker, invocation, word.part(word.text.partition("=")[2]))
    elif not _APT_MANNER.match(word.text):
        runs(walker, invocation, word)


def ssh(walker: Walker, invocation: Invocation, word: Word) -> None:
    """`-o ProxyCommand=…` and the like, for the programs whose handlers do not look at them."""
    if re.match(r"\s*(?:Include|Match)[\s=]", word.text, re.I):
        runs(walker, invocation, word)
    found = re.match(
        r"\s*(?:ProxyCommand|LocalCommand|KnownHostsCommand|ssh_command|PKCS11Provider|SecurityKeyProvider|XAuthLocation)[\s=]+(.*)",
        word.text,
        re.I | re.S,
    )
    if found and found.group(1).strip().lower() != "none":
        shell_text(walker, invocation, word.part(found.group(1).lstrip(";& ")))


def unixexec(walker: Walker, invocation: Invocation, word: Word) -> None:
    fields = [part.partition("=")[2] for part in word.text.split(",")]
    words = [word.part(field) for field in fields if field]
    if words:
        walker.dispatch(invocation.inner(words, "busctl"))
        runs(walker, invocation, word)


def rpm(walker: Walker, invocation: Invocation, word: Word) -> None:
    """Macros: `%(command)` and `%{lua:code}`."""
    from agent.risk.inline import code as inline_code

    for found in re.finditer(r"%\((.*)\)|%\{lua:(.*)\}", word.text, re.S):
        if found.group(1):
            shell_text(walker, invocation, word.part(found.group(1)))
        elif found.group(2):
            inline_code.judge(walker, invocation, found.group(2), "lua", word.taint)


_DIRECTIVE = re.compile(r"(?m)^[.'][ \t]*(?:sy|pso|pi|open|opena)[ \t]+(.+)")


def directives(walker: Walker, invocation: Invocation, word: Word) -> None:
    """Requests of roff in the text on standard input that run a command where `-U` allows them: `.sy`, `.pso`."""
    for found in _DIRECTIVE.finditer((invocation.stdin or ("", ""))[0] or ""):
        shell_text(walker, invocation, word.part(found[1]))


def tex(walker: Walker, invocation: Invocation, word: Word) -> None:
    """TeX on the command line: \\write18, \\input|, \\directlua, and what allows them."""
    from agent.risk.inline import code as inline_code

    for other in invocation.words[1:]:
        if re.fullmatch(r"--?(?:shell-escape|enable-write18|shell-restricted=no)", other.text):
            reason = "lets the document run any command"
            walker.add("run", [other], invocation.place, reason=reason, rule="escape.document")
    read = (invocation.stdin or ("", ""))[0] or ""
    for given in (*invocation.words[1:], *([word.part(read)] if read else [])):
        other = given.part(_with_definitions(given.text)) if "\\def" in given.text else given
        for found in re.finditer(
            r"\\(?:write18|ShellEscape)\s*\{([^}]*)(?:\}|\Z)|\\(?:input|include|openin[^\s={]{0,60})[\s={]*\"?\|\s*\"?([^\"}]*)|psfile=[\"'`]+([^\"']*)",
            other.text,
        ):
            shell_text(walker, invocation, other.part(next(group for group in found.groups() if group is not None)))
        for found in re.finditer(r"\\directlua\s*\{(.*)\}", other.text, re.S):
            inline_code.judge(walker, invocation, found.group(1), "lua", other.taint)


_LONGEST = 100_000  # characters that short macros may make of a text


def _with_definitions(text: str) -> str:
    """The text with short macros that it defines written out."""
    for found in islice(re.finditer(r"\\def\s*(\\[A-Za-z]+)\s*\{([^{}]{0,500})\}", text), 20):
        written = found[2].replace("\\", r"\\")
        used = re.sub(rf"{re.escape(found[1])}(?![A-Za-z])", written, text[found.end() :])
        if len(used) > _LONGEST:
            break
        text = text[: found.end()] + used
    return text


def cmake(walker: Walker, invocation: Invocation, word: Word) -> None:
    """Definitions that name a program, or a file of code, which configuring runs: `-DCMAKE_C_COMPILER_LAUNCHER=…`."""
    for before, other in pairwise(invocation.words):
        found = _CMAKE_RUNS.fullmatch(other.text if before.text != "-D" else f"-D{other.text}")
        if found:
            pieces = [other.part(piece) for piece in found[1].split(";") if piece]
            walker.dispatch(invocation.inner(pieces, "cmake")) if len(pieces) > 1 else argv(
                walker, invocation, pieces[0]
            )


_CMAKE_RUNS = LazyPattern(
    r"-D\w*(?:LAUNCHER|RULE_LAUNCH_\w+|COMPILER|LINKER|TOOLCHAIN_FILE|EXECUTABLE|PROGRAM|EMULATOR|_INCLUDE\w*|CPPCHECK|CLANG_TIDY)(?::\w+)?=(.+)"
)


def nse(walker: Walker, invocation: Invocation, word: Word) -> None:
    if re.search(r"[/$\0]|\.nse\b|tmp", word.text):
        load(walker, invocation, word)
        file(walker, invocation, word)
    written = walker.files.read(word, invocation.cwd)
    if written is not None:
        from agent.risk.inline import code as inline_code

        inline_code.judge(walker, invocation, written[0] or "", "lua", written[1])
    if "exec" in word.text or "http-put" in word.text:
        walker.add("send", [word], invocation.place)


def wireshark(walker: Walker, invocation: Invocation, word: Word) -> None:
    if word.text.startswith("lua_script"):
        file(walker, invocation, word.part(word.text.partition(":")[2]))


def run_parts(walker: Walker, invocation: Invocation, word: Word) -> None:
    listed = (after for before, after in pairwise(invocation.words) if before.text not in ("-a", "--arg", "--regex"))
    if any(other.text in ("--list", "--test") for other in listed):
        return
    if any("regex" in other.text for other in invocation.words) or any(
        walker.rater.scopes.of(other, invocation.cwd) != "system" for other in invocation.words[-1:]
    ):
        runs(walker, invocation, invocation.words[-1])
    if any(re.search(r"\b(?:ba|da|z|k)?sh\b", other.text) for other in invocation.words[1:]):
        add_effect(walker, invocation, word, "shell")


def service(walker: Walker, invocation: Invocation, word: Word) -> None:
    """`service ../../bin/sh`: a name with a slash leaves the folder of services."""
    for other in invocation.words[1:2]:
        if "/" in other.text:
            path = other.part("/" + other.text.rpartition("..")[2].lstrip("/")) if ".." in other.text else other
            walker.dispatch(invocation.inner([path, *invocation.words[2:]], "service"))
            runs(walker, invocation, other)


def capsh(walker: Walker, invocation: Invocation, word: Word) -> None:
    """`capsh … -- words` gives the words to a shell."""
    texts = [other.text for other in invocation.words]
    cut = next((texts.index(mark) for mark in ("--", "==") if mark in texts), -1)
    if cut < 0:
        return
    if cut + 1 < len(texts):
        walker.dispatch(invocation.inner([word.part("bash"), *invocation.words[cut + 1 :]], "capsh"))
    else:
        walker.add("elevate-shell", [], invocation.place, reason="opens a shell with the rights it was told to keep")


def installs(walker: Walker, invocation: Invocation, word: Word) -> None:
    asks = re.compile(r"-[ACDJLOVXahlrv]$|--(?:info|look|version|help|details)")
    if any(not other.text.startswith("-") for other in invocation.words[1:]) and not any(
        asks.match(other.text) for other in invocation.words[1:]
    ):
        walker.add("package-install", invocation.words[1:], invocation.place)


def module(walker: Walker, invocation: Invocation, word: Word) -> None:
    for found in re.finditer(r"load_module\s+([^;\s]+)", word.text):
        library(walker, invocation, word.part(found.group(1)))


def setting(walker: Walker, invocation: Invocation, word: Word) -> None:
    name, _, value = word.text.partition("=")
    if name in ("extension", "zend_extension"):
        library(walker, invocation, word.part(value))
    elif name in ("auto_prepend_file", "auto_append_file") and value:
        load(walker, invocation, word.part(value))


def form(walker: Walker, invocation: Invocation, word: Word) -> None:
    """`json_pp -f eval`: takes its input for Perl."""
    if word.text == "eval":
        runs(walker, invocation, word)
