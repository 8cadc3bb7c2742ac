"""Render an intent as a shell command."""

from __future__ import annotations

import re
import shlex

from agent.planner.offline.grammar.doing import action_command
from agent.planner.offline.grammar.findwords import find_words, greppable, paths, with_filters
from agent.planner.offline.grammar.intent import Intent, Sink, Stage
from agent.planner.offline.grammar.linewords import line_command, reads_files, with_letters
from agent.planner.offline.grammar.listing import list_command
from agent.planner.offline.grammar.pipelines import merged
from agent.planner.offline.grammar.sedwords import sed_script
from agent.planner.offline.values import quote_regex

# What is in these is not lines.
_PACKED = re.compile(
    r"(?i)\.(tar|tgz|tbz2?|txz|zip|gz|bz2|xz|7z|rar|png|jpe?g|gif|pdf|mp[34]|bin|img|iso|docx?|xlsx?|db|sqlite)\Z"
)


class NoCommand(Exception):
    """There is no command for this combination."""


def render(intent: Intent) -> str:
    """The command. NoCommand where the pieces do not go together."""
    if intent.action and intent.source == "files":
        command = action_command(intent)
    elif intent.source == "text":
        command = _text_command(intent)
    elif intent.source == "literal":
        command = _piped(f"printf '%s\\n' {shlex.quote(intent.literal or '')}", intent.stages)
    elif intent.source == "content":
        command = _content_command(intent)
    else:
        command = list_command(intent)
    if not command:
        raise NoCommand
    return _with_sink(command, intent.sink)


def _with_sink(command: str, sink: Sink) -> str:
    if sink.path is None:
        return command
    return f"{command} {'>>' if sink.kind == 'append' else '>'} {sink.path.render()}"


def _piped(source: str, stages: tuple[Stage, ...]) -> str:
    return " | ".join([source, *merged(stages)])


def _text_command(intent: Intent) -> str:
    files = paths(intent.texts)
    if intent.action:
        return action_command(intent)
    packed = [text.text for text in intent.texts if _PACKED.search(text.text)]
    if packed:
        if (
            len(packed) != 1
            or len(intent.texts) != 1
            or not packed[0].endswith(".gz")
            or ".tar." in packed[0]
            or intent.sink.kind == "inplace"
        ):
            return ""
        return " | ".join([f"zcat {files}", *merged(_with_context(intent))])
    if intent.sink.kind == "inplace":
        kept = next((wish.partition(" ")[2] for wish in intent.form if wish.startswith("backup ")), "")
        edit = _edit(intent.stages, files, len(intent.texts))
        if not kept:
            return edit
        return (
            edit.replace("sed -i", f"sed -i{shlex.quote(kept)}", 1)
            if edit.startswith("sed -i ") and len(intent.texts) == 1
            else ""
        )
    if intent.shown and not intent.stages and set(intent.shown) - {"name"}:
        return stat_command(intent, files)
    commands = merged(_with_context(intent))
    if not commands:
        return f"cat {files}"
    first, rest = commands[0], commands[1:]
    if (
        first.startswith(("wc ", "grep -c", "grep -o"))
        and len(intent.texts) == 1
        and "onlynumber" in intent.form
        and first.startswith("wc ")
    ):
        start = f"{first} < {files}"
    elif reads_files(first):
        start = f"{first} {files}" if len(intent.texts) == 1 or not rest else f"cat {files} | {first}"
    else:
        start = f"{first} < {files}" if len(intent.texts) == 1 else f"cat {files} | {first}"
    if first.startswith("awk '{print length, $0}'"):
        head, _, tail = first.partition(" | ")
        start = f"{head} {files} | {tail}"
    return " | ".join([start, *rest])


_STAT = {
    "size": "%s", "mtime": "%y", "atime": "%x", "owner": "%U", "group": "%G", "mode": "%A", "inode": "%i",
    "name": "%n",
}  # fmt: skip


def stat_command(intent: Intent, files: str) -> str:
    """Tell what is known about given files: `stat`, `file`, or `du` for sizes that people read."""
    if "details" in intent.form:
        return f"ls -l {files}"
    if "type" in intent.shown:
        return f"file {files}" if len(intent.shown) == 1 else ""
    if "humansize" in intent.form:
        return f"du -h {files}" if intent.shown == ("size",) else ""
    fields = " ".join(_STAT[kind] for kind in intent.shown if kind in _STAT)
    return f"stat -c {shlex.quote(fields.replace('%A', '%a') if 'octal' in intent.form else fields)} {files}"


def _with_context(intent: Intent) -> tuple[Stage, ...]:
    """The stages; numbers of lines are given by grep itself where it comes first."""
    stages = list(intent.stages)
    numbered = any(stage.op == "number" for stage in stages) or "linenumber" in intent.form
    if numbered and stages and stages[0].op in ("match", "anchored", "regex"):
        first = stages[0]
        stages = [
            Stage(op=first.op, args=(with_letters(first.args[0], "n"), *first.args[1:])),
            *(s for s in stages[1:] if s.op != "number"),
        ]
    elif ("linenumber" in intent.form and not numbered) or (
        "linenumber" in intent.form and not any(stage.op == "number" for stage in stages)
    ):
        stages.append(Stage(op="number"))
    return tuple(stages)


def edit_scripts(stages: tuple[Stage, ...]) -> list[str]:
    """The sed expressions of changes that are made in a file itself; empty where sed cannot do one of them."""
    scripts = [_edit_script(stage) for stage in stages]
    return scripts if all(scripts) else []


_EDITS = {
    "upper": "s/.*/\\U&/", "lower": "s/.*/\\L&/", "nospace": "s/[[:blank:]]//g", "nodigit": "s/[0-9]//g",
    "squeeze": "s/  */ /g", "nopunct": "s/[[:punct:]]//g",
}  # fmt: skip


def _edit_script(stage: Stage) -> str:
    """The sed expression of one change; "" where there is none."""
    op, args = stage.op, stage.args
    if op in ("range", "line", "lines"):
        return ""
    if op in ("match", "anchored", "regex"):
        return _deletion(stage) or sed_script(stage)
    if op == "skip":
        return "1d" if args == ("1",) else f"1,{args[0]}d"
    if op == "drop" and args == ("1",):
        return "$d"
    if op == "delchar":
        return f"s/{quote_regex(args[0])}//g"
    if op == "trsep" and "\n" not in "".join(args):
        one, other = ("\\t" if sign == "\t" else sign for sign in args)
        sought = one if one == "\\t" else quote_regex(one)
        return f"s/{sought}/{other if other not in ('/', '&') else chr(92) + other}/g"
    return _EDITS.get(op) or sed_script(stage)


def _deletion(stage: Stage) -> str:
    """The lines that are not kept, deleted; "" where that is more than one expression."""
    op, args = stage.op, stage.args
    if op == "match" and args[:2] == ("v", "plain") and len(args) == 3:
        return f"/{quote_regex(args[2])}/d"
    if op == "anchored" and args[0] == "v":
        return f"/{args[1]}{quote_regex(args[2])}{args[3]}/d"
    return f"/{args[1]}/d" if op == "regex" and args[0] == "v" and not {"/", "+"} & set(args[1]) else ""


def sed_edit(stages: tuple[Stage, ...]) -> str:
    """`sed -i` with all changes; "" where sed cannot do them."""
    scripts = edit_scripts(stages)
    if not scripts:
        return ""
    extended = "-E " if any(stage.op.startswith("cutchars") for stage in stages) else ""
    if len(scripts) == 1:
        return f"sed -i {extended}{shlex.quote(scripts[0])}"
    return f"sed -i {extended}" + " ".join(f"-e {shlex.quote(script)}" for script in scripts)


def _edit(stages: tuple[Stage, ...], files: str, count: int) -> str:
    command = sed_edit(stages)
    if command:
        return f"{command} {files}"
    if len(stages) == 1 and stages[0].op == "sort" and count == 1:
        return f"{line_command(stages[0])} -o {files} {files}"
    return ""


def _content_command(intent: Intent) -> str:
    files, stages = intent.files, intent.stages
    if intent.sink.kind == "inplace":
        if not files.narrow and files.type != "f":
            return ""
        command = sed_edit(stages)
        return f"{find_words(_only_files(intent))} -exec {command} {{}} +" if command else ""
    if not stages:
        return f"{find_words(_only_files(intent))} -exec cat {{}} +"
    first, rest = stages[0], stages[1:]
    if first.op in ("match", "anchored", "regex"):
        return _grep_tree(intent, first, rest)
    if "each" in intent.form and len(stages) == 1:
        return _each(intent, first)
    commands = merged(stages)
    return " | ".join([f"{find_words(_only_files(intent))} -exec cat {{}} +", *commands])


def _only_files(intent: Intent):  # type: ignore[no-untyped-def]
    from msgspec import structs

    files = intent.files
    return structs.replace(files, type="f") if files.type != "l" else files


def _each(intent: Intent, stage: Stage) -> str:
    if stage.op == "occurrences" and greppable(intent.files):
        grep = line_command(Stage(op="match", args=("rc", "plain", stage.args[1])))
        return with_filters(grep, intent.files)
    command = line_command(stage)
    find = find_words(_only_files(intent))
    if stage.op == "count":
        return f"{find} -exec {command} {{}} +"
    if not reads_files(command):
        return ""
    if "withname" in intent.form:
        program, _, rest = command.partition(" ")
        return f"{find} -exec {program} -v {rest} {{}} +" if program in ("head", "tail") else ""
    return f"{find} -exec {command} {{}} \\;"


def _grep_tree(intent: Intent, first: Stage, rest: tuple[Stage, ...]) -> str:
    files = intent.files
    letters = first.args[0]
    if "basename" in intent.form and not rest:
        letters = with_letters(letters, "l")
    if ("linenumber" in intent.form or any(stage.op == "number" for stage in rest)) and "n" not in letters:
        letters = with_letters(letters, "n")
        rest = tuple(stage for stage in rest if stage.op != "number")
    counted = bool(rest) and rest[0].op == "count"
    if counted and "each" in intent.form:
        letters, rest, counted = with_letters(letters, "c"), rest[1:], False
    elif "noname" in intent.form or (rest and "withname" not in intent.form):
        letters = with_letters(letters, "h")
    if greppable(files):
        grep = line_command(Stage(op=first.op, args=("r" + letters, *first.args[1:])))
        command = with_filters(grep, files)
    else:
        letters = letters if "h" in letters.partition(" ")[0] else "H" + letters
        grep = line_command(Stage(op=first.op, args=(letters, *first.args[1:])))
        command = f"{find_words(_only_files(intent))} -exec {grep} {{}} +"
    return " | ".join([command, *merged(rest)])
