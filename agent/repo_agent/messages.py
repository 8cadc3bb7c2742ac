"""Write the standard texts of commits and pull requests, and read from a commit what it was for. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

TASK, FEATURE, SUBMITTED = "Task", "Feature", "Submitted-for-review"
"""Trailers of commits."""

_BRANCH = re.compile(r"agent/task-([1-9][0-9]{0,8})")
_LONGEST_TITLE = 100
_LONGEST_BODY = 3_000
"""Characters that a person who is asked about a commit still reads."""
_MOST_FILES = 50
_ORDERS = (
    r"#(?=\d|(?:close|comment|done|fix|resolve|time)\b)|\bGH-(?=\d)|/(?:issues|pull|merge_requests|work_items)/(?=\d)"
    r"|\[(?=(?:skip|no|ci|actions|azurepipelines|circleci)\b)|\*\*\*(?=NO_CI)|\bskip-checks(?=:)"
)
"""Words that make servers close issues or leave out checks, in commits, too."""
_ORDER = re.compile(_ORDERS, re.I)
_ACTIVE = re.compile(rf"{_ORDERS}|:(?=//)|!(?=\[)|\](?=[(\[:])|<(?=[A-Za-z/!?])|\bwww(?=\.)", re.I)
_MENTION = re.compile(r"(?<![\w`/.])@(?=[\w-])")


def branch_of(task: int) -> str:
    """Return the branch on which a task is worked on."""
    return f"agent/task-{task}"


def task_of(branch: str) -> int:
    """Return the task of a branch, 0 where it is of none."""
    found = _BRANCH.fullmatch(branch)
    return int(found[1]) if found else 0


def own_branch(branch: str) -> bool:
    """Tell whether a branch is one of a task."""
    return bool(task_of(branch))


def feature_message(task: int, feature: int, title: str, body: str = "") -> str:
    """Return the message of the commit of a feature."""
    return _message(f"{task}.{feature}", title, body, {TASK: str(task), FEATURE: f"{task}.{feature}"})


def submit_message(task: int, title: str) -> str:
    """Return the message of the commit that submits a task: whatever was left to commit."""
    return _message(str(task), title, "", {TASK: str(task), SUBMITTED: branch_of(task)})


def _message(number: str, title: str, body: str, trailers: dict[str, str]) -> str:
    lines = [f"feat(task {number}): {_obeyed_by_none(one_line(title))}", ""]
    text = _obeyed_by_none(_plain(body)[:_LONGEST_BODY].rstrip())
    if text:
        lines += [text, ""]
    return "\n".join([*lines, *(f"{key}: {value}" for key, value in trailers.items())]) + "\n"


@dataclass(frozen=True)
class Proof:
    """The proof that a task is done: how its tests went (in words), its features with their commits, the files that changed.

    `elsewhere`: the commit up to which the branch came from a remote. `test_setup`: files that say how the tests are run and were
    changed. `pushed_elsewhere`: branches that something else pushed to.
    """

    tests: str
    features: Sequence[tuple[str, str, str]] = ()
    files: Sequence[str] = ()
    acceptance: Sequence[str] = ()
    elsewhere: str = ""
    test_setup: Sequence[str] = ()
    pushed_elsewhere: Sequence[str] = ()


def words_on_tests(*, untestable: bool, green: bool, passed: int | None, total: int | None) -> str:
    """Say how the tests went."""
    if untestable:
        return "the repository has no tests that could be run"
    if green and total == 0:
        return "none ran: there are none yet"
    counts = f": {passed:,} of {total:,} passed" if passed is not None and total is not None else ""
    return f"green after the last change{counts}" if green else f"not green after the last change{counts}"


def pull_request_title(task: int, title: str) -> str:
    """Return the title of a pull request."""
    return _MENTION.sub("@\u200b", f"feat(task {task}): {_defused(one_line(title))}")


def pull_request_body(task: int, title: str, proof: Proof) -> str:
    """Return the text of a pull request, in Markdown. Nobody is notified by a name in it, no issue closed, nothing of elsewhere shown."""
    lines = [f"Task {task}: {_defused(one_line(title))}", ""]
    if proof.acceptance:
        lines += ["## Acceptance", "", *(f"- {_defused(one_line(each, 500))}" for each in proof.acceptance), ""]
    lines += ["## Proof", "", f"- Tests: {proof.tests}"]
    if proof.test_setup:
        lines += ["- **How the tests are run was changed on this branch:**", *_files(proof.test_setup)]
    if proof.pushed_elsewhere:
        names = ", ".join(f"`{each}`" for each in proof.pushed_elsewhere)
        lines.append(f"- **Something else than the agent's tools pushed to {names} meanwhile**")
    lines += [f"- Feature {name}: {_defused(one_line(said))} ({commit[:12]})" for name, said, commit in proof.features]
    if proof.elsewhere:
        lines.append(f"- Begun elsewhere: up to {proof.elsewhere[:12]} the commits alone say which features they are")
    lines += [f"- Files changed: {len(proof.files):,}", *_files(proof.files)]
    return _MENTION.sub("@\u200b", "\n".join(lines)) + "\n"


def _obeyed_by_none(text: str) -> str:
    """Take from the text of a commit what closes issues, leaves out checks or calls people; it reads as before."""
    return _MENTION.sub("@\u200b", _ORDER.sub(lambda found: f"{found[0]}\u200b", text))


def _defused(text: str) -> str:
    """Take from a line of Markdown what refers to issues, shows images, leads elsewhere, or is HTML; it reads as before."""
    return _ACTIVE.sub(lambda found: f"{found[0]}\u200b", text)


def _files(paths: Sequence[str]) -> Iterable[str]:
    yield from (f"  - `{one_line(path, 300).replace('`', '')}`" for path in paths[:_MOST_FILES])
    if len(paths) > _MOST_FILES:
        yield f"  - and {len(paths) - _MOST_FILES:,} more"


def one_line(text: str, limit: int = _LONGEST_TITLE) -> str:
    """Return a text as one line without control characters, at most `limit` characters of it."""
    line = " ".join(_plain(text).split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def _plain(text: str) -> str:
    kept = (char for char in text.replace("\r\n", "\n") if char in "\n\t" or char.isprintable())
    return "\n".join(line.rstrip() for line in "".join(kept).splitlines()).strip()
