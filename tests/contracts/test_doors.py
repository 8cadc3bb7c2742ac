"""What changes files of the person goes through the gate: who may approve, and who writes what, is listed here."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.protocol.approvals import ApprovedCommand, Consent
from agent.protocol.decisions import Level, RiskReport
from tests.support.each import each

AGENT = Path(__file__).resolve().parents[2] / "agent"

APPROVED = ("ApprovedCommand", "ApprovedFileAction", "ApprovedUndo", "ApprovedRehearsal")
APPROVERS = {
    "gate/confirmation.py": {"ApprovedCommand"},
    "gate/file_actions.py": {"ApprovedFileAction"},
    "gate/undo_actions.py": {"ApprovedUndo"},
    "gate/previews.py": {"ApprovedRehearsal"},
    "gate/rehearsals.py": {"ApprovedRehearsal"},
    "execution/diagnosis.py": {"ApprovedRehearsal"},  # `true`, over an overlay, to see whether there are any here
}

WRITERS = {
    # named by the person on the command line or in settings
    "app/composition.py": "--telemetry-file",
    "audit/importing/store.py": "sessions import",
    "audit/sql/database.py": "sessions sql",
    "audit/sql/staging.py": "lines in the private folder of a query",
    "audit/sql/reading.py": "rows in the private folder of a query",
    "frontends/sessions/export.py": "sessions export -o",
    "frontends/shell_history.py": "appended to, as the shell itself would",
    # our own state: logs, keys, policy, settings, memory
    "audit/retention.py": "session logs",
    "config/paths.py": "our folders",
    "config/private_file.py": "what is ours and small: policy, settings, signatures, the vault, the library",
    "config/write_user.py": "the config file, with `:set --save`",
    "frontends/repl/goal_history.py": "history of the prompt",
    "library/entries.py": "roles and macros that the person keeps",
    "memory/files.py": "accepted commands",
    "recording/disk.py": "session logs",
    "recording/integrity/heads.py": "heads of chains",
    "recording/integrity/log_proof.py": "heads of chains",
    "recording/integrity/rewriting.py": "session logs",
    "recording/integrity/signing.py": "signatures",
    "recording/integrity/staged.py": "session logs",
    "recording/logfile.py": "session logs",
    "recording/permissions.py": "rights of session logs",
    "recording/private_database.py": "the index",
    "redaction/key.py": "the key of labels",
    "retrieval/manuals.py": "what manual pages say, in the cache folder",
    # temporary, and what is compiled at install
    "audit/sql/query_limits.py": "a folder that goes with the query",
    "cli/entry.py": "/dev/null and the terminal",
    "compiled.py": "compiled tables",
    "conversation/background/task_handlers.py": "an index that goes with the question",
    "frontends/confirm/tty_confirm.py": "the terminal",
    "frontends/external_programs.py": "what an editor or pager is given",
    "frontends/sessions/pager.py": "what a pager is given",
    "planner/offline/book_build.py": "compiled tables",
    "repo_agent/beginning.py": "the folder of a rehearsal",
    "repo_agent/cycle.py": "the folder of a rehearsal",
    "repo_agent/marks.py": "what is kept of a task, in the state folder",
    "repo_agent/open_questions.py": "the question that waits for its answer",
    "repo_agent/local_reviews.py": "a review before git takes it",
    "repo_agent/worktrees.py": "the folder of worktrees, what was submitted from them, and which features got a commit",
    "tools/root.py": "reading alone, by descriptors",
}
"""Who may change files without an action, and which."""

_OS = frozenset(
    "replace rename renames unlink remove rmdir removedirs mkdir makedirs link symlink truncate chmod lchmod chown "
    "lchown mkfifo mknod utime setxattr removexattr fchmod fchown ftruncate".split()
)
_PATH = frozenset("write_text write_bytes unlink touch rmdir mkdir symlink_to hardlink_to".split())
_SHUTIL = frozenset("rmtree move copy copy2 copyfile copytree copyfileobj chown".split())
_TEMPFILE = frozenset("mkdtemp mkstemp NamedTemporaryFile TemporaryDirectory TemporaryFile".split())
_FLAGS = frozenset("O_WRONLY O_RDWR O_CREAT O_TRUNC O_APPEND O_TMPFILE".split())


_LOOKED_FOR = re.compile(
    rf"\b(?:{'|'.join((*APPROVED, 'force_setattr', 'Journals', 'open', *_PATH, *_TEMPFILE))})\s*\("
    rf"|\b(?:os\s*\.\s*(?:{'|'.join(_OS)})|shutil\s*\.\s*(?:{'|'.join(_SHUTIL)}))\s*\("
)


@cache
def modules() -> tuple[tuple[str, list[tuple[str, str, ast.Call]]], ...]:
    """Each module of ours that holds a name of what is looked for, and its calls; to read them all takes seconds."""
    read = ((str(path.relative_to(AGENT)), path.read_text()) for path in sorted(AGENT.rglob("*.py")))
    return tuple((name, list(calls(ast.parse(text)))) for name, text in read if _LOOKED_FOR.search(text))


def calls(tree: ast.AST) -> Iterator[tuple[str, str, ast.Call]]:
    """What each call is of: the object (by its last name) and the function."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        match node.func:
            case ast.Name(id=name):
                yield "", name, node
            case ast.Attribute(value=ast.Name(id=owner) | ast.Attribute(attr=owner), attr=name):
                yield owner, name, node
            case ast.Attribute(attr=name):
                yield "?", name, node


def changes(owner: str, name: str, call: ast.Call) -> bool:
    """Tell whether a call may change a file by its name."""
    if owner == "os" and name == "open":
        return any(isinstance(each, ast.Attribute) and each.attr in _FLAGS for each in ast.walk(call)) or any(
            isinstance(each, ast.Name) for each in call.args[1:2]
        )
    if name == "open" and owner in ("", "io", "gzip"):
        mode = [*call.args[1:2], *(word.value for word in call.keywords if word.arg == "mode")]
        return any(not isinstance(each, ast.Constant) or set(str(each.value)) & set("wax+") for each in mode)
    return (
        (owner == "os" and name in _OS)
        or (owner == "shutil" and name in _SHUTIL)
        or (owner in ("tempfile", "") and name in _TEMPFILE)
        or (owner not in ("os", "") and name in _PATH)
    )


def writers() -> dict[str, list[str]]:
    """Who, outside of the room of processes, calls what may change a file."""
    found: dict[str, list[str]] = {}
    for module, called in modules():
        told = [f"{owner}.{name}" for owner, name, call in called if changes(owner, name, call)]
        if told and not module.startswith("execution/"):
            found[module] = told
    return found


def test_only_the_gate_approves() -> None:
    found: dict[str, set[str]] = {}
    for module, called in modules():
        made = {name for _, name, _ in called if name in APPROVED}
        if made:
            found[module] = made
    assert found == APPROVERS


def test_nothing_goes_round_what_an_approved_value_checks() -> None:
    told = [f"{module}: {name}" for module, called in modules() for _, name, _ in called if name == "force_setattr"]
    assert told == []
    low = RiskReport(command="ls", level=Level.LOW)
    approved = ApprovedCommand(command_id="c", command="ls", report=low, consent=Consent(by="policy"))
    with pytest.raises(ValueError, match="another text"):
        replace(approved, command="rm -r /")
    with pytest.raises(AttributeError):
        approved.command = "rm -r /"  # type: ignore[misc]


def test_journals_are_had_through_their_port_alone() -> None:
    """Which takes `ApprovedUndo`; only the composition root makes the store."""
    made = {module for module, called in modules() for _, name, _ in called if name == "Journals"}
    assert {module for module in made if not module.startswith("execution/")} == {"app/execution.py"}


def test_who_writes_files_is_known() -> None:
    """Files of ours, what the person names on the command line, and temporary ones. Whatever else changes files is an action."""
    assert sorted(writers()) == sorted(WRITERS)


@each(
    "source",
    [
        "os.replace(a, b)", "os.unlink(p)", "os.open(p, os.O_WRONLY)", "os.open(p, flags)", "open(p, 'w')", "open(p, mode)",
        "io.open(p, mode='a')", "path.write_text(t)", "Path(p).unlink()", "shutil.rmtree(p)", "open(p, 'r+')",
    ],
)  # fmt: skip
def test_what_writes_is_found(source: str) -> None:
    assert _LOOKED_FOR.search(source)
    assert any(changes(*call) for call in calls(ast.parse(source)))


@each("source", ["open(p)", "open(p, 'rb')", "text.replace(a, b)", "os.open(p, os.O_RDONLY)", "replace(a)"])
def test_what_reads_is_none(source: str) -> None:
    assert not any(changes(*call) for call in calls(ast.parse(source)))
