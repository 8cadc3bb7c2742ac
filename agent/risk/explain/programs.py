"""Explain programs: what one does, each of its words, its redirections, and what it runs in turn."""

from __future__ import annotations

import re

from agent.protocol.decisions import Effect, Level, ProgramRun, RiskContext, RiskReport
from agent.risk.explain.layout import Budget, Part, one_line
from agent.risk.explain.nesting import all_below, running, script_parts, wrapped_programs
from agent.risk.explain.roles import redirect_meaning
from agent.risk.explain.shell import Frame, literal, sequence, substitutions
from agent.risk.explain.words import WordReader
from agent.risk.paths.scopes import Scopes
from agent.risk.reader.syntax import Parser
from agent.risk.reader.tree import Redirect, Simple, WordNode
from agent.risk.tables.help import help_for
from agent.risk.tables.store import program as find_program

_MAX_WORDS = 40  # of one program
_MAX_OTHERS = 3
_UNKNOWN = "…"
_ESCAPED = re.compile(r"\\([^A-Za-z0-9])")


class Explainer:
    """Explains one report: walks the text again, and takes from the report what was found out about each program."""

    def __init__(self, report: RiskReport, context: RiskContext) -> None:
        self.report = report
        self.programs = report.programs
        self.context = context
        self.scopes = Scopes(context)
        self.budget = Budget()
        self.functions: set[str] = set()
        self.used: set[int] = _idle_guesses(self.programs)
        self.children: dict[int, list[int]] = {}
        for index, run in enumerate(self.programs):
            if index not in self.used:
                self.children.setdefault(run.parent, []).append(index)
        self.effects: dict[int, list[tuple[str, Effect]]] = {}  # what happens in which role
        for finding in report.findings:
            if finding.effect is not None:
                role = "sync" if finding.rule == "delete.sync" else finding.effect.kind
                self.effects.setdefault(finding.program, []).append((role, finding.effect))

    def whole(self, text: str) -> list[Part]:
        """The command itself. Raises BudgetError for a text that nests too deep to be read."""
        frame = Frame(text, 0, -1, (0, len(text)))
        parts = sequence(self, Parser(text).parse(), frame)
        for index in range(len(self.programs)):  # whatever the text does not show where it stands
            if index not in self.used and self.programs[index].parent in (-1, *self.used):
                parts.extend(self.program(index, [], []))
        return parts

    # --- one simple command ---

    def simple(self, node: Simple, frame: Frame) -> list[Part]:
        """Assignments, the program (or what its name may stand for), redirections."""
        parts: list[Part] = []
        for assignment in node.assignments:
            value = frame.written(
                assignment.start, max(assignment.values[-1].end if assignment.values else 0, assignment.start), 80
            )
            meaning = "sets this variable for the program alone" if node.words else "sets this variable"
            below = [part for word in assignment.values for part in substitutions(self, word.parts, frame)]
            parts.append(Part(text=value or one_line(assignment.name), meaning=meaning, parts=below))
        redirects = [self.redirect(redirect, frame) for redirect in node.redirects]
        if not node.words:
            return [*parts, *redirects]
        found = self._matching(node, frame)
        inner = [substitutions(self, word.parts, frame) for word in node.words]
        if not found:
            return [*parts, self._unrated(node, frame, inner, redirects)]
        written = [frame.written(word.start, word.end, 60) for word in node.words]
        self.used.update(found)
        first, *others = found
        stdin = [self._body(redirect) for redirect in node.redirects if redirect.operator in ("<<", "<<<")]
        parts.extend(self.program(first, written, inner, redirects=redirects, frame=frame, scripts=stdin))
        parts.extend(self._others(first, others))
        return parts

    def _others(self, first: int, others: list[int]) -> list[Part]:
        """Tell what else this place runs: with other values of a variable, through an alias, or later."""
        parts = []
        seen = {self.programs[first].words}
        for index in others:
            run = self.programs[index]
            self.used.update(all_below(self, index))
            if run.words in seen or len(seen) > _MAX_OTHERS:
                continue
            seen.add(run.words)
            words = " ".join(one_line(word, 40) for word in run.words[:8])
            same = run.words[:1] == self.programs[first].words[:1]
            meaning = "is run here with these words too" if same else "is run here as well, or later"
            parts.append(Part(text=one_line(words, 60), meaning=meaning, level=_level(run)))
        return parts

    def _matching(self, node: Simple, frame: Frame) -> list[int]:
        """The report's programs that this command is: by place, or by name where its text has no place."""
        candidates = [index for index in self.children.get(frame.parent, []) if index not in self.used]
        name = literal(node.words[0])
        if frame.shift is not None:
            place = frame.span(node.start, node.end)
            found = [index for index in candidates if self.programs[index].span == place]
            if found:
                return sorted(found, key=lambda index: self.programs[index].words[:1] != (name,))
        for index in candidates:
            words = self.programs[index].words
            if words and self.programs[index].span == frame.place and (words[0] == name or _UNKNOWN in name):
                return [index]
        return []

    def _unrated(self, node: Simple, frame: Frame, inner: list[list[Part]], redirects: list[Part]) -> Part:
        """A command that the report does not list: a function's name, or one beyond what was kept."""
        name = literal(node.words[0])
        called = name in self.functions
        meaning = "calls the function above" if called else help_for(name.rpartition("/")[2]).about or "a command"
        text = frame.written(node.words[0].start, node.words[0].end, 60)
        shown = [Part(text=frame.written(word.start, word.end, 60)) for word in node.words[1:_MAX_WORDS]]
        nested = [part for parts in inner for part in parts]
        return Part(
            text=text, meaning=meaning, span=frame.span(node.start, node.end), parts=[*shown, *nested, *redirects]
        )

    def _body(self, redirect: Redirect) -> str:
        parts = redirect.body if redirect.operator == "<<" else redirect.target.parts
        return "".join(str(part[1]) if part[0] == "lit" else _UNKNOWN for part in parts or [])

    def redirect(self, redirect: Redirect, frame: Frame) -> Part:
        """A redirection and what it does."""
        target = literal(redirect.target)
        inner = substitutions(self, redirect.target.parts, frame)
        if redirect.operator == "<<" and redirect.body:
            inner += substitutions(self, redirect.body, frame)
        return Part(
            text=frame.written(redirect.start, redirect.end, 60),
            meaning=redirect_meaning(redirect, "" if _is_process(redirect.target) else one_line(target, 60)),
            span=frame.span(redirect.start, redirect.end),
            parts=inner,
        )

    # --- one program ---

    def program(
        self,
        index: int,
        written: list[str],
        inner: list[list[Part]],
        *,
        redirects: list[Part] | None = None,
        frame: Frame | None = None,
        scripts: list[str] | None = None,
    ) -> list[Part]:
        """A program of the report. `written`: its words as they stand in the text; `inner`: what is nested in them."""
        self.used.add(index)
        run = self.programs[index]
        if not run.words:
            return []
        if not self.budget.take():
            self.used.update(all_below(self, index))
            return [
                Part(text=one_line(run.words[0], 40), level=_level(run), meaning="not explained: too much is nested")
            ]
        self.budget.depth += 1
        try:
            aligned = len(written) == len(run.words)
            name = run.words[0]
            meaning = help_for(_usual_name(name)).about or self._unknown_name(name)
            if aligned and not _says(written[0], name) and _UNKNOWN not in name:
                meaning = f"this is {one_line(name, 60)}: {meaning}"
            wrapped, hidden = wrapped_programs(self, index)
            part = Part(
                text=written[0] if aligned else one_line(name, 60),
                meaning=meaning,
                level=_level(run),
                span=run.span,
                parts=[],
            )
            part.parts.extend(self._words(index, written if aligned else [], inner if aligned else [], hidden))
            if not aligned:
                part.parts.extend(nested for parts in inner for nested in parts)
            part.parts.extend(redirects or [])
            for child, start in wrapped:
                count = len(self.programs[child].words)
                below = self.program(
                    child,
                    written[start : start + count] if aligned else [],
                    inner[start : start + count] if aligned else [],
                )
                part.parts.append(running(name, below, guess=self.programs[child].suspected))
            part.parts.extend(script_parts(self, index, frame, scripts or []))
            return [part]
        finally:
            self.budget.depth -= 1

    def _unknown_name(self, name: str) -> str:
        if _UNKNOWN in name:
            known = f": {one_line(name, 40)}" if name.strip(_UNKNOWN) else ""
            return f"a program whose name is known only when it runs{known}"
        return "a program in a file, which may do anything" if "/" in name else "an unknown program"

    def _words(self, index: int, written: list[str], inner: list[list[Part]], hidden: set[int]) -> list[Part]:
        run = self.programs[index]
        words = list(run.words[1:])
        name = _usual_name(run.words[0])
        reader = WordReader(
            words,
            frozenset(position - 1 for position in hidden),
            find_program(name) if name else None,
            help_for(name),
            effects=self.effects.get(index, []),
            scopes=self.scopes,
            cwd=run.cwd,
            remote=run.remote,
            facts=self.context.facts,
        )
        parts = []
        for told in reader.read()[:_MAX_WORDS]:
            resolved = " ".join(words[told.first : told.last])
            text = " ".join(written[told.first + 1 : told.last + 1]) or resolved
            meaning = told.meaning
            spots = [] if told.text or not written else range(told.first, told.last)
            other = [words[spot] for spot in spots if not _says(written[spot + 1], words[spot])]
            if other and _UNKNOWN not in other[0] and not other[0].startswith("/dev/fd/"):
                meaning = f"stands for {one_line(' '.join(other), 60)}" + (f": {meaning}" if meaning else "")
            elif _UNKNOWN in (told.text or resolved) and ("$" in text or "`" in text) and "known only" not in meaning:
                partly = "in part " if resolved.strip(_UNKNOWN) else ""
                meaning = ", ".join(filter(None, (meaning, f"{partly}known only when it runs")))
            elif text == "{}":
                meaning = f"each item in turn {meaning}".rstrip()
            below = (
                [part for parts in inner[told.first + 1 : told.last + 1] for part in parts] if told.last_of_word else []
            )
            parts.append(Part(text=one_line(told.text or text, 80), meaning=meaning, parts=below))
        if len(words) > _MAX_WORDS:
            more = len(words) - _MAX_WORDS
            parts.append(Part(text="…", meaning=f"and {more} more word{'s' if more > 1 else ''}"))
        return parts


def _usual_name(name: str) -> str:
    """The name under which a program is known; "" for a file elsewhere, which may be anything whatever its name."""
    from agent.risk.paths.search_path import STANDARD_FOLDERS

    folder, slash, base = name.rpartition("/")
    return base if not slash or folder in STANDARD_FOLDERS else ""


def _is_process(word: WordNode) -> bool:
    return len(word.parts) == 1 and word.parts[0][0] == "proc"


def _idle_guesses(programs: tuple[ProgramRun, ...]) -> set[int]:
    """Words that might be programs, and lead to nothing bad: not worth telling."""
    guesses = {index for index, run in enumerate(programs) if run.suspected}
    for index, run in enumerate(programs):
        if run.level is Level.HIGH:
            while index in guesses:  # it, and what leads to it
                guesses.remove(index)
                index = programs[index].parent  # noqa: PLW2901
    return guesses


def _says(written: str, resolved: str) -> bool:
    """Tell whether the written form is the resolved one, but for plain quoting."""
    plain = one_line(resolved, 60)
    bare = written.strip("\"'")
    return plain == written or resolved in (written, bare) or _ESCAPED.sub(r"\1", bare) == resolved


def _level(run: ProgramRun) -> str:
    return "" if run.level is Level.LOW else run.level.value
