"""Hold the person's library: roles, macros and RAGs below one folder."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from agent.library.entries import Entries
from agent.library.macros import Macro, macros_in
from agent.library.rags import Rag, rags_in
from agent.library.roles import Role, roles_in

KINDS = ("role", "macro", "rag")


@dataclass(frozen=True)
class Library:
    """`folder` is the config folder; each kind has a folder in it."""

    folder: str

    @cached_property
    def roles(self) -> Entries[Role]:
        return roles_in(os.path.join(self.folder, "roles"))

    @cached_property
    def macros(self) -> Entries[Macro]:
        return macros_in(os.path.join(self.folder, "macros"))

    @cached_property
    def rags(self) -> Entries[Rag]:
        return rags_in(os.path.join(self.folder, "rags"))

    def of(self, kind: str) -> Entries[Any]:
        """The entries of one of `KINDS`."""
        entries: dict[str, Entries[Any]] = {"role": self.roles, "macro": self.macros, "rag": self.rags}
        return entries[kind]
