"""Make text fit to stand in a prompt: that of others cleaned, and fenced by a mark it cannot forge; ours read from `prompts`."""

from __future__ import annotations

import os
from functools import cache

from agent.text.lazy_pattern import lazily

_FOLDER = os.path.join(os.path.dirname(__file__), "prompts")


_TERMINAL_SEQUENCE = lazily(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x9b[0-?]*[ -/]*[@-~]"
    r"|\x1b[\]PX^_][^\x07\x1b\x9c]{0,4096}(?:\x07|\x1b\\|\x9c)|\x1b[ -/]*[0-~]"
)
_CONTROL = lazily(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_INVISIBLE = lazily(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0"
    "\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_TEMPLATE_TOKEN = lazily(
    r"<[|\uff5c][^\s<>]{1,40}[|\uff5c]>|</?s>|<</?SYS>>|<(?:start|end)_of_turn>|<(?:bos|eos|pad|unk)>"
    r"|</?(?:think|thinking|tool_call|tool_response|data-[0-9a-f]{12})\b|\[/?(?:INST|TOOL_CALLS|TOOL_RESULTS|AVAILABLE_TOOLS)\]"
    r"|(?m:^\[host\])"
)


@cache
def prompt_text(name: str) -> str:
    """The text of `prompts/NAME.md`, without surrounding newlines."""
    with open(os.path.join(_FOLDER, f"{name}.md"), encoding="utf-8") as file:
        return file.read().strip()


def well_formed(text: str) -> str:
    """The text with lone surrogates replaced, so that it can be encoded."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def clean(text: str) -> str:
    """`text` without terminal sequences, with invisible characters made visible and chat-template tokens broken.

    Terminal sequences say nothing to a model; progress lines that overwrite themselves keep their last state; bidi and
    zero-width characters, which hide instructions from people, show as <U+202E>; tokens such as `<|im_start|>`, which some
    servers would take for the start of another message, lose their first character's meaning.
    """
    text = well_formed(text)
    if "\x1b" in text or "\x9b" in text:
        text = _TERMINAL_SEQUENCE.sub("", text)
    if "\r" in text:
        text = "\n".join(map(_last_state, text.split("\n")))
    if not text.isascii() or _CONTROL.search(text):
        text = _CONTROL.sub("", text)
        text = _INVISIBLE.sub(lambda match: f"<U+{ord(match.group()):04X}>", text)
    if "<" in text or "[" in text:
        text = _TEMPLATE_TOKEN.sub(
            lambda match: ("&lt;" if match.group()[0] == "<" else "&#91;") + match.group()[1:], text
        )
    return text


def one_line(text: str, limit: int = 200) -> str:
    """`text` cleaned, on one line, at most `limit` characters."""
    flat = " ".join(clean(text[: 4 * limit]).split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


def data_block(source: str, text: str) -> str:
    """`text` between marks that carry an id which does not occur in it. Equal input gives equal marks."""
    mark = _mark(source, text)
    return f'<data-{mark} source="{_attribute(source)}">\n{text}\n</data-{mark}>'


def _mark(source: str, text: str) -> str:
    import hashlib

    digest = hashlib.blake2b(f"{source}\0{text}".encode("utf-8", "surrogatepass"), digest_size=6)
    while digest.hexdigest() in text:  # somebody found a text that holds its own mark
        digest.update(b"again")
    return digest.hexdigest()


def _attribute(text: str) -> str:
    return one_line(text, 120).replace('"', "'").replace("<", "(").replace(">", ")")


def _last_state(line: str) -> str:
    """What a terminal would show of a line that goes back to its beginning."""
    return line.rstrip("\r").rsplit("\r", 1)[-1]
