"""Judge package managers whose options run commands, or decide whether anything changes: npm and npx, pacman, conda."""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import TYPE_CHECKING

from agent.protocol.decisions import Level
from agent.risk.invocations.environment import others_may_change
from agent.risk.reader.words import Invocation, Output, Word
from agent.risk.tables.options import Args
from agent.risk.tables.store import Program

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker


def npx(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """npx -c text and the like."""
    for word in args.values("-c", "--call", "--run", "--command"):
        walker.script(word.text, invocation.place, invocation)
    verbs = [word.text for word in args.operands[:2]]
    if verbs == ["pkg", "set"]:
        for word in args.operands[2:]:
            if word.text.startswith("scripts."):  # `npm run` gives it to a shell
                walker.script(word.text.partition("=")[2], invocation.place, invocation)
    elif verbs in (["config", "set"], ["c", "set"]) or verbs[:1] == ["set"]:
        _judge_settings(walker, invocation, args.operands[1 + (verbs[0] != "set") :])
    elif verbs[:1] in (["exec"], ["x"]) and len(args.operands) > 1 and " " in args.operands[1].text:
        walker.script(args.operands[1].text, invocation.place, invocation)
    elif verbs[:1] == ["set-script"] and len(args.operands) > 2:
        walker.script(args.operands[2].text, invocation.place, invocation)
    return None


_NAMES_PROGRAM = re.compile(
    r"(?:script-?shell|shell|editor|git|node-?options|viewer|browser|yarn-?path|prefix|init-module|(?:global|pnp)file|plugins)",
    re.I,
)


def _judge_settings(walker: Walker, invocation: Invocation, given: list[Word]) -> None:
    """Settings that name what is run from here on, as `NAME VALUE` or `NAME=VALUE`."""
    for word, following in zip_longest(given, given[1:]):
        name, equals, value = word.text.partition("=")
        program = word.part(value) if equals else following
        if program is not None and _NAMES_PROGRAM.fullmatch(name) and re.search(r"[/ \0]", program.text):
            level = Level.HIGH if others_may_change(walker, program.text) else None
            reason = "has {targets} run from here on"
            walker.add("run", [program], invocation.place, level=level, reason=reason, rule="run.setting")
            walker.script(program.text, invocation.place, invocation)


def pacman(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """pacman: the first option is the operation, its letters say how."""
    texts = [word.text for word in invocation.words[1:]]
    letters = next((text for text in texts if re.match(r"-[A-Z]", text)), "")
    place = invocation.place
    if (
        letters.startswith(("-Q", "-F", "-T"))
        or "--query" in texts
        or (letters.startswith("-S") and re.search("[silg]", letters))
    ):
        return None, ""
    if any(text in ("--print", "-p") or text.startswith("--print-format") for text in texts) or (
        "p" in letters[2:] and "y" not in letters
    ):
        return None, ""  # tells what it would do
    if letters.startswith("-R") or "--remove" in texts:
        walker.add("package-core" if re.search("c|dd|n.*s.*c", letters[2:]) else "package-remove", args.operands, place)
    else:
        walker.add("package-install", args.operands, place)
    return None, ""


def conda(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """conda activate FOLDER: an environment by its folder runs the scripts in it; one by its name is the person's own."""
    if not args.operands or args.operands[0].text != "activate":
        return None
    folders = [word for word in args.operands[1:] if not word.known or "/" in word.text or word.text[:1] in ".~"]
    folders += args.values("-p", "--prefix")
    if folders:
        reason = "runs the scripts of the environment in {targets}"
        walker.add("run", folders, invocation.place, reason=reason, rule="run.activate")
    return None
