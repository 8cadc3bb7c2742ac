"""Each step that changes or drops lines one by one as an expression of sed."""

from __future__ import annotations

import shlex
from collections.abc import Callable

from agent.planner.offline.grammar.intent import Stage
from agent.planner.offline.values import quote_regex, quote_replacement

_SED_CLASS = "[[:space:]]"


def sed_script(stage: Stage) -> str:
    """The sed expression of a step that changes or drops lines one by one; "" for a step that sed does not do."""
    make = _SED.get(stage.op)
    return make(*stage.args) if make else ""


def sed_command(stage: Stage) -> str:
    """sed with the expression of such a step."""
    letters = "-n " if stage.op in _QUIET else "-E " if stage.op in _EXTENDED else ""
    return f"sed {letters}{shlex.quote(sed_script(stage))}"


def _address(text: str) -> str:
    return f"/{quote_regex(text)}/" if text else ""


def _sed_text(text: str) -> str:
    """Text for sed's i and a: a newline in it must not begin a command of its own."""
    return text.replace("\\", "\\\\").replace("\n", "\\\n")


_QUIET = frozenset({"between", "range", "line", "lines"})
_EXTENDED = frozenset({"cutchars_head", "cutchars_tail"})
_SED: dict[str, Callable[..., str]] = {
    "range": lambda a, b: f"{a},{b}p",
    "line": lambda n: f"{n}p",
    "lines": lambda a, b: f"{a}p;{b}p",
    "between": lambda a, b: f"{_address(a) or '1'},{_address(b) or '$'}p",
    "double": lambda: "G",
    "keep_skip": lambda n: "1!d" if n == "1" else f"1,{n}!d",
    "keep_drop": lambda n: "$!d" if n == "1" else "",
    "delblank": lambda: f"/^{_SED_CLASS}*$/d",
    "nocomment": lambda: "/^#/d",
    "plainlines": lambda: "/^#/d;/^$/d",
    "delline": lambda n: f"{n}d",
    "delrange": lambda a, b: f"{a},{b}d",
    "trim": lambda: f"s/^{_SED_CLASS}*//;s/{_SED_CLASS}*$//",
    "ltrim": lambda: f"s/^{_SED_CLASS}*//",
    "rtrim": lambda: f"s/{_SED_CLASS}*$//",
    "nocr": lambda: "s/\\r$//",
    "crlf": lambda: "s/$/\\r/",
    "replace": lambda old, new, flags: f"s/{quote_regex(old)}/{quote_replacement(new)}/{flags}",
    "replaceword": lambda old, new, flags: f"s/\\b{quote_regex(old)}\\b/{quote_replacement(new)}/{flags}",
    "addstart": lambda text: f"s/^/{quote_replacement(text)}/",
    "addend": lambda text: f"s/$/{quote_replacement(text)}/",
    "insert": lambda n, text: f"{n}i\\{_sed_text(text)}",
    "addafter": lambda n, text: f"{n}a\\{_sed_text(text)}",
    "cutchars_head": lambda n: f"s/^.{{1,{n}}}//",
    "cutchars_tail": lambda n: f"s/.{{1,{n}}}$//",
    "cuthead": lambda: "s/^.//",
    "cuttail": lambda: "s/.$//",
    "noext": lambda: "s/\\.[^./]*$//",
    "extonly": lambda: "s/.*\\.//",
}  # fmt: skip
