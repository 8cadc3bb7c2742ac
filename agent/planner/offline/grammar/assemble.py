"""Assemble an intent from what was read of a goal: is it about files or about lines, what is counted, what goes where."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from agent.planner.offline.grammar.intent import Intent, Sink, Stage
from agent.planner.offline.grammar.stagesread import RANKS, Step
from agent.planner.offline.grammar.tablewords import table_in
from agent.planner.offline.grammar.understanding.tables import fit_to_table
from agent.planner.offline.grammar.uniqueness import unique_and_frequency
from agent.planner.offline.values import Value

if TYPE_CHECKING:
    from agent.planner.offline.grammar.understanding.forms import Forms

_CONTENT_OPS = frozenset({
    "match", "anchored", "regex", "where", "replace", "replaceword", "cols", "colrange", "colexcept", "addstart", "addend",
    "insert", "addafter", "agg", "occurrences", "longest", "shortest", "upper", "lower", "trim", "ltrim", "rtrim", "delblank",
    "nocr", "crlf", "expand", "unexpand", "squeeze", "words", "nodigit", "nopunct", "longer", "shorter", "range", "line",
    "delchar", "nocomment", "trsep",
})  # fmt: skip
_COUNT_LETTERS = {"line": "l", "word": "w", "char": "m", "byte": "c", "entry": "l"}
_EDITING = frozenset({"replace", "delete", "change", "add", "append", "convert"})
_SHOWING = frozenset({"show", "find", "count", "sort", "compute", "extract"})
# Numbers that stand for something, so that none is more than another.
_LABELS = frozenset({"status", "code", "port", "id", "year"})
_NEGATED = {"range": "delrange", "line": "delline"}


def separator_of(draft: Forms) -> str:
    """The separator of columns: what was said, else what the name of the file says, "" for white space."""
    if draft.stages.separator:
        return draft.stages.separator
    texts = [text.text for text in draft.texts] + list(draft.files.names)
    seen = table_in(draft.row.sentence)
    if texts and seen is not None and seen.separator and texts[0].endswith(".csv"):
        return seen.separator
    if texts and all(text.endswith(".csv") for text in texts):
        return ","
    if texts and all(text.endswith(".tsv") for text in texts):
        return "\t"
    table = table_in(draft.row.sentence)
    if table is not None and texts:
        return table.separator
    return ":" if texts and all(text in ("/etc/passwd", "/etc/group", "/etc/shadow") for text in texts) else ""


def assemble(draft: Forms) -> Intent:
    """The intent of a goal whose pieces have all been applied."""
    kinds = [kind for kind, _ in draft.nouns]
    verbs = [verb for verb, _ in draft.verbs]
    source = _source(draft, kinds)
    _place_counts(draft, source)
    _negate_deleted(draft, source)
    action, args = draft.action, draft.args
    case = next((s for s in draft.stages.steps if s.stage.op in ("upper", "lower")), None)
    if "rename" in verbs and not action and case is not None and not draft.texts:
        action, source = f"rename {case.stage.op}", "files"
        draft.stages.steps.remove(case)
    if source in ("files", "text") and not action and "create" in verbs and "-executable" in draft.files.tests:
        action, args = "chmod to", (Value(text="+x"),)  # "make ... executable"
        draft.files.tests.remove("-executable")
    if source == "files" and not action:
        for verb in ("delete", "copy", "move", "archive"):
            if verb in verbs:
                action = verb
                break
    if action.startswith("archive") and draft.dest is None and draft.sink.path is not None:
        draft.dest = draft.sink.path
        draft.sink = Sink()
    if action in ("copy", "move") and draft.dest is not None and _is_new_folder(draft):
        draft.form.add("newfolder")
    stages = _stages(draft, source, kinds)
    files = draft.files.finish()
    return Intent(
        source=source,
        files=files,
        texts=tuple(draft.texts),
        literal=draft.literals[0].text if source == "literal" else None,
        action=action,
        args=args + ((draft.dest,) if draft.dest is not None else ()),
        stages=stages,
        sink=_sink(draft, source, verbs, stages),
        form=frozenset(
            draft.form
            | ({"find"} if "find" in verbs else set())
            | ({"recursive"} if draft.files.recursive else set())
            | ({"show content"} if "content" in kinds else set())
        ),
        group=draft.group,
        shown=tuple(dict.fromkeys(draft.shown)),
        separator=separator_of(draft),
    )


def _is_new_folder(draft: Forms) -> bool:
    """Tell whether the goal says of its destination that it is a folder that is not there yet."""
    target = draft.dest
    if target is None or draft.scene.exists(target.text):
        return False
    lows = [token.low for token in draft.row.sentence.tokens]
    return bool({"new", "called", "named", "create", "make"} & set(lows)) and bool(
        {"folder", "directory", "subfolder"} & set(lows)
    )


def _source(draft: Forms, kinds: list[str]) -> str:
    if draft.texts:
        return "text"
    if draft.action == "du":
        return "files"
    if draft.literals and not draft.files.roots and not draft.files.type:
        return "literal"
    about_lines = any(kind in ("line", "word", "char", "content", "byte", "number") for kind in kinds)
    if "name" in kinds and not about_lines and not draft.seeks and draft.files.type and _only_recased(draft):
        return "files"  # their names in upper case
    changes = any(step.stage.op in _CONTENT_OPS for step in draft.stages.steps)
    if draft.stages.frequency in ("word", "char"):
        about_lines = True
    return "content" if draft.seeks or ((about_lines or changes) and not draft.action.startswith("rename")) else "files"


def _only_recased(draft: Forms) -> bool:
    """Tell whether nothing but the case of letters is changed."""
    ops = {step.stage.op for step in draft.stages.steps} & _CONTENT_OPS
    return ops <= {"upper", "lower"}


def _place_counts(draft: Forms, source: str) -> None:
    if draft.counting >= 0:  # "count them"
        draft.counts.append(("line" if source != "files" else "file", draft.counting))
    if any(step.stage.op == "occurrences" for step in draft.stages.steps):
        return
    letters = {_COUNT_LETTERS.get(kind, "l") for kind, _ in draft.counts}
    if len(letters) > 1 and letters <= set("lwmc"):
        letter = "".join(sorted(letters, key="lwmc".index))
        draft.stages.steps.append(
            Step(clause=draft.counts[0][1], rank=RANKS["count"], stage=Stage(op="count", args=(letter,)))
        )
        return
    for kind, clause in dict.fromkeys(draft.counts):
        letter = _COUNT_LETTERS.get(kind, "l")
        draft.stages.steps.append(Step(clause=clause, rank=RANKS["count"], stage=Stage(op="count", args=(letter,))))


def _negate_deleted(draft: Forms, source: str) -> None:
    """ "delete the lines that contain x" keeps the others."""
    if not draft.deleting or source not in ("text", "content"):
        return
    for step in draft.stages.steps:
        stage = step.stage
        if step.clause not in draft.deleting:
            continue
        if stage.op in ("match", "anchored", "regex"):
            letters = stage.args[0]
            flipped = letters.replace("v", "") if "v" in letters else letters + "v"
            step.stage = structs.replace(stage, args=(flipped, *stage.args[1:]))
        elif stage.op in _NEGATED:
            step.stage = structs.replace(stage, op=_NEGATED[stage.op])
        elif stage.op in ("head", "tail"):
            step.stage = structs.replace(stage, op={"head": "skip", "tail": "drop"}[stage.op])


def _stages(draft: Forms, source: str, kinds: list[str]) -> tuple[Stage, ...]:
    stages = draft.stages
    if draft.topped and stages.order is None and draft.super_order is None and not stages.frequency:
        _rank(draft, kinds)
    about_words = "word" in kinds and not any(
        kind == "word" for kind, _ in draft.counts if len(draft.counts) == 1 and not _has_unique(draft)
    )
    if (
        source in ("text", "content", "literal")
        and about_words
        and (_has_unique(draft) or stages.frequency in ("word", "common"))
        and not any(step.stage.op == "words" for step in stages.steps)
    ) or (
        source in ("text", "content")
        and "word" in kinds
        and not draft.counts
        and (stages.order is not None or "oneperline" in draft.form)
        and not any(s.stage.op in ("words", "cols") for s in stages.steps)
        and "line" not in kinds
    ):
        stages.steps.append(Step(clause=0, rank=RANKS["split"] - 5, stage=Stage(op="words")))
    if stages.frequency == "char":
        stages.steps.append(Step(clause=0, rank=RANKS["split"], stage=Stage(op="singlechars")))
    if draft.super_order is not None and source != "files":
        kind, number = draft.super_order
        stages.sort(stages.order_clause, key="whole", numeric=True, reverse=kind in ("large", "new"))
        stages.add("limit", "head", number or "1", clause=stages.order_clause)
    if draft.super_order is not None and source == "files":
        kind, number = draft.super_order
        key = "size" if kind in ("large", "small") else "time"
        stages.sort(stages.order_clause, key=key, reverse=kind in ("large", "new"))
        draft.form.add("super")
        lows = {token.low for token in draft.row.sentence.tokens}
        plural = bool(lows & {"files", "folders", "directories", "ones"})
        if not any(step.stage.op == "head" for step in stages.steps):
            stages.add("limit", "head", number or ("10" if plural else "1"), clause=99)
    if draft.topped and stages.order is not None and stages.order.key in ("size", "count") and not stages.order.then:
        stages.sort(stages.order_clause, reverse=True)  # the top of sizes are the largest
    separator = separator_of(draft)
    if any(step.stage.op == "uniq_keep" for step in stages.steps):
        stages.steps = [step for step in stages.steps if step.stage.op != "unique"]
    finished = list(unique_and_frequency(_summed(list(stages.finish(separator))), stages.frequency))
    return tuple(fit_to_table(draft, finished, separator))


def _rank(draft: Forms, kinds: list[str]) -> None:
    """The top of a column of numbers are the largest; of other values, of words and of lines with a text those that come most often."""
    stages, table = draft.stages, table_in(draft.row.sentence)
    ops = [step.stage.op for step in stages.steps]
    column = next((step.stage.args[-1] for step in stages.steps if step.stage.op == "cols"), "")
    if column and table is not None and column in table.numeric and not _LABELS & set(draft.row.lemmas):
        stages.sort(0, key="whole", numeric=True, reverse=True)
    elif (
        ops.count("cols") == 1 or ("word" in kinds and "line" not in kinds) or ("match" in ops and "line" not in kinds)
    ):
        stages.frequency = "common"
    elif draft.topped == "ranked":
        stages.add("match", "nothing")  # the top by what?
    if draft.topped == "ranked" and "head" not in ops:
        stages.add("limit", "head", "10", clause=99)


def _summed(stages: list[Stage]) -> list[Stage]:
    """The sum of a column, where one column was named before."""
    out: list[Stage] = []
    for stage in stages:
        if stage.op == "agg" and out and out[-1].op == "cols" and len(out[-1].args) == 2:
            out.append(structs.replace(stage, args=(stage.args[0], *out.pop().args)))
        else:  # of a table nobody said which column
            out.append(stage if stage.op != "agg" or stage.args[-1] else Stage(op="nothing"))
    return out


def _has_unique(draft: Forms) -> bool:
    return any(step.stage.op in ("unique", "dups", "once") for step in draft.stages.steps)


def _sink(draft: Forms, source: str, verbs: list[str], stages: tuple[Stage, ...]) -> Sink:
    if draft.sink.kind != "show":
        return draft.sink
    if "inplace" in draft.form:
        return Sink(kind="inplace")
    main = next((verb for verb in verbs if verb in _EDITING | _SHOWING), "")
    if "stdout" in draft.form or "show" in verbs or main not in _EDITING or main == "convert" or source == "literal":
        return Sink()
    from agent.planner.offline.grammar.render import edit_scripts

    # What sed cannot do in the file itself is shown; whoever wants it back in the file says so.
    if source in ("text", "content") and stages and (source == "content" or edit_scripts(stages)):
        return Sink(kind="inplace")
    return Sink()
