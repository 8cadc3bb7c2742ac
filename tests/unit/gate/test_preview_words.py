"""The sentence of a preview: losses first and counted, names made safe, a failure said as one."""

from __future__ import annotations

from agent.gate.preview_words import preview_line
from agent.protocol.decisions import RiskContext
from agent.protocol.rehearsals import Change, FileState
from agent.risk.classifier import classify
from tests.support.each import each
from tests.support.fake_rehearser import rehearsal_of
from tests.support.fakes import failing

FILE = FileState(kind="file", mode=0o644, uid=0, gid=0, size=5)
EMPTY = FileState(kind="dir", mode=0o755, uid=0, gid=0)
FULL = FileState(kind="dir", mode=0o755, uid=0, gid=0, entries=3, total_bytes=2048)


def line(command: str, *changes: Change, **more: object) -> str:
    report = classify(command, RiskContext(cwd="/work", workspace="/work"))
    return preview_line(rehearsal_of(command, *changes, **more), report)


def gone(name: str, before: FileState = FILE) -> Change:
    return Change(path=f"/work/{name}", op="delete", kind=before.kind, before=before)


def new(name: str, after: FileState = FILE) -> Change:
    return Change(path=f"/work/{name}", op="create", kind=after.kind, after=after)


def altered(name: str, diff: str = "", after: FileState = FILE) -> Change:
    return Change(path=f"/work/{name}", op="modify", kind="file", before=FILE, after=after, diff=diff)


@each(
    ("changes", "said"),
    [
        ((), "would change nothing"),
        ((gone("a"),), "would delete a"),
        ((gone("a", EMPTY), gone("b", EMPTY)), "would delete 2 folders (both empty): a/, b/"),
        ((gone("a", EMPTY), gone("b")), "would delete 1 folder and 1 file (the folder is empty): a/, b"),
        ((new("d", EMPTY), new("d/x"), new("d/y")), "would create d/ (with 2 entries)"),
        (tuple(new(str(n)) for n in range(5)), "would create 5 files: 0, 1, 2, …"),
        ((Change(path="/else/x", op="create", kind="file", after=FILE),), "would create /else/x"),
    ],
)
def test_changes_are_said_by_kind_and_counted(changes: tuple[Change, ...], said: str) -> None:
    assert line("true", *changes) == said


def test_what_is_lost_comes_first_however_the_changes_are_ordered() -> None:
    said = line("true", new("n"), Change(path="/work/b", op="rename", kind="file", source="/work/a"), gone("z", FULL))
    assert said.startswith("would delete z/ (with 3 entries, ")
    assert said.index("delete") < said.index("rename") < said.index("create")


def test_a_name_that_goes_to_another_file_is_overwritten_and_not_deleted() -> None:
    moved = Change(path="/work/b", op="rename", kind="file", before=FILE, after=FILE, source="/work/a")
    assert line("mv a b", gone("b"), moved) == "would overwrite b; rename a → b"


@each(
    ("command", "change", "verb"),
    [
        ("sed -i s/a/b/ x", altered("x", "-a\n+b\n"), "change x (+1 −1)"),
        ("echo hi > x", altered("x", "-a\n+hi\n"), "overwrite x (+1 −1)"),
        ("echo hi >> x", altered("x", "+hi\n"), "change x (+1 −0)"),
        ("true > x", altered("x", after=FileState(kind="file", mode=0o644, uid=0, gid=0)), "overwrite x"),
    ],
)
def test_replacing_is_told_from_changing(command: str, change: Change, verb: str) -> None:
    assert line(command, change) == f"would {verb}"


def test_permissions_are_said_as_that() -> None:
    after = FileState(kind="file", mode=0o755, uid=0, gid=0, size=5)
    change = Change(path="/work/x", op="meta", kind="file", before=FILE, after=after)
    assert line("chmod +x x", change) == "would change the permissions of x (executable from then on)"


@each("name", ["a\x1b[2Jb", "a\nwould change nothing", "a\u202eb", "\udc80", "x" * 300])
def test_a_hostile_name_cannot_leave_its_place(name: str) -> None:
    said = line("true", gone(name))
    assert said.startswith("would delete ")
    assert said.isprintable()
    assert said.encode()
    assert len(said) < 140


def test_a_name_with_blanks_shows_where_it_ends() -> None:
    assert line("true", gone("a b, c")) == "would delete ‘a b, c’"


def test_what_fails_says_so_with_the_last_line_that_was_printed() -> None:
    failed = failing(1, "first\nmv: no\x1b[1m a\n")
    said = line("mv a b", result=failed)
    assert said.startswith("fails when tried out (exit 1): mv: no")
    assert "\x1b" not in said
    both = line("mv a b", gone("z"), result=failed)
    assert both.startswith("would delete z; and fails when tried out (exit 1)")


def test_what_stays_in_the_shell_is_said() -> None:
    assert line("cd d", shell=("folder: /work/d",)) == "would leave in the shell: folder: /work/d"
