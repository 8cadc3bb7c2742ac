"""Goals of several steps without a model: taken apart where they say so, each step understood by itself, or no plan at all."""

from __future__ import annotations

from pathlib import Path

from agent.audit.replay.replies import reply_of
from agent.planner.offline.clauses import clauses
from agent.planner.offline.planner import OfflinePlanner, encode_reply
from agent.planner.offline.referring import Told, after, resolved
from agent.planner.offline.spared_folders import without_spared_folders
from agent.protocol.messages import CommandItem, EnvironmentFacts, GoalItem, NoteItem, StepItem
from agent.protocol.replies import Chat, Command, Plan, Reply
from agent.protocol.requests import PlannerRequest
from tests.support.each import each

PLANNER = OfflinePlanner(tools_present=lambda name: True)


def ask(text: str, cwd: str = "/nowhere", *after_goal: object) -> Reply:
    goal = GoalItem(goal_id="g", text=text, environment=EnvironmentFacts(os="Linux", cwd=cwd))
    return PLANNER.answer(PlannerRequest(history=(goal, *after_goal)))  # type: ignore[arg-type]


def commands(text: str, cwd: str = "/nowhere") -> list[str]:
    reply = ask(text, cwd)
    assert isinstance(reply, Plan), reply
    return [step.command for step in reply.steps]


@each(
    ("text", "parts"),
    [
        ("list files", ("list files",)),
        ("make a, then list b", ("make a", "list b")),
        ("make a and then list b, and after that delete c", ("make a", "list b", "delete c")),
        ("make a. Then list b. Finally, delete c.", ("make a", "list b", "delete c")),
        ("make a; list b", ("make a", "list b")),
        ("make a, afterwards list b and finally delete c", ("make a", "list b", "delete c")),
        ("make a, next list b", ("make a", "list b")),
        ("make a. Once that is done, list b", ("make a", "list b")),
        ("1. make a\n2. list b\n3) delete c", ("make a", "list b", "delete c")),
        ("do this:\n- make a\n- list b", ("make a", "list b")),
        ("1) make a 2) list b", ("make a", "list b")),
        ("Step 1: make a\nStep 2: list b", ("make a", "list b")),
        ("find 'now; then; finally' in a.txt", ("find 'now; then; finally' in a.txt",)),
        ('replace "a then b" with "c; d" in x.txt', ('replace "a then b" with "c; d" in x.txt',)),
        ("what's new, then don't ask", ("what's new", "don't ask")),
        ("files changed next week", ("files changed next week",)),
        ("unpack foo.tar.gz into v1.2 folder", ("unpack foo.tar.gz into v1.2 folder",)),
        ("", ()),
    ],
)
def test_where_a_goal_is_cut(text: str, parts: tuple[str, ...]) -> None:
    assert clauses(text) == parts


@each(
    ("text", "expected"),
    [
        (
            "create a folder out, then copy all pdf files into it, and then list it",
            ["mkdir -p out", "find . -type f -iname '*.pdf' -not -path '*/out/*' -exec cp -t ./out {} +", "ls ./out"],
        ),
        (
            "1. create a folder called 'backup'\n2. copy notes.txt to it\n3. show the files there",
            ["mkdir -p backup", "cp notes.txt ./backup", "ls ./backup"],
        ),
        (
            "make a folder reports and move all csv files into it",
            ["mkdir -p reports", "find . -type f -name '*.csv' -not -path '*/reports/*' -exec mv -t ./reports {} +"],
        ),
        (
            "compress the folder src into src.tar.gz, and after that move it to /tmp",
            ["tar -caf src.tar.gz src", "mv ./src.tar.gz /tmp"],
        ),
        ("make a folder aa and create a file bb.txt in it", ["mkdir -p aa", "touch ./aa/bb.txt"]),
        ("make a folder aa and put a file bb.txt in it", ["mkdir -p aa", "touch ./aa/bb.txt"]),
        ("make a folder aa and put bb.txt in it", ["mkdir -p aa", "mv bb.txt ./aa"]),
        ("make a folder aa, then make a folder bb in it", ["mkdir -p aa", "mkdir -p ./aa/bb"]),
        ("go to /tmp, then list the files", ["cd /tmp", "ls"]),
        ("first show the git log; finally show how much disk space is free", ["git log --oneline -n 10", "df -h"]),
    ],
)
def test_plans(text: str, expected: list[str]) -> None:
    assert commands(text) == [without_spared_folders(command) for command in expected]


def test_a_step_is_told_in_full_so_that_it_can_be_seen_how_it_was_read() -> None:
    reply = ask("make a folder old, then move all pdf files in docs to it, then list it")
    assert isinstance(reply, Plan)
    assert [step.goal for step in reply.steps] == [
        'make a folder "old"',
        "move all pdf files in docs to ./old",
        "list ./old",
    ]
    assert reply.confidence is not None and 0.7 <= reply.confidence <= 1


@each(
    "text",
    [
        "list the files, then frobnicate the thing",
        "copy a.txt to b.txt, then delete them",  # the copies, or what was copied?
        "then delete it",
        "show the git log, then delete them",
        "delete a.txt\ndelete b.txt",
        "then then then; and then",
    ],
)
def test_what_is_not_understood_to_its_last_step_is_no_plan(text: str) -> None:
    assert isinstance(ask(text), Chat)


def test_words_say_which_step_was_not_understood() -> None:
    reply = ask("list the files, then frobnicate the thing")
    assert isinstance(reply, Chat)
    assert "2 steps" in reply.message and "frobnicate the thing" in reply.message
    assert [choice.command for choice in reply.choices] == ["ls"]


@each(
    ("goal", "first"),
    [
        ("create a folder called demo and blorp the txt files there", "mkdir -p demo"),
        ("create a file called x.txt and then blorp it", "touch x.txt"),
        ("zip the folder logs and delete it", "zip -r logs.zip logs"),
    ],
)
def test_where_only_the_first_half_is_certain_it_is_offered_alone(goal: str, first: str) -> None:
    reply = ask(goal)
    assert isinstance(reply, Chat)
    assert [choice.command for choice in reply.choices] == [first]
    assert f"1. `{first}`" in reply.message


@each(
    "goal",
    [
        "create a folder called demo and move the txt files there",
        "make a folder demo and put the txt files in it",
        "create a folder called demo, then put the txt files in there",
    ],
)
def test_there_is_where_things_go(goal: str) -> None:
    reply = ask(goal)
    assert isinstance(reply, Plan)
    made, moved = (step.command for step in reply.steps)
    assert made == "mkdir -p demo"
    assert moved.endswith("-type f -name '*.txt' -not -path '*/demo/*' -exec mv -t ./demo {} +")


def test_one_command_that_does_it_all_is_no_plan() -> None:
    for text in (
        "find all pdf files and delete them",
        "find all pdf files, then delete them",
        "list files",
        "show the last 5 lines of a.txt",
    ):
        assert isinstance(ask(text), Command), text


@each("name", ["x; rm -rf ~", "$(reboot)", "a'b", "-rf"])
def test_a_name_that_goes_from_step_to_step_stays_one_word(name: str) -> None:
    reply = ask(f'create a folder "{name}", then list it')
    if isinstance(reply, Plan):
        import shlex

        words = [shlex.split(step.command) for step in reply.steps]
        assert words[0][:2] == ["mkdir", "-p"] and words[1][0] == "ls"
        assert [each[-1].removeprefix("./") for each in words] == [name, name]


def test_what_a_step_makes_is_there_for_the_next(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x")
    told = after(Told(cwd=str(tmp_path)), "create a folder a", "mkdir -p a")
    assert told.exists(str(tmp_path / "a") + "/.") and not told.exists(str(tmp_path / "b"))
    assert resolved("list it", told) == "list ./a"
    assert resolved("go there", told) == "go in ./a"
    assert resolved("delete them", told) is None
    moved = after(told, "go to a", "cd a")
    assert moved.cwd == str(tmp_path / "a")


def step(number: int, goal: str, command: str = "") -> StepItem:
    return StepItem(number=number, total=2, goal=goal, command=command, cwd="/nowhere/sub")


def ran(command: str, code: int = 0, **fields: str) -> CommandItem:
    return CommandItem(command_id="g.1", proposed=command, run=command, exit_code=code, **fields)  # type: ignore[arg-type]


def test_a_step_that_is_reached_is_a_goal_of_its_own() -> None:
    assert ask("list files; show a.txt", "/nowhere", step(2, "show a.txt")) == ask("show a.txt")
    failed = ask(
        "x", "/nowhere", step(1, "go to srcc"), ran("cd srcc", 1, stderr="bash: cd: srcc: No such file or directory")
    )
    assert isinstance(failed, Chat) and failed.reached is False


def test_results_that_are_no_failures_do_not_stop_a_plan() -> None:
    goal = "find foo in a.txt"
    command = ask(goal)
    assert isinstance(command, Command)
    reply = ask("x", "/nowhere", step(1, goal, command.command), ran(command.command, 1))
    assert isinstance(reply, Chat) and reply.reached is True


def test_the_last_word_says_that_all_is_done() -> None:
    done = ask("x", "/nowhere", step(2, "list files", "ls"), ran("ls", stdout="a\nb\n"), NoteItem(text="All 2 steps"))
    assert isinstance(done, Chat) and done.message == "done: the whole plan"
    none = ask(
        "x", "/nowhere", step(2, "find foo in a.txt", "grep foo a.txt"), ran("grep foo a.txt", 1), NoteItem(text="")
    )
    assert isinstance(none, Chat) and none.message.startswith("done: the whole plan; of its last step: ")


def test_what_is_kept_of_a_plan_can_be_read_back() -> None:
    from agent.protocol.events.goal import PlannerFinished

    reply = ask("create a folder out, then list it")
    assert isinstance(reply, Plan)
    event = PlannerFinished(step=1, reply="plan", raw=encode_reply(reply))
    back = reply_of(event, (), ())
    assert isinstance(back, Plan)
    assert [(step.goal, step.command) for step in back.steps] == [(step.goal, step.command) for step in reply.steps]


@each("text", ["then " * 300, "a and " * 300, "1. " * 200, "'" * 500, "; " * 700, "x, then y and " * 80])
def test_no_goal_takes_long(text: str) -> None:
    """Bounded by the number of tries; a test without a clock, which only has to come to an end."""
    assert ask(text) is not None
