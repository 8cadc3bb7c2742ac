"""Explain each word of one program: options with their values, sub-commands, operands and their roles."""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct

from agent.protocol.decisions import Effect
from agent.risk.explain.roles import place_phrase, role_phrase
from agent.risk.paths.scopes import Scopes
from agent.risk.reader.words import Word
from agent.risk.tables.help import Help
from agent.risk.tables.options import Args, choose_case, operand_roles, split_args
from agent.risk.tables.store import Program, level_rows

_GENERAL = {
    "--help": "shows how it is used", "--version": "shows its version", "--dry-run": "only shows what would be done",
    "--verbose": "says more", "--quiet": "says less", "--silent": "says less",
}  # fmt: skip
_UNTOLD = "not described here"
_VERB = re.compile(r"[a-z][a-z0-9:_-]*")
_SIGNS = {"!": "not", "(": "begins a group", ")": "ends a group", ";": "ends what is run", "+": "as many names at once as fit",
          "=": "same text", "==": "same text", "!=": "another text", "]": ""}  # fmt: skip
_EXEC = frozenset(("-exec", "-execdir", "-ok", "-okdir"))
# Words of find that no value follows.
_ALONE = frozenset(
    "-print -print0 -delete -empty -ls -prune -depth -d -xdev -mount -not -o -a -and -or -executable -readable "
    "-writable -nouser -nogroup -daystart -follow -quit -true -false -noleaf -ignore_readdir_race -H -L -P".split()
)


class Told(Struct):
    """A meaning of the words at `first` up to `last` (both counted without the program's name).

    `text` where it is not just the words: one option out of a cluster.
    """

    first: int
    last: int
    meaning: str
    text: str = ""
    last_of_word: bool = True


class WordReader:
    """Reads the words of a program (without its name) by its table. `hidden`: words that are explained elsewhere."""

    def __init__(
        self,
        words: list[str],
        hidden: frozenset[int],
        table: Program | None,
        told: Help,
        *,
        effects: list[tuple[str, Effect]],
        scopes: Scopes,
        cwd: str,
        remote: bool,
        facts: Mapping[str, tuple[str, ...]],
    ) -> None:
        self.table = table or Program(name="")
        self.known = table is not None
        self.told = told
        self.effects = effects
        self.scopes = scopes
        self.cwd = cwd
        self.remote = remote
        self.facts = facts
        self.hidden = hidden
        self.words = [
            Word(text, index, index + 1, glob=any(char in text for char in "*?[")) for index, text in enumerate(words)
        ]
        self.args: Args = split_args(self.words, self.table)
        self.verbs: tuple[str, ...] = ()

    def read(self) -> list[Told]:
        """In the order of the words."""
        if self.table.style == "none" or self.table.name == "find":
            return self._expression()
        operands = {id(word) for word in self.args.operands}
        values = {id(word) for _, word in self.args.options if word is not None}
        result = self._sub_command()
        covered = {index for told in result for index in range(told.first, told.last)}
        roles = self._roles(len(covered))
        index = 0
        while index < len(self.words):
            word = self.words[index]
            index += 1
            if index - 1 in covered or index - 1 in self.hidden:
                continue
            if id(word) in operands:
                result.append(Told(index - 1, index, self._operand(word, roles.get(word.start, ""))))
            elif word.text == "--":
                meaning = self.told.option("--", self.verbs) or "what follows are no options"
                result.append(Told(index - 1, index, meaning))
            elif id(word) not in values:
                with_value = index < len(self.words) and id(self.words[index]) in values
                result.extend(self._option(word, self.words[index] if with_value else None))
        result.sort(key=lambda told: told.first)
        return result

    def _expression(self) -> list[Told]:
        """Words that are no options in the usual sense: find's tests, dd's `if=`, test's operators."""
        result: list[Told] = []
        roots = self.table.name == "find"
        index = 0
        while index < len(self.words):
            word = self.words[index]
            text = word.text
            index += 1
            if index - 1 in self.hidden:
                continue
            roots = roots and text[:1] not in ("-", "(", "!", ")")
            name, equals, value = text.partition("=")
            meaning = self.told.option(text)
            if roots:
                result.append(
                    Told(index - 1, index, ", ".join(filter(None, ("is searched", self._place(word, "read")))))
                )
            elif self.table.name == "find" and text[:1] == "-" and text not in _ALONE and index < len(self.words):
                with_value = text not in _EXEC and index not in self.hidden
                result.append(Told(index - 1, index + with_value, meaning or _UNTOLD))
                index += with_value
            elif equals and (meaning or self.told.option(name)):
                place = self._place(word.part(value), {"of": "write", "if": "read"}.get(name, ""))
                result.append(
                    Told(index - 1, index, ", ".join(filter(None, (meaning or self.told.option(name), place))))
                )
            else:
                result.append(Told(index - 1, index, meaning or _SIGNS.get(text, "")))
        return result

    # --- options ---

    def _option(self, word: Word, value: Word | None) -> list[Told]:
        """An option word: one row for each option in it, the last with the value that stands behind it."""
        first, last = word.start, word.end if value is None else value.end
        if word.text[1:].isdecimal() and not self.told.option(word.text[:2], self.verbs):
            return [Told(first, last, self._meaning(word.text, None))]
        found = split_args([word] if value is None else [word, value], self.table).options
        if len(found) > 1 and self.told.option(word.text, self.verbs):
            return [Told(first, last, self._meaning(word.text, found[-1][1]))]  # `-Wall` is one option
        if len(found) < 2:
            name, given = found[0] if found else (word.text, None)
            letters = [f"{word.text[0]}{letter}" for letter in word.text[1:]]
            if (
                letters
                and not self.told.option(name, self.verbs)
                and all(self.told.option(one, self.verbs) for one in letters)
            ):
                found = [(one, None) for one in letters]  # a cluster, where options are long elsewhere
            else:
                exact = word.text.partition("=")[0]
                name = exact if self.told.option(exact, self.verbs) else name  # no abbreviation of another one
                return [Told(first, last, self._meaning(name, given))]
        found = self._with_attached(word, found)
        if all(self._meaning(name, given) in ("", _UNTOLD) for name, given in found):
            return [Told(first, last, _UNTOLD if self.known else "")]
        rows: list[Told] = []
        for name, given in found:
            text = name
            if given is not None:
                text = f"{name} {given.text}" if given is value else name + given.text
            rows.append(Told(first, last, self._meaning(name, given), text, last_of_word=len(rows) + 1 == len(found)))
        return rows

    def _with_attached(self, word: Word, found: list[tuple[str, Word | None]]) -> list[tuple[str, Word | None]]:
        """`-Ei.bak`, `-O2`: no option is called `.` or `2`, so from there on it is what the letter before is given."""
        for index in range(1, len(found)):
            name = found[index][0]
            if not name[1:].isalpha() and self._meaning(name, found[index][1]) in (
                "",
                _UNTOLD,
                f"the number {name[1:]}",
            ):
                attached = word.part(word.text[index + 1 :])
                return [*found[: index - 1], (found[index - 1][0], attached)]
        return found

    def _meaning(self, name: str, value: Word | None) -> str:
        table = self.table
        meaning = self.told.option(name, self.verbs) or _GENERAL.get(name, "")
        if not meaning and name[1:].isdecimal():
            meaning = f"the number {name[1:]}"
        if not meaning and name in table.recursive:
            meaning = "with everything below"
        if not meaning and name in table.dry and "dry" in name:
            meaning = "only shows what would be done"
        if not meaning and name in table.script:
            meaning = "runs this text"
        role = table.roles.get(name, "")
        if not meaning and role and value is not None:
            return self._operand(value, role)
        if role and value is not None:
            place = self._place(value, role)
            return f"{meaning} ({place})" if place else meaning
        return meaning or (_UNTOLD if self.known else "")

    # --- sub-commands and operands ---

    def _sub_command(self) -> list[Told]:
        operands = [word for word in self.args.operands if word.start not in self.hidden]
        if self.table.name == "tar" and operands and operands[0].start == 0 and operands[0].text.isalpha():
            letters = operands[0].text
            return [Told(0, 1, self.told.option(f"-{letter}") or _UNTOLD, letter) for letter in dict.fromkeys(letters)]
        self.verbs = tuple(word.text for word in operands[:4])
        meaning, size = self.told.phrase(self.verbs)
        if not size and self.table.cases and operands:
            rule, size = choose_case(self.table, self.args)
            if rule is not None:
                meaning = "only reads or shows" if rule.effect in ("read", "none") else _plain(rule.effect)
            elif not self.table.operands and not self.table.effect and _VERB.fullmatch(operands[0].text):
                meaning, size = "a sub-command that is not described here", 1
        rows = []
        for word in operands[:size]:
            rows.append(Told(word.start, word.end, meaning if word is operands[0] else ""))
        if size > 1 and rows[-1].last - rows[0].first == size:  # `remote add` stand together
            return [Told(rows[0].first, rows[-1].last, meaning)]
        return rows

    def _roles(self, verbs: int) -> dict[int, str]:
        """Position of an operand to its role."""
        roles: dict[int, str] = {}
        if not verbs or not self.table.cases:
            for role, words in operand_roles(self.table, self.args):
                roles.update((word.start, role) for word in words if role != "text")
        return roles

    def _operand(self, word: Word, role: str) -> str:
        if not role:
            role = next((role for role, effect in self.effects if word.text in effect.targets), "")
        phrase = role_phrase(role)
        place = self._place(word, role)
        return ", ".join(text for text in (phrase, place) if text)

    def _place(self, word: Word, role: str) -> str:
        if self.remote:
            return ""
        return place_phrase(word, role, self.scopes, self.cwd, self.facts)


def _plain(kind: str) -> str:
    """The sentence of an effect without its targets."""
    row = level_rows().get(kind)
    return row.reason.replace(": {targets}", "").replace("{targets}", "what it is given") if row is not None else ""
