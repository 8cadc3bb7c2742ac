"""Render a match as a command: the form that this system can run, with every slot quoted."""

from __future__ import annotations

import posixpath
import re
import shlex

from msgspec import structs

from agent.planner.offline.filters import Frame
from agent.planner.offline.grammar.findwords import MEANING, folder_glob, name_tests
from agent.planner.offline.matching import Match
from agent.planner.offline.patterns import Slot
from agent.planner.offline.recipe_files import Form
from agent.planner.offline.recipes import Recipe
from agent.planner.offline.surroundings import Surroundings
from agent.planner.offline.system_tools import is_mac
from agent.planner.offline.values import Value, quote_path
from agent.protocol.messages import EnvironmentFacts
from agent.text.lazy_pattern import LazyPattern

# What cameras, scanners, phones and office programs write is called .JPG here and .jpg there.
_WRITTEN_ANYHOW = LazyPattern(
    r"-name (?='\*\.(?:jpe?g|png|gif|bmp|tiff?|webp|heic|raw|mp[34]|mov|avi|mkv|webm|wav|m4a|pdf|docx?|xlsx?|pptx?|zip)')"
)
_CUTS_OFF = LazyPattern(r"\$\{\w+%")


def in_any_case(command: str) -> str:
    """A search for such files that finds them however their names are written; none that cuts the ending off as it stands."""
    return command if _CUTS_OFF.search(command) else _WRITTEN_ANYHOW.sub("-iname ", command)


def root_word(frame: Frame) -> str:
    """The place to look in, as a shell word."""
    return quote_path(frame.root.text) if frame.root is not None else "."


def find_command(frame: Frame, *, with_content: bool = True) -> str:
    """`find` with all filters and no action, to which an action may be appended."""
    parts = ["find", root_word(frame)]
    if frame.depth:
        parts += ["-maxdepth", frame.depth]
    if frame.type == "d":
        parts += ["-mindepth", "1"]
    if frame.type in ("f", "d", "l"):
        parts += ["-type", frame.type]
    elif not frame.type and "type" not in frame.tests:
        parts += ["-type", "f"]
    parts += name_tests(frame.names, nocase=frame.nocase and not (frame.content or frame.lacking))
    for tests in frame.tests.values():
        parts += tests
    for folder in frame.excluded_folders:
        parts += ["-not", "-path", shlex.quote(folder_glob(folder))]
    for name in frame.excluded_names:
        parts += ["-not", "-name", shlex.quote(name)]
    if with_content and frame.content:
        parts.append(f"-exec grep -q{_matching(frame, frame.content)} {{}} \\;")
    if with_content and frame.lacking:
        parts.append(f"-not -exec grep -q{_matching(frame, frame.lacking)} {{}} \\;")
    return " ".join(parts)


def _matching(frame: Frame, text: str) -> str:
    """Flags and pattern of a grep for literal text."""
    flags = ("F" if MEANING.search(text) or "\n" in text else "") + ("i" if frame.nocase else "")
    option = " -e " if text.startswith("-") else " "
    return f"{flags}{option}{shlex.quote(text)}"


def _greppable(frame: Frame) -> bool:
    """Tell whether grep alone can do all of it, which is what people type."""
    simple_folders = all("/" not in folder for folder in frame.excluded_folders)
    return frame.type in ("", "f", "any") and not frame.tests and not frame.depth and simple_folders


def _grep_filters(frame: Frame) -> str:
    words = [f" --include={shlex.quote(name)}" for name in frame.names]
    words += [f" --exclude={shlex.quote(name)}" for name in frame.excluded_names]
    words += [f" --exclude-dir={shlex.quote(folder)}" for folder in frame.excluded_folders]
    return "".join(words)


def list_command(frame: Frame) -> str:
    """Names of the files: find, or `grep -rl` where only names and text matter."""
    if bool(frame.content) != bool(frame.lacking) and _greppable(frame):
        letter = "l" if frame.content else "L"
        flags, _, pattern = _matching(frame, frame.content or frame.lacking).partition(" ")
        return f"grep -r{letter}{flags}{_grep_filters(frame)} {pattern} {root_word(frame)}"
    return find_command(frame)


def lines_command(frame: Frame) -> str:
    """Matching lines with the file that each is in."""
    flags, _, pattern = _matching(frame, frame.content).partition(" ")
    if _greppable(frame) and not frame.lacking:
        return f"grep -r{flags}{_grep_filters(frame)} {pattern} {root_word(frame)}"
    return f"{find_command(frame, with_content=False)} -exec grep -H{flags} {pattern} {{}} +"


SLOT = re.compile(r"<([a-z_]+)(?:\.([a-z]+))?>")
_WHOLE = re.compile(r"«(.*?)»")  # `«s/<old.regex>/<new.replacement>/g»` becomes one word
_SUM = re.compile(r"\$\(\(([0-9]+) \+ ([0-9]+)\)\)")  # of two numbers that are known by now
_FRAME_SLOTS = {"find": find_command, "list": list_command, "lines": lines_command, "root": root_word}
# Forms of the target of a link, and the slot that says where the link lies.
_SEEN_FROM = {"beside": "link", "inside": "folder"}
_PATH_KINDS = ("file", "path", "dir", "files")


def without_sudo(template: str) -> str:
    """One of our own templates for root, who needs no sudo and often has none (containers)."""
    return template.replace("sudo ", "")


def _has_file(form: Form, goal: EnvironmentFacts, around: Surroundings) -> bool:
    return not form.here or around.exists(posixpath.join(goal.cwd or ".", form.here))


def _suits(form: Form, system: str, around: Surroundings) -> bool:
    """Tell whether a form is meant for the operating system called `system`, and for the programs that are there."""
    if form.os and (form.os == "macos") != is_mac(system):
        return False
    return not form.flavour or around.flavour(form.needs[0], system) in form.flavour.split("|")


def _lacking(form: Form, around: Surroundings) -> tuple[str, ...]:
    needs = form.needs if around.is_root or "sudo " not in form.command else (*form.needs, "sudo")
    return tuple(name for name in needs if not around.present(name))


def usable_forms(recipe: Recipe, goal: EnvironmentFacts, around: Surroundings) -> list[Form]:
    """The forms whose programs are there, and whose file is in the goal's folder."""
    suited = [form for form in recipe.forms if _suits(form, goal.os, around) and _has_file(form, goal, around)]
    return [form for form in suited if not _lacking(form, around)]


def missing_programs(recipe: Recipe, goal: EnvironmentFacts, around: Surroundings) -> tuple[str, ...] | None:
    """List what the preferred form for this system lacks; of several forms, the one that lacks least. None where files lack."""
    found = [form for form in recipe.forms if _has_file(form, goal, around)]
    suited = [form for form in found if _suits(form, goal.os, around)] or found
    return min((_lacking(form, around) for form in suited), key=len, default=None)


def all_values(match: Match) -> dict[str, Value]:
    """Slot values with the recipe's defaults for what the goal left out."""
    values = dict(match.binding.values)
    kinds = slot_kinds(match.recipe)
    for name, text in match.recipe.entry.defaults.items():
        if name not in values:
            kind = "path" if kinds.get(name) in _PATH_KINDS else "word"
            # "the largest file" is one; "the largest files" are some.
            given = "1" if name == "n" and match.recipe.entry.filters and match.frame.singular else text
            values[name] = Value(text=given, kind=kind, fixed=_default_forms(given), origin=given)
    return values


def _default_forms(text: str) -> dict[str, str]:
    # Defaults are our own text; where a template wants a form of one, the text itself is meant.
    return dict.fromkeys(
        ("ago", "later", "before", "within", "base", "text", "stem"), text if text.isalnum() else f"'{text}'"
    )


def slot_kinds(recipe: Recipe) -> dict[str, str]:
    """Type of each slot of a recipe."""
    return {e.name: e.kind for phrasing in recipe.phrasings for e in phrasing.elements if isinstance(e, Slot)}


def render(template: str, match: Match) -> str:
    """A template with its slots filled. KeyError for a slot that neither the goal nor the defaults give."""
    values = all_values(match)
    frame = match.frame
    if match.recipe.entry.filters and "content" in values:
        frame = structs.replace(frame, content=values["content"].text)
    if match.recipe.entry.filters and "dest" in values and _is_inside(values["dest"].text):
        # What is in the destination already must not be moved or copied onto itself.
        frame = structs.replace(frame, excluded_folders=[*frame.excluded_folders, values["dest"].text.rstrip("/")])

    def fill(found: re.Match[str]) -> str:
        name, form = found[1], found[2] or ""
        if match.recipe.entry.filters and name in _FRAME_SLOTS and not form:
            return _FRAME_SLOTS[name](frame)
        if form in _SEEN_FROM:
            return _seen_from(values[name].text, values[_SEEN_FROM[form]].text, form)
        return values[name].render(form)

    # Words that are quoted as a whole are set aside, so that what they hold is not filled a second time.
    pieces = _WHOLE.split(template)
    for at in range(len(pieces)):
        pieces[at] = SLOT.sub(fill, pieces[at]) if at % 2 == 0 else whole_word(pieces[at], values)
    return _SUM.sub(lambda found: str(int(found[1]) + int(found[2])), "".join(pieces))


def _seen_from(target: str, place: str, form: str) -> str:
    """A path as a link has to write it, quoted: a relative one starts from where the link lies."""
    folder = place if form == "inside" else posixpath.dirname(place)
    if not folder or target.startswith(("/", "~")):
        return quote_path(target)
    if folder.startswith(("/", "~")):
        return f'"$PWD"/{shlex.quote(target)}'
    return quote_path(posixpath.relpath(target, folder))


def _is_inside(path: str) -> bool:
    """Tell whether a folder may lie below the one that is searched."""
    return not path.startswith(("/", "~", "..")) and path.rstrip("/") != "."


def whole_word(inside: str, values: dict[str, Value]) -> str:
    """One shell word made of text and unquoted slots, quoted together."""
    return shlex.quote(SLOT.sub(lambda slot: values[slot[1]].plain(slot[2] or ""), inside))


def describe(sentence: str, match: Match) -> str:
    """A sentence for people with the slots as they were said."""
    values = all_values(match)

    def fill(found: re.Match[str]) -> str:
        if match.recipe.entry.filters and found[1] == "root":
            return match.frame.root.text if match.frame.root is not None else "this folder"
        value = values.get(found[1])
        shown = value.origin or value.text if value is not None else found[0]
        return "this folder" if shown == "." else shown

    return SLOT.sub(fill, sentence)
