"""The kept corpus of redaction: secrets in their contexts, personal data, and harmless lines; all values are made up here.

In the files a secret is a pattern: `ghp_{an:36}` stands for that prefix and 36 random letters and digits. So the corpus holds
nothing that anybody could take for a live key, and every run may use other values.
"""

from __future__ import annotations

import json
import random
import re
import uuid
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parents[1] / "unit" / "recording" / "redaction_corpus"

_LOWER = "abcdefghijklmnopqrstuvwxyz"
_DIGITS = "0123456789"
_ALPHABETS = {
    "an": _LOWER + _LOWER.upper() + _DIGITS,
    "AN": _LOWER.upper() + "234567",
    "low": _LOWER + _DIGITS,
    "url": _LOWER + _LOWER.upper() + _DIGITS + "-_",
    "b64": _LOWER + _LOWER.upper() + _DIGITS + "+/",
    "hex": _DIGITS + "abcdef",
    "HEX": _DIGITS + "ABCDEF",
    "d": _DIGITS,
    "pw": _LOWER + _LOWER.upper() + _DIGITS + "!#%*+-.=^_~",
}
WORDS = (
    "harbor",
    "winter",
    "copper",
    "lantern",
    "meadow",
    "violet",
    "orbit",
    "saddle",
    "timber",
    "walnut",
    "cactus",
    "ribbon",
)

# Where a token may stand that is known by its shape alone.
CONTEXTS = (
    "<S>", "export X=<S>", '{"x": "<S>"}', "  x: <S>", "2026-01-02T03:04:05Z INFO request with <S> failed", "+    x = '<S>'",
    "-x=<S>,", "curl https://h/x?y=<S>&z=1", "Error: '<S>' is not valid", '"a\\n<S>\\n"', "/home/u/<S>/file", "x(<S>)",
    "\x1b[31m<S>\x1b[0m", "<td><S></td>", "echo <S> | base64", "[<S>]", "x:<S>;y", "'<S>'", "see <S>.",
)  # fmt: skip


class Case(NamedTuple):
    """`text` holds `secret`, which is of the `kind` that the corpus calls it."""

    kind: str
    secret: str
    text: str


def made(pattern: str, rng: random.Random) -> str:
    """A value of the pattern, in which letters and digits are mixed where both may stand."""

    def part(match: re.Match[str]) -> str:
        name, size = match[1], int(match[2] or 0)
        if name == "uuid":
            return str(uuid.UUID(int=rng.getrandbits(128), version=4))
        if name == "word":
            return rng.choice(WORDS)
        letters = _ALPHABETS[name]
        while True:
            value = "".join(rng.choices(letters, k=size))
            kinds = [set(value) & set(some) for some in (_DIGITS, _LOWER, _LOWER.upper()) if set(letters) & set(some)]
            if size < 4 or (all(kinds) and value[0] not in "-_.+/=%*!#~^" and value[-1] not in "-_.+/=%*!#~^"):
                return value

    return re.sub(r"\{(an|AN|low|url|b64|hex|HEX|d|pw|uuid|word)(?::(\d+))?\}", part, pattern)


def secrets(seed: int = 1, name: str = "secrets") -> list[Case]:
    """Every secret in every context it is to be found in."""
    rng = random.Random(seed)
    cases = []
    for line in (FOLDER / f"{name}.jsonl").read_text().splitlines():
        row = json.loads(line)
        for context in [row["text"]] if "text" in row else CONTEXTS:
            secret = made(row["secret"], rng)
            cases.append(Case(row["kind"], secret, context.replace("<S>", secret)))
    return cases


def survives(secret: str, redacted: str) -> bool:
    """Whether more than a few characters of the secret are left."""
    redacted = re.sub(r"\[redacted:[\w.-]+:[0-9a-f]{4}\]", "", redacted)
    size = min(8, len(secret))
    return any(secret[at : at + size] in redacted for at in range(len(secret) - size + 1))
