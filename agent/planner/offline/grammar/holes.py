"""Read the slots of grammar rules: numbers, columns, separators, permissions, names, texts, paths."""

from __future__ import annotations

import re
from collections.abc import Callable

from agent.planner.offline.grammar.lemmas import LEMMAS
from agent.planner.offline.grammar.tablewords import (
    read_cell,
    read_day,
    read_found,
    read_named_column,
    read_seen,
    read_setting,
)
from agent.planner.offline.paths import looks_like_path, read_dir, read_file, read_pattern_files
from agent.planner.offline.quantities import Found, read_age, read_date, read_number, read_size
from agent.planner.offline.sentences import Sentence
from agent.planner.offline.values import Value, quote_regex, quote_replacement

SEPARATORS = {
    "comma": ",", "commas": ",", ",": ",", "comma-separated": ",", "comma-delimited": ",", "csv": ",",
    "colon": ":", "colons": ":", ":": ":", "semicolon": ";", "semicolons": ";", ";": ";",
    "tab": "\t", "tabs": "\t", "\\t": "\t", "tab-separated": "\t", "tab-delimited": "\t", "tsv": "\t",
    "space": " ", "spaces": " ", "blank": " ", "space-separated": " ", "colon-separated": ":", "colon-delimited": ":",
    "pipe": "|", "pipes": "|", "|": "|", "slash": "/", "slashes": "/", "/": "/", "dash": "-", "dashes": "-",
    "hyphen": "-", "hyphens": "-", "-": "-", "underscore": "_", "underscores": "_", "_": "_", "dot": ".", "dots": ".",
    "period": ".", "equals": "=", "=": "=", "newline": "\n", "newlines": "\n", "\\n": "\n", "nothing": "",
    "semicolon-separated": ";", "pipe-separated": "|", "hash": "#", "@": "@", "at-sign": "@",
}  # fmt: skip
ORDINALS = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
    "tenth": 10,
}  # fmt: skip
_MODE = re.compile(r"[0-7]{3,4}\Z|[ugoa]*[-+=][rwxXst]*(?:,[ugoa]*[-+=][rwxXst]*)*\Z")
_LS_MODE = re.compile(r"[-dl]?([r-][w-][xsS-])([r-][w-][xsS-])([r-][w-][xtT-])\Z")
_USER = re.compile(r"[A-Za-z_][\w.-]*\$?\Z")
_GLOB = re.compile(r"[^/]*[*?\[][^/]*\Z")
_EXTENSION = re.compile(r"\.?[A-Za-z0-9_]{1,10}\Z")
_LEAVES_OUT = frozenset({"except", "lack"})
# Never taken for a name or a text unless quoted.
_NO_NAMES = frozenset([
    "the", "a", "an", "in", "on", "at", "of", "to", "for", "from", "with", "by", "and", "or", "but", "not", "than",
    "then", "that", "which", "whose", "is", "are", "was", "were", "be", "it", "its", "them", "their", "any", "all",
    "each", "every", "either", "both", "as", "if", "into", "only", "also", "under", "inside", "within", "using",
    "where", "who", "this", "those", "these", "do", "does", "did", "can", "could", "we", "you", "i",
])  # fmt: skip


def _number(sentence: Sentence, at: int) -> Found:
    token = sentence.tokens[at]
    if token.low in ORDINALS and token.low != "first" and not token.quoted:
        return 1, Value(text=str(ORDINALS[token.low]), origin=token.raw)
    found = read_number(sentence.tokens, at, sentence.scene.lexicon)
    if found is None and re.fullmatch(r"\d{1,3}(,\d{3})+", token.raw) and not token.quoted:
        return 1, Value(text=token.raw.replace(",", ""), origin=token.raw)
    if found is None and token.low in ("single", "one") and not token.quoted:
        return 1, Value(text="1", origin=token.raw)
    return found


def _ordinal(sentence: Sentence, at: int) -> Found:
    """The place of one thing: "third", "3rd"; "other" is every second."""
    token = sentence.tokens[at]
    if token.quoted:
        return None
    if token.low in ORDINALS:
        return 1, Value(text=str(ORDINALS[token.low]), origin=token.raw)
    match = re.fullmatch(r"(\d{1,6})(?:st|nd|rd|th)", token.low)
    return (1, Value(text=match[1], origin=token.raw)) if match and int(match[1]) > 0 else None


def _column(sentence: Sentence, at: int) -> Found:
    token = sentence.tokens[at]
    named = read_named_column(sentence, at, meant=False)
    if named is not None or token.quoted:
        return named
    if token.low in ORDINALS:
        return 1, Value(text=str(ORDINALS[token.low]), origin=token.raw)
    if token.low in ("last", "final"):
        return 1, Value(text="NF", origin=token.raw)
    if re.fullmatch(r"\$\d{1,2}", token.low):
        return 1, Value(text=token.low[1:], origin=token.raw)
    match = re.fullmatch(r"(\d{1,3})(?:st|nd|rd|th)?", token.low)
    if match and int(match[1]) > 0:
        return 1, Value(text=str(int(match[1])), origin=token.raw)
    found = read_number(sentence.tokens, at, sentence.scene.lexicon)
    return found if found and 0 < int(found[1].text) < 1000 else None


def _separator(sentence: Sentence, at: int) -> Found:
    token = sentence.tokens[at]
    if token.quoted and len(token.raw) <= 3 and token.raw:
        return 1, Value(text=SEPARATORS.get(token.raw, token.raw), origin=token.raw)
    if token.low in SEPARATORS and not token.is_path:
        return 1, Value(text=SEPARATORS[token.low], origin=token.raw)
    return None


def _mode(sentence: Sentence, at: int) -> Found:
    raw = sentence.tokens[at].raw
    if raw in ("read-only", "read-write") or not _MODE.match(raw):
        letters = _LS_MODE.match(raw)
        if letters is None:
            return None
        octal = "".join(str(sum(4 >> i for i, c in enumerate(group) if c not in "-ST")) for group in letters.groups())
        return 1, Value(text=octal, origin=raw)
    return 1, Value(text=raw, origin=raw)


def _user(sentence: Sentence, at: int) -> Found:
    token = sentence.tokens[at]
    fits = _USER.match(token.raw) or re.fullmatch(r"\d{1,9}", token.raw)
    if token.is_path or not fits or (token.low in _NO_NAMES and not token.quoted):
        return None
    return 1, Value(text=token.raw, origin=token.raw)


def text_value(text: str, origin: str = "") -> Value:
    """A text with its forms for regular expressions and replacements."""
    return Value(
        text=text, forms={"regex": quote_regex(text), "replacement": quote_replacement(text)}, origin=origin or text
    )


def _text(sentence: Sentence, at: int) -> Found:
    token = sentence.tokens[at]
    if token.is_path or not token.raw or "\0" in token.raw:
        return None
    if not token.quoted and (token.low in _NO_NAMES or token.raw.startswith("/") or not re.search(r"\w", token.raw)):
        return None
    if not token.quoted and "." in token.raw.strip(".") and sentence.scene.exists(token.raw):
        return None  # a file that is here is no text
    return 1, text_value(token.raw)


def _word(sentence: Sentence, at: int) -> Found:
    """A text that needs no quotes: a word that means nothing to us, or one in capitals."""
    token, lexicon = sentence.tokens[at], sentence.scene.lexicon
    found = _text(sentence, at)
    if found is None or token.quoted:
        return found
    if lexicon.is_plural_extension(token.low):
        return None
    if _number(sentence, at) is not None or token.low in ORDINALS:
        return None
    meant = token.filler or token.weak or lexicon.knows(token.low) or token.low in LEMMAS or token.low in lexicon.kinds
    if looks_like_path(token, sentence.scene) or re.fullmatch(r"[\d.,]+", token.raw):
        return None
    shouted = re.fullmatch(r"[A-Z][A-Z0-9_]+s?", token.raw) is not None and not lexicon.is_plural_extension(token.low)
    if shouted and token.raw.endswith("s"):
        return 1, text_value(token.raw[:-1], token.raw)
    return found if shouted or not meant else None


def _quoted(sentence: Sentence, at: int) -> Found:
    token = sentence.tokens[at]
    return (1, text_value(token.raw)) if token.quoted and token.raw and "\0" not in token.raw else None


def _name(sentence: Sentence, at: int) -> Found:
    token = sentence.tokens[at]
    if token.is_path or not token.raw or "/" in token.raw or "\0" in token.raw:
        return None
    if not token.quoted and (token.low in _NO_NAMES or LEMMAS.get(token.low) in _LEAVES_OUT):
        return None
    return 1, Value(text=token.raw, origin=token.raw)


def _known_extension(word: str) -> bool:
    return re.fullmatch(r"[A-Za-z0-9]{1,6}", word) is not None


def _extension(sentence: Sentence, at: int) -> Found:
    token = sentence.tokens[at]
    raw = token.raw.removeprefix("*")
    no_name = not token.quoted and (token.low in _NO_NAMES or LEMMAS.get(token.low) in _LEAVES_OUT)
    if token.is_path or not _EXTENSION.match(raw) or no_name:
        return None
    if not _known_extension(raw.lstrip(".")) and not raw.startswith("."):
        return None
    return 1, Value(text=raw.lstrip("."), origin=token.raw)


def _glob(sentence: Sentence, at: int) -> Found:
    token = sentence.tokens[at]
    return (1, Value(text=token.raw, origin=token.raw)) if _GLOB.match(token.raw) else None


def _path(sentence: Sentence, at: int) -> Found:
    token = sentence.tokens[at]
    if looks_like_path(token, sentence.scene) and "\0" not in token.raw:
        found = read_file(sentence, at, "")
        return (1, found[1]) if found is not None else None
    return None


def _file(sentence: Sentence, at: int) -> Found:
    """A path, a glob with a folder, or any quoted text: where a rule says that a path comes."""
    token = sentence.tokens[at]
    found = _path(sentence, at)
    if found is not None:
        return found
    if not token.quoted and ("*" in token.raw or "?" in token.raw):
        return read_pattern_files(sentence, at, "in")
    if token.quoted:
        return read_file(sentence, at, "in")
    return None


def _dir(sentence: Sentence, at: int) -> Found:
    """A folder: a path, or a plain word that means nothing else."""
    token = sentence.tokens[at]
    found = _path(sentence, at)
    if found is not None:
        return found
    unknown = not token.filler and not token.weak and not sentence.scene.lexicon.knows(token.low)
    plain = (unknown and token.low not in LEMMAS) or (sentence.scene.exists(token.raw) and not token.filler)
    if token.quoted or (plain and re.match(r"[A-Za-z_][\w.+-]*\Z", token.raw)):
        found = read_dir(sentence, at, "into")
        return (1, found[1]) if found is not None else None
    return None


Reader = Callable[[Sentence, int], Found]
HOLES: dict[str, Reader] = {
    "NUM": _number, "NTH": _ordinal, "COL": _column, "HEAD": read_named_column, "CELL": read_cell,
    "KEY": read_setting, "SEEN": read_seen, "FOUND": read_found, "DAY": read_day, "SEP": _separator, "PERM": _mode,
    "USER": _user, "TEXT": _text, "WORD": _word, "QUOTED": _quoted, "NAME": _name, "EXT": _extension, "GLOB": _glob,
    "PATH": _path, "FILE": _file, "DIR": _dir,
    "SIZE": lambda sentence, at: read_size(sentence.tokens, at, sentence.scene.lexicon),
    "AGE": lambda sentence, at: read_age(sentence.tokens, at, sentence.scene.lexicon),
    "DATE": lambda sentence, at: read_date(sentence.tokens, at, sentence.scene.today),
}  # fmt: skip


def read_hole(kind: str, sentence: Sentence, at: int) -> Found:
    """Read one slot of a rule at a token: how many tokens it takes and its value; None where it does not fit."""
    return HOLES[kind](sentence, at)
