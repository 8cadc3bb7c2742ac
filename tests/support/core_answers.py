"""Tell what the core answers (ratings, redaction, exported scripts) as JSON, to be compared between Pythons. Runs in the root."""

from __future__ import annotations

import json
import sys
from pathlib import Path

COMMANDS = 150


def answers() -> dict[str, object]:
    """Of the own corpora, and of texts that must not leave their place in a script."""
    from agent.emitters.export.script import statement
    from agent.redaction.redactor import SecretRedactor
    from agent.risk.classifier import classify

    rows = [
        json.loads(line)
        for name in ("corpus", "lookalikes")
        for line in Path(f"tests/risk_{name}.jsonl").read_text().splitlines()
    ]
    commands = [row["command"] for row in rows][:: max(1, len(rows) // COMMANDS)]
    odd = [
        "a ;;",
        "a;;b",
        "x 'y",
        'x "y $z"',
        'x "$aaaaaaaaaaaa$bbbbbbbbbbbbb',
        "a & & b",
        "> >",
        "a && ",
        "| a",
        "a\n;;",
        "a )",
        "if x",
        "a ;",
        "é ü",
    ]
    redactor = SecretRedactor({"GIVEN": "tr0ub4dor-and-3"}, key=b"k" * 16)
    return {
        "levels": [classify(command, _context()).level.value for command in commands],
        "statements": [statement(command) for command in [*odd, *commands]],
        "redacted": [
            redactor.redact_command(f"export TOKEN=ghp_9fKq2LmX7RtVbW4sZcY8nH1jPdQ0aEuG3oTi; {command}")
            for command in commands
        ],
    }


def _context() -> object:
    from agent.protocol.decisions import RiskContext

    return RiskContext(cwd="/home/you/w", home="/home/you", workspace="/home/you/w")


if __name__ == "__main__":
    json.dump(answers(), sys.stdout)
