"""Read the heads of log lines before DuckDB sees any: their type, whose they are, and the keys that a question needs of them."""

from __future__ import annotations

from typing import Any

import msgspec

from agent.audit.sql.reading import Wanted

_FEW = 16
"""Up to so many keys are cheaper to copy than the whole lines they are in."""


class Kind(msgspec.Struct, omit_defaults=True, gc=False):
    """What a line is."""

    type: str | None = None


class Head(Kind, omit_defaults=True, gc=False):
    """… and whose it is."""

    session: str | None = None
    goal_id: str | None = None
    command_id: str | None = None


class HeadReader:
    """Reads heads, and where they are few (`narrow`) all keys that are wanted; their values stay the JSON that they are."""

    def __init__(self, wanted: Wanted) -> None:
        self.narrow = len(wanted.keys) <= _FEW
        base: type[Kind] = Head if wanted.firsts or not self.narrow else Kind
        keys = (wanted.keys if self.narrow else wanted.keys & {"time"}) - set(base.__struct_fields__)
        head = msgspec.defstruct(
            "Line",
            [(key, msgspec.Raw | msgspec.UnsetType, msgspec.UNSET) for key in sorted(keys)],
            bases=(base,),
            omit_defaults=True,
            gc=False,
        )
        self._one: Any = msgspec.json.Decoder(head).decode
        self._many: Any = msgspec.json.Decoder(tuple[head]).decode_lines  # type: ignore[valid-type]

    def one(self, line: bytes) -> Any:
        """The head of a line; None where this reader cannot tell, which does not mean that it is no event."""
        try:
            return self._one(line)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return None

    def many(self, block: bytes) -> list[Any] | None:
        """The heads of all lines of a block; None where any of them has to be looked at alone."""
        # Each line in brackets of its own: with a line end within a value, that is no JSON any more.
        bracketed = b"[" + block.removesuffix(b"\n").replace(b"\n", b"]\n[") + b"]"
        try:
            if not block.isascii():
                block.decode()  # what is skipped is not looked at for that
            heads = [head for (head,) in self._many(bracketed)]
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return None
        # A line may close its bracket and open another one: then there are more of them than lines.
        return heads if len(heads) == bracketed.count(b"\n") + 1 else None
