"""Define how each piece of a configuration is written: keys in camelCase, and one that is not known is a mistake."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

ObligationStatus = Literal["pending", "partial", "satisfied", "deferred"]


class ConfigData(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel", omit_defaults=True):
    pass
