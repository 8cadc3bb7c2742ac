"""Write fish as bash, as far as that is needed to read it: blocks that end in `end`, substitutions `(…)`, `and`, `or`, `not`."""

from __future__ import annotations

import re

from agent.text.lazy_pattern import lazily

_TOKENS = lazily(
    r"""(?P<quoted>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\\.)|(?P<open>\$?\()|(?P<end>[;\n])|(?P<joins>&&|\|\||[|&])|(?P<blank>[ \t]+)"""
    r"""|(?P<word>[^\s;|&()'"\\#$<>]+(?=[\s;|&)<>]|\Z))|(?P<other>(?<![^\s;|&(])\#[^\n]*|[^\s;|&()'"\\#$<>]+|.)""",
    re.S,
)
_OPENS = {"if": ("if", "; then : ;", "fi"), "while": ("while", "; do : ;", "done"), "for": ("for", "; do : ;", "done"),
          "switch": ("case", " in\n", "esac"), "begin": ("{ : ;", "", "}"), "function": ("", "() { : ;", "}")}  # fmt: skip
_SET = lazily(
    r"""(?P<before>(?:^|[;\n|&{]|\bthen : ;|\bdo : ;)[ \t]*)set(?P<options>(?:[ \t]+-[a-zA-Z-]+)*)[ \t]+(?P<name>[A-Za-z_]\w*)"""
    r"""(?P<values>(?:[ \t]+(?:'[^']*'|"[^"]*"|[^\s;|&'"()]+)+)+)(?=[ \t]*(?:[;\n|&}]|\Z))"""
)
_DROPPED = {"and": "", "or": "", "not": "!"}


def as_bash(text: str) -> str:
    """The text with bash's words for fish's; only with its substitutions where the blocks do not fit together."""
    block = _Block()
    for found in _TOKENS.finditer(text):
        block.take(found.lastgroup or "", found[0])
    if block.open or block.broken:
        return _TOKENS.sub(lambda found: "$(" if found["open"] else found[0], text)
    return _SET.sub(_assigned, "".join(block.written))


def _assigned(found: re.Match[str]) -> str:
    """`set -gx NAME VALUE`, and several values joined as in a path; what takes variables away stays as it is."""
    options = found["options"].replace("--export", "x")
    if "e" in options or "q" in options:
        return found[0]
    exports = "export " if "x" in options else ""
    return f"{found['before']}{exports}{found['name']}={':'.join(found['values'].split())}"


class _Block:
    """The text that was read, and the open blocks: for each its last word in bash."""

    def __init__(self) -> None:
        self.written: list[str] = []
        self.open: list[str] = []
        self.broken = False
        self.starts = True  # a command begins here
        self.behind = ""  # what bash wants behind the head of a block
        self.head: list[str] | None = None  # words of `case` or `function`
        self.ended = True  # what is written ends in `;`

    def take(self, kind: str, text: str) -> None:
        if kind == "end":
            self._end(text)
        elif kind == "word" and self.starts and (text in _OPENS or text in _DROPPED or text in ("else", "case", "end")):
            self._keyword(text)
        elif self.head is not None:
            if kind != "blank":
                self.head.append(text)
        else:
            self.ended &= kind == "blank"
            self.starts = kind in ("open", "joins") or (kind == "blank" and self.starts)
            self.written.append("$(" if kind == "open" else text.replace("\\'", "'\\''") if text[:1] == "'" else text)

    def _end(self, text: str) -> None:
        if self.head is not None:
            behind, words = self.behind, self.head
            self.written.append(("|".join(words) if behind[0] == ")" else words[0] if words else "_") + behind)
        elif self.behind:
            self.written.append(self.behind)
        elif not self.ended:
            self.written.append(text)
        self.head, self.behind, self.starts, self.ended = None, "", True, True

    def _keyword(self, text: str) -> None:
        last = self.open[-1] if self.open else ""
        if text in _DROPPED:
            self.written.append(_DROPPED[text])
        elif text == "else":
            self.written.append("else : ;")
        elif text == "if" and "".join(self.written[-2:]).strip() == "else : ;":
            self.written[-2:] = ["elif"]
            self.behind, self.ended = "; then : ;", False
        elif text == "case":
            self.broken |= last not in ("esac", ";; esac")
            self.written.append(";;\n" if last == ";; esac" else "")
            self.open[-1:] = [";; esac"]
            self.head, self.behind, self.starts = [], ") : ;", False
        elif text == "end":
            self.broken |= not self.open
            self.written.append(self.open.pop() if self.open else "")
            self.starts = self.ended = False
        else:
            first, self.behind, last = _OPENS[text]
            self.open.append(last)
            self.written.append(first)
            self.head = [] if text == "function" else None
            self.starts = text in ("if", "while", "begin")
            self.ended = text == "begin"
