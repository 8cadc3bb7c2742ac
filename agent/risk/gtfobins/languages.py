"""Judge ways out in the little languages of single programs, such as keys of fzf: what is known to be harmless is low."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.risk.gtfobins.general import file, runs, shell_text
from agent.risk.reader.words import Invocation, Word
from agent.text.lazy_pattern import LazyPattern

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_KEYS = LazyPattern(r"(?:[^,:+]+|[,:+])(?:,(?:[^,:+]+))*:")
_ACTION = LazyPattern(
    r"([a-z][a-z-]*)(?:\((.*?)\)(?=[+,]|$)|\[(.*?)\](?=[+,]|$)|\{(.*?)\}(?=[+,]|$)|<(.*?)>(?=[+,]|$)"
    r"|([~!@#$%^&*;/|])(.*?)\6(?=[+,]|$)|:(.*)$)?",
    re.S,
)
_ON_SCREEN = LazyPattern(
    r"change-(?:prompt|header|query|preview-window|preview-label|border-label|list-label|input-label|header-label|ghost|pointer|nth|with-nth|multi)"
    r"|pos|put|print|search|(?:un|re|toggle-)bind"
)
_COMMANDS = LazyPattern(r"execute(?:-silent|-multi)?|reload(?:-sync)?|become|preview|change-preview")


def bind(walker: Walker, invocation: Invocation, word: Word) -> None:
    """Keys and events of fzf with what they do; what cannot be read as that may be anything."""
    text = word.text
    while text:
        keys = _KEYS.match(text)
        if keys is None:
            return runs(walker, invocation, word)
        text = "+" + text[keys.end() :]
        while text[:1] == "+":
            action = _ACTION.match(text[1:])
            if action is None:
                return runs(walker, invocation, word)
            name, _, *_ = action.groups()
            given = next((group for index, group in enumerate(action.groups()[1:], 2) if group and index != 6), "")
            if given and _COMMANDS.fullmatch(name):
                walker.script(given, invocation.place, invocation)
            elif given and not _ON_SCREEN.fullmatch(name):
                runs(walker, invocation, word)
            text = text[1 + action.end() :]
        if text and text[0] != ",":
            return runs(walker, invocation, word)
        text = text[1:]
    return None


def replacements(walker: Walker, invocation: Invocation, word: Word) -> None:
    """Perl of parallel's `{= … =}`, which may be several words."""
    from agent.risk.inline import code as inline_code

    text = " ".join(other.text for other in invocation.words[1:])
    for found in re.finditer(r"\{=(.*?)=\}", text, re.S):
        inline_code.judge(walker, invocation, found[1], "perl", "")
    if text.count("{=") > len(re.findall(r"\{=.*?=\}", text, re.S)):
        runs(walker, invocation, word)


def formats(walker: Walker, invocation: Invocation, word: Word) -> None:
    """tmux: `#(command)` in formats, files of commands for `source-file`, and what follows behind `;`."""
    words = invocation.words
    for index, other in enumerate(words[1:], 1):
        for found in re.finditer(r"#\((.*?)(?:\)|$)", other.text, re.S):
            shell_text(walker, invocation, other.part(found[1]))
        if len(other.text) > 1 and "source-file".startswith(other.text) and index + 1 < len(words):
            file(walker, invocation, words[-1])
        if other.text == ";" and index + 1 < len(words):
            walker.dispatch(invocation.inner([word, *words[index + 1 :]], "tmux"))
            break


def wget(walker: Walker, invocation: Invocation, word: Word) -> None:
    """`wget -e NAME=VALUE`: any setting, of which few are known to say only how."""
    name = re.sub(r"[-_\s]", "", word.text.partition("=")[0].lower())
    if name not in ("robots", "timeout", "tries", "quiet", "verbose", "useragent", "wait", "httpproxy", "httpsproxy",
                    "useproxy", "checkcertificate", "contentdisposition", "followftp", "httpkeepalive"):  # fmt: skip
        runs(walker, invocation, word)


def interpolated(walker: Walker, invocation: Invocation, word: Word) -> None:
    """ack's `--output`: a text of Perl, in which `@{[…]}` is code."""
    if not re.fullmatch(r"(?:[^$@\\\0]|\$[\d&`'+_.fl]|\\.)*", word.text, re.S):
        runs(walker, invocation, word)


def documented(walker: Walker, invocation: Invocation, word: Word) -> None:
    """pydoc imports what it describes, from the folder as well."""
    import sys

    for other in invocation.words[1:]:
        text = other.text
        if not text.startswith("-") and text.partition(".")[0] not in sys.stdlib_module_names and text != "modules":
            import builtins
            import keyword

            if not (hasattr(builtins, text.partition(".")[0]) or keyword.iskeyword(text) or text.isupper()):
                runs(walker, invocation, other)


def jj(walker: Walker, invocation: Invocation, word: Word) -> None:
    if not re.match(
        r"(?:ui\.(?:color|paginate|graph[\w.]*|log[\w-]*|quiet)|user\.|revsets?\.|templates?\.|revset-aliases)",
        word.text,
    ):
        runs(walker, invocation, word)


def connection(walker: Walker, invocation: Invocation, word: Word) -> None:
    """rclone's `:sftp,ssh=CMD:`: settings within the name of a place."""
    for other in invocation.words[1:]:
        if found := re.search(r"[,:]ssh=([^,:]*)", other.text):
            shell_text(walker, invocation, other.part(found[1].strip("'\"")))


def tape(walker: Walker, invocation: Invocation, word: Word) -> None:
    """`host:archive` of tar and cpio is reached by rsh or ssh."""
    texts = [other.text for other in invocation.words[1:]]
    if "--force-local" not in texts:
        for other in invocation.words[1:]:
            if re.fullmatch(r"[\w.@-]*\w:[^:\\]*", other.text) and not other.text.startswith("-"):
                walker.add("remote-shell", [other], invocation.place, reason="reaches {targets} on another machine")


def gvpr(walker: Walker, invocation: Invocation, word: Word) -> None:
    """gvpr: a program like awk's, whose `system` and files are the machine's."""
    for other in invocation.words[1:]:
        if re.search(r"\b(?:system|openF|writeF|query|exec)\b", other.text) or not other.known:
            runs(walker, invocation, other)


def queries(walker: Walker, invocation: Invocation, word: Word) -> None:
    """fx: behind the file stand paths, or functions of JavaScript."""
    from agent.risk.inline import code as inline_code

    for other in invocation.words[2:]:
        if not re.fullmatch(r"[.@?\w\[\]'\"-]*", other.text):
            inline_code.judge(walker, invocation, other.text, "javascript", other.taint)
            runs(walker, invocation, other)
