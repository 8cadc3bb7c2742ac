"""Compose actions on files themselves: delete, copy, move, permissions, owners, archives, checksums, names."""

from __future__ import annotations

import re
import shlex

from msgspec import structs

from agent.planner.offline.grammar.filesread import literal_glob
from agent.planner.offline.grammar.findwords import find_words, paths, root_words
from agent.planner.offline.grammar.intent import Intent
from agent.planner.offline.grammar.linewords import line_command
from agent.planner.offline.grammar.pipelines import merged
from agent.planner.offline.values import quote_path

_HASHES = {
    "md5": "md5sum", "sha256": "sha256sum", "sha1": "sha1sum", "sha512": "sha512sum", "default": "sha256sum",
    "crc": "cksum",
}  # fmt: skip


def action_command(intent: Intent) -> str:
    """The command that does it; "" where something is missing that it needs."""
    kind, _, how = intent.action.partition(" ")
    make = _ACTIONS.get(kind)
    return make(intent, how) if make is not None else ""


def _each(intent: Intent, command: str, *, one: bool = False) -> str:
    """A command applied to the files that are meant: given ones, or those that a search finds."""
    if intent.texts:
        return f"{command} {paths(intent.texts)}"
    return f"{find_words(intent.files)} -exec {command} {{}} {chr(92) + ';' if one else '+'}"


def _delete(intent: Intent, how: str) -> str:
    files = intent.files
    if intent.texts or not files.narrow or intent.stages:
        return ""
    if files.type == "d" and not any("-empty" in test for test in files.tests):
        if not files.names:
            return ""
        return f"{find_words(files, inner_only=True)} -prune -exec rm -rf {{}} +"
    return f"{find_words(files, inner_only=True)} -delete"


def _copy(intent: Intent, how: str) -> str:
    if len(intent.args) != 1 or intent.stages or intent.texts or not (intent.files.narrow or intent.files.type == "f"):
        return ""
    target = intent.args[0]
    files = intent.files
    if not target.text.startswith(("/", "~", "..")) and target.text.rstrip("/") != ".":
        files = structs.replace(files, excluded=(*files.excluded, target.text.rstrip("/")))
    parents = "--parents " if "preserve" in intent.form and how == "cp" else ""
    flags = "-p " if "keeptimes" in intent.form and how == "cp" else ""
    flags += "-n " if "nooverwrite" in intent.form else ""
    made = f"mkdir -p {target.render()} && " if "newfolder" in intent.form else ""
    return f"{made}{find_words(files, inner_only=True)} -exec {how} {flags}{parents}-t {target.render()} {{}} +"


def _chmod(intent: Intent, how: str) -> str:
    mode = intent.args[0].text
    if intent.stages:
        return ""
    whole = not intent.files.type and not intent.files.narrow and not intent.texts
    if whole:
        return (
            f"chmod {'-R ' if 'recursive' in intent.form else ''}{shlex.quote(mode)} {root_words(intent.files)}"
            if intent.files.roots
            else ""
        )
    return _each(intent, f"chmod {shlex.quote(mode)}")


def _chown(intent: Intent, how: str) -> str:
    values = [value.text for value in intent.args]
    if intent.stages:
        return ""
    who = {"user": values[0], "group": values[0], "both": ":".join(values[:2])}[how]
    command = f"{'chgrp' if how == 'group' else 'chown'} "
    if not intent.files.type and not intent.files.narrow and not intent.texts:
        return (
            f"{command}{'-R ' if 'recursive' in intent.form else ''}{shlex.quote(who)} {root_words(intent.files)}"
            if intent.files.roots
            else ""
        )
    return _each(intent, command + shlex.quote(who))


def _hash(intent: Intent, how: str) -> str:
    files = (
        intent
        if intent.texts or intent.files.type
        else structs.replace(intent, files=structs.replace(intent.files, type="f"))
    )
    stages = tuple(
        structs.replace(stage, order=structs.replace(stage.order, key="col", column="2:"))
        if stage.order is not None and stage.order.key == "name"
        else stage
        for stage in intent.stages
    )
    return " | ".join([_each(files, _HASHES[how]), *merged(stages)])


def _touch(intent: Intent, how: str) -> str:
    return "" if intent.stages or not (intent.files.type or intent.files.narrow) else _each(intent, "touch")


def _du(intent: Intent, how: str) -> str:
    stages = [stage for stage in intent.stages if stage.op != "agg"]
    total = len(stages) != len(intent.stages) or "all" in intent.form
    if "average" in intent.form:
        average = "{ s += $1 } END { if (NR) print s / NR }"
        return f"{find_words(structs.replace(intent.files, type=intent.files.type or 'f'))} -printf '%s\\n' | awk '{average}'"
    order = next((stage for stage in stages if stage.op == "sort"), None)
    rest = [stage for stage in stages if stage.op != "sort"]
    sort = []
    if order is not None and order.order is not None:
        sort = [f"sort -h{'r' if order.order.reverse else ''}"]
    after = [*sort, *merged(tuple(rest))]
    files = intent.files
    folders = files.type == "d" and not files.narrow
    if intent.group == "dir" or (folders and ("each" in intent.form or files.subfolders)):
        return " | ".join([f"du -h -d 1 {root_words(files)}", *after]) if not files.narrow else ""
    if not files.type and not files.narrow:
        return " | ".join([f"du -sh {paths(intent.texts) or root_words(files)}", *after])
    if total and "bytes" in intent.form:
        return f"{find_words(files)} -printf '%s\\n' | awk '{{ s += $1 }} END {{ print s }}'"
    if total and "humansize" not in intent.form and "disk" not in intent.form:
        program = '{ total += $1 } END { printf "%d bytes (%.1f MiB)\\n", total, total / 1048576 }'
        return f"{find_words(files)} -printf '%s\\n' | awk '{program}'"
    if total:
        return f"{find_words(files)} -exec du -ch {{}} + | tail -n 1"
    if files.type == "d":
        depth = f" -d {files.max_depth}" if files.max_depth else ""
        return (
            " | ".join([f"du -h{depth} {root_words(files)}", *after])
            if not files.narrow
            else " | ".join([f"{find_words(files)} -exec du -sh {{}} +", *after])
        )
    return " | ".join([f"{find_words(files)} -exec du -h {{}} +", *after])


def _rename(intent: Intent, how: str) -> str:
    files, values = intent.files, [value.text for value in intent.args]
    if intent.stages:
        return ""
    if not files.narrow and not files.roots and not files.type:
        return ""
    files = structs.replace(files, type=files.type or "f")
    find = find_words(files, inner_only=True)
    if how in ("prefix", "suffix"):
        text = values[0].removeprefix("*")
        new = '"${f%/*}/$0${f##*/}"' if how == "prefix" else '"$f$0"'
        if how == "suffix" and re.fullmatch(r"[A-Za-z]{1,4}", text) and text in ("bak", "old", "txt", "tmp", "orig"):
            text = "." + text
        return f"""{find} -exec sh -c 'for f; do mv -n -- "$f" {new}; done' {shlex.quote(text)} {{}} +"""
    if how in ("upper", "lower"):
        sets = "'[:lower:]' '[:upper:]'" if how == "upper" else "'[:upper:]' '[:lower:]'"
        sets = sets.replace("'", '"')
        return f"""{find} -exec sh -c 'for f; do b=${{f##*/}}; mv -n -- "$f" "${{f%/*}}/$(printf %s "$b" | tr {sets})"; done' sh {{}} +"""
    if how in ("space", "replace"):
        old, new = (" ", values[0]) if how == "space" else (values[0], values[1])
        if "/" in new or not old:
            return ""
        script = 'old=$0 new=$1; shift; for f; do b=${f##*/}; mv -n -- "$f" "${f%/*}/${b//"$old"/"$new"}"; done'
        chosen = f"-name {shlex.quote('*' + literal_glob(old) + '*')}"
        return f"{find} {chosen} -exec bash -c '{script}' {shlex.quote(old)} {shlex.quote(new)} {{}} +"
    return ""


def _archive(intent: Intent, how: str) -> str:
    files = intent.files
    if intent.stages:
        return ""
    target = next((value for value in intent.args if re.search(r"(?i)\.(tar|t\w+|zip|gz|bz2|xz)\Z", value.text)), None)
    if how in ("gzip", "bzip2", "xz") and target is None:
        if intent.texts:
            return f"{how} {paths(intent.texts)}"
        if not files.narrow and files.type != "f":
            return ""
        return f"{find_words(structs.replace(files, type=files.type or 'f'))} -exec {how} {{}} +"
    if target is None:
        return ""
    name = target.render()
    is_zip = how == "zip" or target.text.endswith(".zip")
    if intent.texts or (not files.narrow and files.type not in ("f",)):
        what = paths(intent.texts) if intent.texts else root_words(files) if files.roots else ""
        if not what:
            return ""
        return f"zip -r {name} {what}" if is_zip else f"tar -caf {name} {what}"
    if is_zip:
        return f"{find_words(files)} -exec zip {name} {{}} +"
    return f"{find_words(files)} -print0 | tar --null -T - -caf {name}"


def _compare(intent: Intent, how: str) -> str:
    """Two given files against each other."""
    if len(intent.texts) != 2:
        return ""
    first, second = (text.render() for text in intent.texts)
    separator = f" -d{shlex.quote(intent.separator)}" if intent.separator not in ("", "\t") else ""
    command = {
        "diff": f"diff {first} {second}",
        "paste": f"paste{separator} {first} {second}",
        "only": f"grep -vxFf {second} {first}",
        "lines common": f"grep -xFf {first} {second}",
    }[how]
    return " | ".join([command, *merged(intent.stages)])


_ACTIONS = {
    "compare": _compare,
    "delete": _delete,
    "copy": lambda intent, how: _copy(intent, "cp"),
    "move": lambda intent, how: _copy(intent, "mv"),
    "chmod": _chmod,
    "chown": _chown,
    "hash": _hash,
    "touch": _touch,
    "du": _du,
    "rename": _rename,
    "archive": _archive,
}
__all__ = ["action_command", "line_command", "quote_path"]
