"""Weigh what a simple command's words are evidence of: operands, as a shell gets them, or a sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, Protocol

from msgspec import Struct

from agent.frontends.typed.meanings import (
    ENGLISH,
    MORE_VERBS,
    NATURAL,
    NEED_OPTIONS,
    NOUNS,
    TAKE_NAMES,
    TAKE_PROGRAMS,
    TAKE_TEXT,
    TARGETS,
)  # fmt: skip
from agent.risk.reader.tree import Redirect, WordNode

Kind = Literal["command", "goal", "unsure"]

_PATH_LIKE = re.compile(
    r"[~.]?/|\.{1,2}\Z|.*[\w)\]*]\.[A-Za-z][\w-]{0,9}\Z|.*/|\w+://|[\w.-]+@[\w.-]+|[\w.-]+:[\w./~-]|\w+\.$|\*|:?\d+[:.]\d"
)
_NUMBER = re.compile(r"%?[+-]?\d[\d.,]*[A-Za-z%]?\Z|%\w*\Z|0x[0-9a-f]+\Z")
_BUNDLE = re.compile(r"(?:[cxtruA][fvzjJpkhPOSWCIa]{0,7}|[aefjlmuxw]{1,4})\Z")
_CAPITALS = re.compile(r"[A-Z][A-Z0-9_]+\Z")
_OPTION = re.compile(r"-{1,2}[A-Za-z0-9?]|-\Z|--\Z|\+[%A-Za-z]")
_SETS = re.compile(r"[A-Za-z_][\w.-]*\+?=.*|if=|of=")
_SIZE_ASKED = re.compile(r"\d+(?:\.\d+)?(?:[KMGTkmgt]i?[Bb]?)?\Z")
_BUNDLED = frozenset(("tar", "ps", "ar", "jar", "7z"))
_ADVERB = re.compile(r"[a-z]{4,}ly\Z")
_FEWEST_VERBS = 6
_NEVER_NAMES = frozenset(("the", "a", "an", "all", "in", "of", "and", "to"))
_STATES = frozenset(("up", "down", "on", "off"))


class Meanings(Protocol):
    """Meanings that names have where the line was typed."""

    def is_program(self, name: str) -> bool:
        """A program, builtin, function or alias."""

    def exists(self, path: str) -> bool: ...
    def is_folder(self, path: str) -> bool: ...
    def text(self, path: str) -> str:
        """The beginning of a small text file, "" for none."""

    def nearest(self, name: str) -> tuple[str, ...]:
        """Programs whose names are a slip of the hand away."""


def kind_of(
    name: str,
    words: Sequence[WordNode],
    redirects: Sequence[Redirect],
    around: Meanings,
    *,
    joined: bool,
    question: bool,
) -> Kind:
    """Sort a line with the program `name` in front and `words` behind it. `joined`: other commands of the line that exist stand
    behind an operator.
    """
    if name == "make" and all((word.literal() or "") in TARGETS for word in words):
        return "command"
    if name in TAKE_TEXT and not (question and name not in ("echo", "printf")):
        return "command"
    seen = _operands(name, words, around)
    strong = next((at for at, operand in enumerate(seen) if operand.kind == "strong"), None)
    if strong is None and _is_bundle(name, words):
        strong = 0
    if strong is None and (joined or any(not _asks_size(redirect) for redirect in redirects)):
        strong = len(seen)
    natural = [at for at, operand in enumerate(seen) if operand.kind == "natural"]
    if question and strong is None:
        return "goal"
    if not natural and strong is not None:
        is_clear = strong < len(seen) or name not in ENGLISH or _are_operands(name, seen, around)
        return "command" if is_clear else "unsure"
    if not natural:
        return _plain(name, seen, around)
    if strong is None:
        return _said(name, seen, natural, around)
    return _mixed(name, strong, natural)


class _Operand(Struct, frozen=True):
    """One word behind the program: its text, and what it looks like. An expansion has no text."""

    text: str
    kind: Literal["strong", "natural", "noun", "thing", "plain", "quoted"]


def _operands(name: str, words: Sequence[WordNode], around: Meanings) -> list[_Operand]:
    seen = [_operand(word, around) for word in words]
    for at, operand in enumerate(seen):
        if operand.kind == "natural" and _is_no_sentence(name, seen, at):
            seen[at] = _Operand(operand.text, "thing" if len(operand.text) == 1 else "plain")
    return seen


def _is_no_sentence(name: str, seen: list[_Operand], at: int) -> bool:
    """Tell whether a word that sentences are made of stands where it is a sub-command, a state or a name."""
    text = seen[at].text
    is_last = at == len(seen) - 1
    if at == 0 and any(verb == text or (len(text) > 1 and verb.startswith(f"{text}-")) for verb in first_verbs(name)):
        return is_last or seen[1].kind != "natural"
    if text == "a":
        return is_last or len(seen[at + 1].text) == 1
    return text in _STATES and name not in ENGLISH and (is_last or at == 0)


def _operand(word: WordNode, around: Meanings) -> _Operand:
    text, whole = word.literal(), word.unquoted()
    if whole is None:
        return _Operand("", "strong")
    if _OPTION.match(whole) or _SETS.match(whole):
        return _Operand(whole, "strong")
    if text is None:
        return _Operand(whole, "quoted")
    bare = text.rstrip(",;:!?").lower()
    if (text[-1:] in ",;" or bare in NATURAL or _ADVERB.match(bare)) and text != "A":
        return _Operand(text, "thing" if around.exists(text) and bare not in _NEVER_NAMES else "natural")
    looks = _PATH_LIKE.match(text) or _NUMBER.match(text) or _CAPITALS.match(text) or "*" in text
    if looks or len(text) == 1 or around.exists(text):
        return _Operand(text, "thing")
    return _Operand(text, "noun" if bare in NOUNS else "plain")


def _asks_size(redirect: Redirect) -> bool:
    """Tell whether `> 10M` is no file that is written to."""
    target = redirect.target.literal()
    return redirect.operator in (">", "<") and target is not None and bool(_SIZE_ASKED.match(target))


def _is_bundle(name: str, words: Sequence[WordNode]) -> bool:
    """Tell whether options stand there without a dash: `tar xzf a.tgz`, `ps aux`."""
    first = words[0].literal() if words and name in _BUNDLED else None
    return first is not None and bool(_BUNDLE.match(first)) and (name == "ps" or len(words) > 1)


def _plain(name: str, seen: list[_Operand], around: Meanings) -> Kind:
    """No operators, no options, and no words of a sentence."""
    if _are_operands(name, seen, around):
        return "command"
    if name in ENGLISH or name in TAKE_PROGRAMS:
        return "goal"
    nouns = sum(operand.kind == "noun" for operand in seen)
    verbs = first_verbs(name)
    if nouns and len(seen) > 1 and name not in TAKE_NAMES and not (nouns == 1 and seen[0].kind == "noun" and verbs):
        return "goal"
    if verbs and seen[0].kind == "plain" and not any(verb.startswith(seen[0].text) for verb in verbs):
        return "command" if any(operand.kind == "thing" for operand in seen) else "unsure"
    return "command"


def _are_operands(name: str, seen: list[_Operand], around: Meanings) -> bool:
    """Tell whether all words are such as this program is given."""
    if not seen:
        return True
    texts = [operand.text for operand in seen]
    things = all(operand.kind in ("thing", "quoted", "strong") for operand in seen)
    if name == "make":
        return all(text in TARGETS or _is_target(text, around) for text in texts)
    if name == "find":
        return around.is_folder(texts[0])
    if name in TAKE_PROGRAMS:
        return all(_means_program(text, around) or _NUMBER.match(text) for text in texts)
    if name in NEED_OPTIONS or name == "tar":
        return False
    if name == "zip":
        return things and len(seen) > 1
    if name in ENGLISH:
        verbs = first_verbs(name)
        return things or (name != "kill" and bool(verbs) and texts[0] in verbs and len(texts) < 3)
    return not any(operand.kind in ("noun", "plain") for operand in seen)


def _said(name: str, seen: list[_Operand], natural: list[int], around: Meanings) -> Kind:
    """Words of a sentence, and nothing that only a command line has."""
    if name == "who" and [operand.text for operand in seen] == ["am", "i"]:
        return "command"
    if len(seen) == 1 and name not in ENGLISH and name not in TAKE_PROGRAMS and "/" not in name:
        return "command" if name in TAKE_NAMES else "unsure"
    return "goal"


def _mixed(name: str, strong: int, natural: list[int]) -> Kind:
    """Both. Who writes commands puts the options first; a sentence has more than one such word."""
    if strong < natural[0]:
        return "command" if len(natural) == 1 or name not in ENGLISH else "unsure"
    return "goal" if name in ENGLISH or len(natural) > 1 else "unsure"


def _means_program(text: str, around: Meanings) -> bool:
    from agent.risk.tables.store import program

    return around.is_program(text) or (program(text) is not None and text not in ENGLISH)


def _is_target(text: str, around: Meanings) -> bool:
    for name in ("Makefile", "makefile", "GNUmakefile"):
        content = around.text(name)
        if content:
            return re.search(rf"(?m)^(?:[\w./%-]+ )*{re.escape(text)}(?: [\w./%-]+)* *:(?!=)", content) is not None
    return False


def first_verbs(name: str) -> frozenset[str]:
    """The sub-commands of a program that has some; none for others."""
    from agent.risk.tables.store import program

    known = program(name)
    verbs = {rule.verbs[0] for rules in (known.cases if known else {}).values() for rule in rules if rule.verbs}
    more = MORE_VERBS.get(name, frozenset())
    return more | (verbs - {"*"}) if len(verbs) >= _FEWEST_VERBS else more
