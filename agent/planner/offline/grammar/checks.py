"""Check that everything an intent says can be done together. What cannot is better not offered than left out silently."""

from __future__ import annotations

from agent.planner.offline.grammar.intent import Intent

_LINE_ORDERS = frozenset({"whole", "name", "col", "length", "human", "version", "month", "random", "count"})
_FILE_ORDERS = frozenset({"whole", "name", "size", "time", "atime", "human", "version", "random"})
# Wishes that change nothing where they do not apply.
_HARMLESS = frozenset({
    "find", "recursive", "show content", "each", "all", "stdout", "onlynumber", "inplace",
    "super", "quiet", "withname", "octal", "hiddentoo", "oneperline",
})  # fmt: skip
_FORMS = {
    "files": frozenset({
        "basename", "noext", "extonly", "absolute", "relative", "size", "humansize", "mtime", "atime", "owner", "group", "mode",
        "inode", "details", "lines", "null", "target", "superlines", "noname", "type",
    }),
    "content": frozenset({"noname", "linenumber", "basename"}),
    "text": frozenset({"linenumber", "noname", "humansize", "size", "mtime", "atime",
        "owner", "group", "mode", "inode", "type", "details"}),
    "literal": frozenset(),
}  # fmt: skip
_ACTION_FORMS = frozenset(
    {"preserve", "nooverwrite", "humansize", "size", "average", "keeptimes", "newfolder", "bytes"}
)


def coherent(intent: Intent) -> bool:
    """Tell whether no part of an intent would be lost in its command."""
    files = intent.files
    orders = [stage.order for stage in intent.stages if stage.order is not None]
    if len(orders) > 2 or sum(stage.op == "count" for stage in intent.stages) > 1:
        return False
    if intent.source in ("text", "literal") and (
        files.narrow or files.excluded or files.max_depth or files.min_depth or files.type in ("d", "l")
    ):
        return False
    if intent.source == "literal" and files.roots:
        return False
    known = _LINE_ORDERS if intent.source != "files" else _FILE_ORDERS
    if any(order.key not in known for order in orders) and intent.action != "du":
        return False
    allowed = _HARMLESS | (_ACTION_FORMS if intent.action else _FORMS[intent.source])
    if intent.source == "files" and any(stage.op in ("uniq_d", "uniq_u") for stage in intent.stages):
        return "basename" in intent.form  # duplicate files are found by what is in them
    if intent.group and (intent.source != "files" or (intent.action and intent.action != "du")):
        return False
    counted = [at for at, stage in enumerate(intent.stages) if stage.op == "count"]
    if counted and any(stage.op not in ("agg",) for stage in intent.stages[counted[0] + 1 :]):
        return False
    kept = {wish for wish in intent.form if wish.startswith("backup ")}
    return (not kept or intent.sink.kind == "inplace") and intent.form - kept <= allowed
