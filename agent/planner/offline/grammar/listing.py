"""List names of files by a command: `find` or `ls`, what is shown beside the name, the order, and what happens to the list."""

from __future__ import annotations

from msgspec import structs

from agent.planner.offline.grammar.findwords import dashed, find_words, grep_words, greppable, root_words, with_filters
from agent.planner.offline.grammar.intent import Files, Intent, Order, Stage
from agent.planner.offline.grammar.pipelines import merged

_FIELDS = {
    "size": "%s", "mtime": "%T+", "atime": "%A+", "owner": "%u", "group": "%g", "mode": "%M", "inode": "%i",
    "name": "%p", "type": "%y", "target": "%l",
}  # fmt: skip
_NOT_OF_LS = frozenset("absolute noext extonly basename null relative".split())
_OF_LS = frozenset(("name", "size", "mtime"))
_SORT_FIELDS = {"size": "%s", "time": "%T@", "atime": "%A@"}


def list_command(intent: Intent) -> str:
    """The command that prints the files of an intent."""
    stages = list(intent.stages)
    order = next((stage.order for stage in stages if stage.op == "sort"), None)
    listing = ls_command(intent, order)
    if listing:
        return listing
    if intent.group and stages and stages[-1].op == "count":
        return _grouped(intent, order)
    if stages and stages[-1].op == "count":
        if "type" in intent.shown and not intent.files.type:
            return ""
        return " | ".join([_plain(intent.files, counted=True), *_count(stages)])
    if "superlines" in intent.form:
        number = next((stage.args[0] for stage in stages if stage.op == "head"), "1")
        return f"{find_words(intent.files)} -exec wc -l {{}} \\; | sort -rn | head -n {number}"
    if intent.group:
        return ""
    source, used = _source(intent, order)
    left = [stage for stage in stages if not (used and stage.op == "sort")]
    return " | ".join([source, *merged(tuple(left))])


def _grouped(intent: Intent, order: Order | None) -> str:
    """Count the files of each extension, owner, or in each folder."""
    files = structs.replace(intent.files, type=intent.files.type or "f")
    names = {"ext": " -name '*.*'" if not files.names else "", "owner": "", "dir": ""}[intent.group]
    part = {"ext": " | sed 's/.*\\.//'", "owner": " -printf '%u\\n'", "dir": " -printf '%h\\n'"}[intent.group]
    tail = "" if order is not None and order.key == "name" else " | sort -rn"
    return f"{find_words(files)}{names}{part} | sort | uniq -c{tail}"


def _count(stages: list[Stage]) -> list[str]:
    return merged(tuple(stage for stage in stages if stage.op != "sort"))


def ls_command(intent: Intent, order: Order | None) -> str:
    """`ls` where one folder is listed as it stands; "" where that is not what was asked."""
    files, form = intent.files, intent.form
    others = [stage for stage in intent.stages if stage.op != "sort"]
    plain = not files.names and not files.content and not files.excluded and not files.min_depth
    hidden_only = set(files.tests) <= {"-not -path '*/.*'"}
    types = ("", "any", "f") if "hiddentoo" in form and not files.max_depth else ("", "any")
    if not plain or not hidden_only or files.type not in types or "find" in form or "recursive" in form:
        return ""
    if not set(intent.shown) <= _OF_LS or form & _NOT_OF_LS:
        return ""
    if order is not None and order.key not in ("size", "time", "name", "whole"):
        return ""
    if others:
        return ""
    letters = "A" if "hiddentoo" in form else ""
    letters += "l" if form & {"details", "size", "mtime"} else ""
    letters += "h" if "humansize" in form else ""
    letters += "" if order is None else {"size": "S", "time": "t"}.get(order.key, "")
    if order is not None and (
        order.rising if order.key in ("size", "time") else order.reverse
    ):  # ls has the largest first
        letters += "r"
    where = " " + root_words(files) if files.roots or "hiddentoo" in form else ""
    return f"ls{' -' + letters if letters else ''}{where}"


def _plain(files: Files, *, counted: bool = False) -> str:
    """The paths, one a line."""
    if len(files.content) == 1 and greppable(files):
        condition = files.content[0]
        letter = "L" if condition.negated else "l"
        words = dashed(grep_words(condition, files.nocase, files.word, "r" + letter))
        return with_filters(f"grep {words}", files)
    return find_words(files, inner_only=counted or files.subfolders)


def _source(intent: Intent, order: Order | None) -> tuple[str, bool]:
    """The list with what is shown beside the names, in its order; and whether the order is in it already."""
    files, form = intent.files, intent.form
    whole = _by_program(intent, order)
    if whole is not None:
        return whole
    fields = _fields(intent)
    if "extonly" in form:
        files = structs.replace(files, tests=(*files.tests, "-name '*.*'"))
    find = find_words(files, inner_only=files.subfolders and "extonly" not in form)
    tail = " | sed 's/.*\\.//' | sort -u" if "extonly" in form else " | sed 's/\\.[^./]*$//'" if "noext" in form else ""
    if "absolute" in form and not (files.roots and all(root.text.startswith("/") for root in files.roots)):
        return f"{find} -exec realpath {{}} \\;" + tail, False
    sized = order is not None and order.key == "size" and "super" in form
    if order is not None and sized and not intent.shown and not form & {"basename", "relative", "absolute"}:
        if files.type == "d":
            return f"du -h {root_words(files)} | sort -{'r' if order.reverse else ''}h", True
        # What is largest is shown with its size, which is what makes it so. Of the newest the name is wanted.
        return f"{find} -printf '%s\\t%p\\n' | sort -{'r' if order.reverse else ''}n", True
    if order is not None and order.key in _SORT_FIELDS:
        key = _SORT_FIELDS[order.key]
        reverse = "r" if order.reverse else ""
        if key == "%s" and "%s" in fields:
            shape = "%s " + " ".join(field for field in fields if field != "%s")
            return f"{find} -printf '{shape}\\n' | sort -n{reverse}" + tail, True
        shape = f"{key} {' '.join(fields) or '%p'}"
        return f"{find} -printf '{shape}\\n' | sort -n{reverse} | cut -d' ' -f2-" + tail, True
    if fields and fields != ["%p"]:
        return f"{find} -printf '{' '.join(fields)}\\n'" + tail, False
    if "null" in form:
        return find + " -print0", False
    return _plain(files) + tail, False


def _by_program(intent: Intent, order: Order | None) -> tuple[str, bool] | None:
    """Ask `file`, `ls`, `du`, `wc` or find of the files, where what that tells is all that is shown."""
    files, form = intent.files, intent.form
    find = find_words(files, inner_only=files.subfolders)
    if intent.shown == ("type",):
        return f"{find} -exec file {{}} +", False
    if "details" in form:
        letters = ("h" if "humansize" in form else "") + ("d" if files.type in ("d", "any") else "")
        return f"{find} -exec ls -l{letters} {{}} +", False
    if "humansize" in form:
        sort = f" | sort -h{'r' if order.reverse else ''}" if order and order.key in ("size", "human") else ""
        return f"{find} -exec du -h {{}} +{sort}", True
    if "lines" in form:
        return f"{find} -exec wc -l {{}} +", False
    if "bothtarget" in intent.shown:
        return f"{find} -printf '%p -> %l\\n'", False
    return (f"{find} -printf '%l\\n'", False) if _fields(intent) == ["%l"] else None


def _fields(intent: Intent) -> list[str]:
    """List what find prints of each file, the name among it unless only the target of a link is wanted."""
    form = intent.form
    fields = [_FIELDS[kind] for kind in intent.shown if kind in _FIELDS]
    if "octal" in form:
        fields = ["%m" if field == "%M" else field for field in fields]
    if "basename" in form:
        fields = [field if field != "%p" else "%f" for field in fields] or ["%f"]
    if "relative" in form:
        fields = ["%P" if field in ("%p", "%f") else field for field in fields] or ["%P"]
    if fields and fields != ["%l"] and not {"%p", "%f", "%P"} & set(fields):
        fields.append("%p")
    return fields
