"""Write the page that leads from each requirement to the tests that show it, as the markers on the tests say."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = "tests/traceability.toml"


def requirements() -> dict[str, str]:
    """Each id with its sentence, in the order of the pages."""
    return {each: text for each, text in tomllib.loads((ROOT / SOURCE).read_text()).items() if each != "lacking"}


def lacking() -> dict[str, str]:
    """What there is not yet of a requirement that has tests for the rest, by its id."""
    return dict(tomllib.loads((ROOT / SOURCE).read_text())["lacking"])


def covered() -> dict[str, list[str]]:
    """Each id that a test names, with the tests; the sources are read, nothing is run."""
    found: dict[str, list[str]] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        text = path.read_text()
        if ".covers(" in text:
            for name, ids in marks(text):
                for each in ids:
                    found.setdefault(each, []).append(f"{path.relative_to(ROOT)}::{name}")
    return found


def marks(source: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The tests of a module with the ids on them. Raises ValueError for a marker that does not spell its ids out."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for each in node.decorator_list:
                if isinstance(each, ast.Call) and ast.unparse(each.func) == "pytest.mark.covers":
                    yield node.name, tuple(ast.literal_eval(argument) for argument in each.args)


def unknown_ids() -> list[str]:
    """Ids on tests, or in the list of what is lacking, that no requirement has, one line each."""
    known = requirements()
    return [f"{SOURCE} says what {each} lacks, which it does not have" for each in lacking() if each not in known] + [
        f"{test} is said to cover {each}, which {SOURCE} does not have"
        for each, tests in covered().items()
        if each not in known
        for test in tests
    ]


def traceability_page() -> str:
    """docs/traceability.md from the sentences and the markers."""
    sentences, tests = requirements(), covered()
    still_open = [each for each in sentences if each not in tests]
    lines = [
        "# From requirements to tests",
        "",
        f"Generated from `{SOURCE}` and the `covers` markers on tests by `make docs`. {len(sentences) - len(still_open)} of",
        f"{len(sentences)} requirements have a test; one without is open, and named here.",
        "",
        f"Open: {', '.join(still_open) or 'none'}.",
        f"Not all there yet: {'; '.join(f'{each} ({what})' for each, what in lacking().items()) or 'none'}.",
        "",
        "| id | requirement | tests |",
        "|---|---|---|",
    ]
    for each, sentence in sentences.items():
        places = "<br>".join(f"`{one}`" for one in tests.get(each, ())) or "open"
        lines.append(f"| {each} | {sentence} | {places} |")
    return "\n".join(lines) + "\n"
