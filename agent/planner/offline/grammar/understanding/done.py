"""Check that an intent does all that the verbs of its goal say."""

from __future__ import annotations

from agent.planner.offline.grammar.intent import Intent
from agent.planner.offline.grammar.understanding.draft import LINE_NOUNS, Draft

_ALWAYS_DONE = frozenset({"show", "find", "count", "sort", "compute"})
# Steps that choose, count or order lines, and leave what they say as it is.
_CHOOSES = frozenset(
    {
        "match", "anchored", "regex", "where", "head", "tail", "skip", "drop", "from", "line", "lines", "range", "between", "every",
        "sort", "count", "occurrences", "longest", "shortest", "longer", "shorter", "length_is", "cols", "regex_o", "numbers", "sample",
    }
)  # fmt: skip
_CHANGES = frozenset({"replace", "convert", "change", "add", "split", "prepend", "append"})


def verbs_done(intent: Intent, verbs: set[str], draft: Draft) -> bool:
    """Tell whether the intent does what every verb of the goal says."""
    kind = intent.action.partition(" ")[0]
    for verb in verbs - _ALWAYS_DONE:
        done = (
            verb == kind
            or (verb in _CHANGES and _changed(intent) and not kind)
            or (verb in ("delete", "extract", "join") and intent.source != "files" and bool(intent.stages) and not kind)
            or (verb == "join" and len(intent.texts) > 1)
            or (verb == "join" and intent.source == "content")
            or (verb == "extract" and (bool(intent.stages) or bool(intent.shown)))
            or (verb in ("save", "append") and intent.sink.path is not None)
            or (verb in ("change", "add", "delete", "convert") and kind in ("chmod", "chown", "touch", "rename"))
            or (verb == "create" and (kind in ("chmod", "archive", "touch") or intent.sink.path is not None))
            or (verb == "create" and intent.source != "files" and bool(intent.stages) and not kind)
            or (verb == "replace" and kind == "rename")
            or (verb in ("execute", "save") and bool(intent.stages or kind))
            or (verb == "delete" and any("form " + form for form in draft.form & {"noext", "basename"}))
        )
        if not done:
            return False
    if intent.source == "content" and intent.sink.kind == "inplace":
        # "delete all files that ..." must never become an edit of what is in them
        chosen = any(stage.op in ("match", "anchored", "regex", "anyof", "either") for stage in intent.stages)
        spoken_of = {noun for noun, _ in draft.nouns}
        if "name" in draft.row.lemmas or (chosen and not spoken_of & LINE_NOUNS):
            return False
    if intent.source == "content" and not intent.stages and not kind:
        # the same for what is in many files
        return (
            ("content" in draft.row.lemmas or "join" in verbs) and not draft.counts and "same" not in draft.row.lemmas
        )
    if intent.source == "text" and not intent.stages and not kind and not set(intent.shown) - {"name"}:
        # `cat` is what is left where nothing was understood; it needs a word that asks for it.
        kinds = {noun for noun, _ in draft.nouns}
        asked = bool(verbs & {"show", "join", "extract"}) or "content" in kinds or intent.sink.path is not None
        return asked and kinds <= {"content", "file", "line"}
    return True


def _changed(intent: Intent) -> bool:
    """Tell whether lines come out other than they went in."""
    return intent.source != "files" and any(stage.op not in _CHOOSES for stage in intent.stages)
