"""The rights that a rating gives: what it does not say is none."""

from __future__ import annotations

from agent.policy.rights import as_confinement, opens_editor, past, reads_plainly, rights
from agent.protocol.approvals import Rights
from agent.protocol.decisions import Effect, Finding, Level, RiskContext, RiskReport
from agent.protocol.outcomes import ExecutionResult
from agent.protocol.rehearsals import Change, FileState, Rehearsal
from agent.risk.classifier import classify
from tests.support.each import each

CONTEXT = RiskContext(cwd="/w/sub", home="/home/me", workspace="/w")


def of(command: str, context: RiskContext = CONTEXT) -> Rights | None:
    return rights(classify(command, context), context)


@each(
    ("command", "expected"),
    [
        ("ls -la | sort", Rights()),
        ("ls > /dev/null", Rights()),
        ("mkdir new", Rights(write=("/w",))),
        ("touch /home/me/note", Rights(write=("/home/me/note",))),
        ("mkdir /tmp/x", Rights(write=("/tmp/x",))),
        ("git add .", Rights(repositories=("/w/sub",))),
        ("git init", Rights(repositories=("/w/sub",), founded=("/w/sub",))),
        ("git init -q -b main new/x", Rights(repositories=("/w/sub",), founded=("/w/sub/new/x",))),
        ("git init --bare x", Rights(repositories=("/w/sub",))),
        ("git init --template=/w/t", None),
        ("git init /home/me/x", Rights(repositories=("/w/sub",))),
        ("git -C /other tag v1", Rights(repositories=("/other",))),
        ("git fetch", Rights(repositories=("/w/sub",), network=True, services=True)),
        ("git status", Rights()),
        ("curl https://example.com", Rights(network=True)),
        ("ifconfig", Rights(interfaces=True)),
        ("docker ps", Rights(network=True, services=True)),
        ("docker volume ls", Rights(network=True, services=True)),
        ("ssh-add -l", Rights(services=True)),
        ("cp a b", Rights(write=("/w",))),
        ("rm a", Rights(write=("/w",))),
        ("make", None),
        ("vim --version", Rights()),
        ("kill 123", None),
    ],
)
def test_what_a_rating_gives(command, expected):
    assert of(command) == expected


@each(
    ("command", "written"),
    [
        ("cd -- ~/other && mkdir -p hk", ("/home/me/other/hk",)),
        ("cd ~/other; touch a", ("/home/me/other/a",)),
        ("cd /home/me/other && chmod +x f && touch ../g", ("/home/me/other/f", "/home/me/g")),
        ("cd ~/other && printf x > f", ("/home/me/other/f",)),
        ("(cd ~/other && echo > f)", ("/home/me/other/f",)),
        ("cd ~/other && mkdir -p ~/there", ("/home/me/there",)),
        ("cd ~/other && { echo a; cd; echo b; } > f", ("/home/me/other/f",)),
        ("cd ~/other && (echo a) >> f", ("/home/me/other/f",)),
        ("cd ~/other && for i in 1 2; do echo $i; done > f", ("/home/me/other/f",)),
        ("{ echo a; cd ~/other; } > f", ("/w",)),
        ("cd below && { echo a; } > f", ("/w",)),
        ("cd below && mkdir hk", ("/w",)),
        ('cd "$X" && mkdir hk', ("/w",)),
        ("cd ~/other && git add .", ()),
    ],
)
def test_a_relative_path_is_a_right_in_the_folder_where_it_is_written(command, written):
    context = RiskContext(
        cwd="/w/sub", home="/home/me", workspace="/w", facts={"/home/me/other": ("dir",), "/w/sub/below": ("dir",)}
    )
    given = of(command, context)
    assert given is not None
    assert given.write == written
    assert given.repositories == (("/home/me/other",) if "git" in command else ())


@each(
    ("command", "written", "repository"),
    [
        ("git switch main", ("/w",), "/w/sub"),
        ("cd below && git switch main", ("/w",), "/w/sub/below"),
        ("cd ~/other && git switch main", ("/home/me/other",), "/home/me/other"),
        ("cd ~/link && git switch main", (), "/home/me/link"),
        ("cd ~/unseen && git switch main", (), "/home/me/unseen"),
        ("cd && git switch main", (), "/home/me"),
        ("cd / && git switch main", (), "/"),
    ],
)
def test_git_changes_files_where_it_works_and_nowhere_else(command, written, repository):
    facts = dict.fromkeys(("/home/me/other", "/w/sub/below", "/home/me", "/"), ("dir",))
    facts["/home/me/link"] = ("dir", "at=/home/me")
    given = of(command, RiskContext(cwd="/w/sub", home="/home/me", workspace="/w", facts=facts))
    assert given is not None
    assert (given.write, given.repositories) == (written, (repository,))


def test_a_workspace_that_holds_home_is_none():
    assert of("mkdir new", RiskContext(cwd="/home/me", home="/home/me", workspace="/home/me")) == Rights(
        write=("/home/me/new",)
    )


def test_a_report_that_says_nothing_gives_nothing():
    assert rights(RiskReport(command="x", level=Level.LOW), CONTEXT) == Rights()
    unknown = Finding(
        rule="x", level=Level.LOW, reason="", span=(0, 1), effect=Effect(kind="something-new", targets=("/",))
    )
    assert rights(RiskReport(command="x", level=Level.LOW, findings=(unknown,)), CONTEXT) == Rights()


@each(
    ("command", "plain"),
    [
        ("ls | grep x", True),
        ("ps aux", True),
        ("mkdir x", False),
        ("curl x", False),
        ("X=1 ls", False),
        ("sed -n 1p f", False),
        ("$x", False),
    ],
)
def test_plain_readers(command, plain):
    assert reads_plainly(classify(command, CONTEXT)) == plain


def test_the_same_as_a_setting():
    assert as_confinement(Rights()) == "read-only,no-network"
    assert as_confinement(Rights(write=("/w",), network=True)) == "workspace"


def test_a_rehearsal_that_shows_more():
    def shown(*paths: str) -> Rehearsal:
        changes = tuple(Change(path=path, op="create", kind="file") for path in paths)
        return Rehearsal(rehearsal_id="r", command="x", cwd="/w", result=ExecutionResult(exit_code=0), changes=changes)

    assert past(Rights(write=("/w",)), shown("/w/a", "/tmp/b")) == ""
    assert (
        past(Rights(write=("/w",)), shown("/w/a", "/home/me/b"))
        == "it would change /home/me/b, which its rating does not say"
    )
    records = (
        "index",
        "HEAD",
        "refs/heads/main",
        "refs/heads/a/config-2",
        "objects/ab/cdef",
        "logs/HEAD",
        "COMMIT_EDITMSG",
    )
    assert past(Rights(repositories=("/w",)), shown(*(f"/w/.git/{name}" for name in records))) == ""
    for name in (
        "hooks/x",
        "config",
        "config.worktree",
        "info/attributes",
        "objects/info/alternates",
        "commondir",
        "HOOKS/x",
        "CONFIG",
    ):
        for rights_of_it in (
            Rights(repositories=("/w",)),
            Rights(write=("/w",)),
            Rights(write=("/w",), repositories=("/w",)),
        ):
            assert past(rights_of_it, shown(f"/w/.git/{name}")) != "", (name, rights_of_it)
    for path in ("/w/.git", "/w/.git/index", "/w/sub/.GIT/x", "/w/git~1/config", "/w/.agent-shell.toml"):
        assert past(Rights(write=("/w",)), shown(path)) != "", path
    assert past(Rights(write=("/w",), repositories=("/w",)), shown("/w/.agent-shell.toml")) != ""
    for path in ("/w/.gitignore", "/w/.github/x", "/w/x.git/y"):
        assert past(Rights(write=("/w",)), shown(path)) == "", path


def test_a_rehearsal_that_changes_what_others_have_in_temporary_folders_or_gains_rights():
    state = FileState(kind="file", mode=0o644, uid=0, gid=0)

    def shown(change: Change) -> Rehearsal:
        return Rehearsal(
            rehearsal_id="r", command="x", cwd="/w", result=ExecutionResult(exit_code=0), changes=(change,)
        )

    theirs = Change(path="/tmp/theirs", op="delete", kind="file", before=state)
    assert past(Rights(write=("/w",)), shown(theirs)) != ""
    moved = Change(path="/tmp/a", op="rename", kind="file", before=state, after=state, source="/tmp/b")
    assert past(Rights(write=("/w",)), shown(moved)) != ""
    assert past(Rights(write=("/tmp",)), shown(moved)) == ""
    inside = FileState(kind="dir", mode=0o755, uid=0, gid=0)
    for after, said in ((inside, False), (FileState(kind="dir", mode=0o777, uid=0, gid=0), True)):
        folder = Change(path="/w/.git", op="meta", kind="dir", before=inside, after=after)
        assert (past(Rights(repositories=("/w",)), shown(folder)) != "") is said
    for flag in ("setuid", "setgid", "device"):
        assert past(Rights(write=("/w",)), shown(Change(path="/w/x", op="create", kind="file", flags=(flag,)))) != ""


@each("command", ["vi --version >/dev/null; ls", "ls | nano", "ls && /usr/bin/emacs -nw x"])
def test_a_command_with_an_editor_is_never_unasked(command: str) -> None:
    assert opens_editor(classify(command, CONTEXT))
    assert not opens_editor(classify("ls; grep vi notes", CONTEXT))


STATE = FileState(kind="file", mode=0o644, uid=0, gid=0)


def test_a_rehearsed_repository_that_is_new_holds_no_hook_that_runs() -> None:
    made = of("git init")
    assert made is not None

    def shown(change: Change) -> Rehearsal:
        result = ExecutionResult(exit_code=0)
        return Rehearsal(rehearsal_id="r", command="x", cwd="/w", result=result, changes=(change,))

    for inside, fine in (("", True), ("/config", True), ("/HEAD", True), ("/hooks/pre-push.sample", True), ("/hooks/pre-push", False),
                         ("/objects/info/alternates", False), ("/commondir", False)):  # fmt: skip
        change = Change(path=f"/w/sub/.git{inside}", op="create", kind="file", after=STATE)
        assert (past(made, shown(change)) == "") is fine, inside
    there = Change(path="/w/sub/.git/config", op="modify", kind="file", before=STATE, after=STATE)
    assert "config" in past(made, shown(there))
