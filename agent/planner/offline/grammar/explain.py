"""Describe how a goal was read, in a line: "find · files · *.log · under /var/log"."""

from __future__ import annotations

from agent.planner.offline.grammar.intent import Intent

_TYPES = {
    "f": "files", "d": "folders", "l": "links", "any": "files and folders", "broken": "broken links",
    "": "files and folders", "s": "sockets", "p": "pipes",
}  # fmt: skip


def explain(intent: Intent) -> str:
    """The parts of an intent, joined by middle dots."""
    files = intent.files
    parts = [intent.action or ("find" if intent.source == "files" else "text")]
    if intent.source in ("files", "content"):
        parts.append(_TYPES.get(files.type, files.type))
        parts += [" or ".join(files.names)] if files.names else []
        parts += [test.replace("{name}", "-name") for test in files.tests]
        for condition in files.content:
            parts.append(("without " if condition.negated else "containing ") + " or ".join(condition.texts))
        parts.append("under " + " and ".join(root.text for root in files.roots) if files.roots else "here")
        parts += [f"not in {folder}" for folder in files.excluded]
    parts += [text.text for text in intent.texts]
    for stage in intent.stages:
        if stage.order is not None:
            parts.append("sorted by " + stage.order.key + (" descending" if stage.order.reverse else ""))
        else:
            parts.append(" ".join([stage.op, *(arg for arg in stage.args if arg)]))
    if intent.sink.path is not None:
        parts.append("into " + intent.sink.path.text)
    return " · ".join(parts)
