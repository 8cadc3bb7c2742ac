"""Expand words as bash does: quotes, parameters, substitutions, braces, tilde, splitting."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.risk.reader.words import MAX_FIELDS, UNKNOWN, Word, join_taint
from agent.risk.shell.braces import BREAK, HIDDEN, NEEDS_HIDING, SHOW, expand_braces, has_wildcard, spread
from agent.risk.shell.parameters import ParameterExpander

if TYPE_CHECKING:
    from agent.risk.reader.tree import Part, WordNode


class Expander(ParameterExpander):
    """Makes words of what the parts of a word stand for."""

    def fields(self, node: WordNode, place: tuple[int, int]) -> list[Word]:
        """The arguments a word becomes: none, one, or several."""
        found = self.variants(node, place)
        return found[0] if len(found) == 1 else [word for words in found for word in words][:MAX_FIELDS]

    def variants(self, node: WordNode, place: tuple[int, int]) -> list[list[Word]]:
        """As `fields`, once for each value that the word may have."""
        parts = node.parts
        if len(parts) == 1 and parts[0][0] == "lit":
            text = parts[0][1]
            if parts[0][2]:
                return [[Word(text, *place, quoted=True)]]
            if not NEEDS_HIDING.search(text):
                return [[Word(text, *place)]]
        self.place = place
        raw, taint = self.join(parts)
        quoted = _has_quotes(parts)
        return [self.finish(one, taint, place, quoted=quoted, glob_ok=True) for one in spread(raw)]

    def texts(self, node: WordNode, place: tuple[int, int]) -> list[Word]:
        """One argument, as in an assignment or after a redirection: no splitting, no file names. Each value it may have."""
        self.place = place
        raw, taint = self.join(node.parts)
        raws = spread(self.tilde(raw.replace(BREAK, " ")))
        return [Word(one.translate(SHOW), *place, taint=taint, glob=has_wildcard(one)) for one in raws]

    def text(self, node: WordNode, place: tuple[int, int], glue: str = " ") -> Word:
        """The same as one word, in which the values it may have stand side by side."""
        words = self.texts(node, place)
        return words[0] if len(words) == 1 else words[0].part(glue.join(word.text for word in words))

    def body(self, parts: list[Part], place: tuple[int, int]) -> tuple[str, str]:
        """A here-document: text and taint."""
        self.place = place
        raw, taint = self.join(parts)
        return "\n".join(spread(raw.replace(BREAK, " "))).translate(SHOW), taint

    def finish(self, raw: str, taint: str, place: tuple[int, int], *, quoted: bool, glob_ok: bool) -> list[Word]:
        raws = spread(raw)
        if "{" in raw and ("," in raw or ".." in raw):
            raws = [expanded for one in raws for expanded in expand_braces(one)]
            self.work.spend(2 * len(raws))
        result: list[Word] = []
        for item in raws:
            texts = item.split(BREAK) if BREAK in item else (item,)
            for text in texts:
                if text == "" and not quoted:
                    continue
                value = self.tilde(text) if text.startswith("~") else text
                glob = glob_ok and has_wildcard(value)
                shown = value.translate(SHOW) if HIDDEN.search(value) else value
                result.append(Word(shown, *place, glob=glob, taint=taint, quoted=quoted))
        self.work.spend(len(result))
        if len(result) > MAX_FIELDS:
            result[MAX_FIELDS:] = [Word(UNKNOWN, *place, taint=join_taint("var", taint))]
        return result


def _has_quotes(parts: list[Part]) -> bool:
    return bool([part for part in parts if part[0] == "lit" and part[2]])
