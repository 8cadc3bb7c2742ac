"""Judge what a program takes from its folder: files that it runs before anything else, and names that are options (`tar cf a.tar *`).

Which there are, the facts say, and the command itself where it makes them (`touch -- -rf; rm *`); without them nothing is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from msgspec import Struct

from agent.protocol.decisions import Level, worst
from agent.risk.paths.absolute import absolute
from agent.risk.reader.words import UNKNOWN, Invocation, Word
from agent.risk.tables.names import members, names
from agent.risk.tables.store import program as find_program
from agent.text.visible import make_visible

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker


UNREAD = "…"
"""Stands for names that were not looked at, in a folder that has too many."""

_PLAIN = frozenset(("echo", "printf", "pwd"))  # what they take for options changes nothing
_PLUS = frozenset("less zless more most vi vim view nvim gvim ex vimdiff date".split())  # which take `+command`
_SHOWN = 3


def judge_wildcard_options(walker: Walker, name: str, invocation: Invocation) -> None:
    """Judge a program as it runs when the files that its wildcards match are given as options: at least medium."""
    if name in _PLAIN:
        return
    words = invocation.words[:1]
    matched: list[str] = []
    wildcard = words[0]
    looked_at = _where_options_are_read(name, invocation)
    for word in looked_at:
        found = _matched(walker, word, invocation.cwd) if word.glob else []
        found = [one for one in found if one[0] != "+" or name in _PLUS]
        words += [Word(one, word.start, word.end) for one in found if one != UNREAD]
        words.append(Word(word.text, word.start, word.end) if found else word)  # not to be looked at again
        wildcard = word if found else wildcard
        matched += found
    if not matched:
        return
    words += invocation.words[1 + len(looked_at) :]
    before = len(walker.findings)
    walker.dispatch(invocation.read_as(words))
    level = worst((Level.MEDIUM, *(finding.level for finding in walker.findings[before:])))
    del walker.findings[before:]
    shown = ", ".join(make_visible(one)[:60] for one in matched[:_SHOWN]) + (
        " and more" if len(matched) > _SHOWN else ""
    )
    reason = f"{make_visible(wildcard.text)} matches {shown}, which {make_visible(name)} takes for options"
    if matched == [UNREAD]:
        reason = f"{make_visible(wildcard.text)} matches more names than were looked at; {make_visible(name)} may take some for options"
    walker.add("run-unknown", [wildcard], invocation.place, level=level, reason=reason, rule="run.wildcard")


def _where_options_are_read(name: str, invocation: Invocation) -> list[Word]:
    """The words behind the program's name in which it looks for options."""
    table = find_program(name)
    ordered = table is not None and (table.style == "posix" or bool(table.wrap))
    words: list[Word] = []
    for word in invocation.words[1:]:
        if word.text == "--":
            break
        words.append(word)
        if ordered and not word.text.startswith("-"):
            break
    return words


def _matched(walker: Walker, word: Word, cwd: str) -> list[str]:
    """Names beginning with a dash that a wildcard matches in the folder where the program runs: there, or made by the same command."""
    if "/" in word.text:
        return []
    made = sorted(
        path.rpartition("/")[2] for path in walker.files.option_names if path.rpartition("/")[0] == absolute(".", cwd)
    )
    there = [found.text for found in matched_names(walker, word, cwd, "option")]
    return [*(name for name in made if fnmatchcase(name, word.text) and name not in there), *there]


def matched_names(walker: Walker, word: Word, cwd: str, fact: str) -> list[Word]:
    """The names of one kind that a wildcard matches, as facts tell them: "option", or "magic" for what perl would run or write."""
    if not word.glob or UNKNOWN in word.text or UNKNOWN in cwd:
        return []
    known = walker.rater.context.facts.get(absolute(word.text, cwd), ())
    named = [one.partition("=") for one in known]
    return [Word(value, word.start, word.end) for name, _, value in named if name == fact]


class Loaded(Struct, frozen=True):
    """A file, relative to the folder; the words in one of which it matters, "" for any; and whether folders above count too."""

    file: str
    says: str = ""
    above: bool = False


def _as_written(text: str) -> Loaded:
    file, _, says = text.lstrip("^").partition(":")
    return Loaded(file, says.replace("|", " "), above=text.startswith("^"))


_FILES = {name: tuple(map(_as_written, sorted(files))) for name, files in members("folder.files").items()}
_SPARES = members("folder.spares")
# These read nothing where they only tell about themselves; builders do.
_TELLS = names("folder.tells")
_LANGUAGES = names("folder.languages")


def files_loaded(words: Sequence[str]) -> tuple[Loaded, ...]:
    """The files that would be run if they are there, for a program with its arguments."""
    name = words[0].rpartition("/")[2] if words else ""
    files = _FILES.get(name, ())
    if not files or (name in _LANGUAGES and len(words) == 2 and words[1] in _TELLS):
        return ()
    for word in words[1:]:
        if word in _SPARES.get(name, ()):
            return tuple(one for one in files if one.file == ".Renviron") if word == "--no-init-file" else ()
        if name != "R" and (word[:1] != "-" or word in ("-e", "--eval")):  # behind it stands what the code is given
            break
    return files


def judge_folder_files(walker: Walker, name: str, invocation: Invocation) -> None:
    """Say, as facts tell, which files of the folder a program runs ("loads=NAME:FILE") and where others could put it ("found=FILE")."""
    known = walker.rater.context.facts.get(invocation.cwd, ())
    found = f"/{invocation.words[0].text}"
    for fact in known:
        if fact.startswith("found=") and fact.endswith(found):
            place = invocation.words[0].part(fact.removeprefix("found="))
            reason = "runs {targets}, which PATH finds where the project or others put programs"
            walker.add("run-unknown", [place], invocation.place, reason=reason, rule="run.folder-program")
    if name not in _FILES or not files_loaded([word.text for word in invocation.words]):
        return
    prefix = f"loads={name}:"
    if UNKNOWN in invocation.cwd:
        reason = f"has {name} run what a folder says that is only known when it runs, whatever it is told"
        walker.add("run", [], invocation.place, reason=reason, rule="run.folder-file")
    files = [Word(fact.removeprefix(prefix), *invocation.place) for fact in known if fact.startswith(prefix)]
    if files:
        reason = f"has {name} run what {{targets}} of this folder says, whatever it is told"
        walker.add("run", files, invocation.place, reason=reason, rule="run.folder-file")
