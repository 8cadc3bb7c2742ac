"""What no correction may do, whatever a program prints; and how much a huge or hostile output costs."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.planner.offline.after_run import AfterRun
from agent.planner.offline.diagnosing import Diagnoser, literal_hints, load_rules, shortened_lines
from agent.planner.offline.fixes import FIXES, fill
from agent.planner.offline.fixing.nearest import nearest
from agent.planner.offline.fixing.rewriting import destroys, replace_program, replace_word
from agent.protocol.messages import CommandItem
from agent.protocol.replies import Chat, Command
from tests.support.each import each
from tests.support.tries import sampled, some, tries
from tests.unit.planner.offline.test_repair_real import AFTER_RUN, CASES, Around

RULES = load_rules()
FORBIDDEN = re.compile(
    r"(?:^|\s)(?:sudo|doas)\s|--force|--no-verify|--break-system-packages|StrictHostKeyChecking=no|--insecure|\s-k\s"
)


def after(command: str, said: str, cwd: Path, **fields: object) -> Command | Chat:
    item = CommandItem(command_id="c", proposed=command, run=command, exit_code=1, stderr=said, cwd=str(cwd), **fields)  # type: ignore[arg-type]
    reply = AFTER_RUN.repair([item], [], str(cwd), Around())
    assert isinstance(reply, Command | Chat)
    return reply


def test_the_rules_are_well_formed() -> None:
    assert len({rule.id for rule in RULES}) == len(RULES) >= 150
    for rule in RULES:
        groups = {name.rstrip("0123456789") for name in re.compile(rule.when).groupindex}
        used = set(re.findall(r"<(\w+)>", rule.says + rule.command)) - {"command"}
        assert used <= groups, f"{rule.id} speaks of {used - groups}"
        assert sum(map(bool, (rule.fix, rule.command, rule.edit))) <= 1, rule.id
        assert not rule.fix or rule.fix in FIXES, rule.id
        assert not FORBIDDEN.search(rule.command + " ".join(rule.edit[1:])), rule.id
        assert not destroys(rule.command), rule.id


@sampled
@each("rule", some(RULES, 3), ids=lambda rule: rule.id)
def test_no_rule_is_slow_on_long_hostile_lines(rule: object) -> None:
    """A pattern that goes back and forth without end would never come back from these."""
    pattern = re.compile(rule.when)  # type: ignore[attr-defined]
    words = [text for text in literal_hints(rule.when) if text] or ["x: "]  # type: ignore[attr-defined]
    for piece in ("a", " ", "'", "/", ": ", "a:", "[", "\\", "'a' ", "-", "0"):
        for word in words[:2]:
            pattern.search((word + piece * 500)[:500])
            pattern.search((piece * 250 + word + piece * 250)[:500])
            pattern.search((word * 60 + piece * 300)[:500])


def test_the_words_looked_for_first_are_in_every_match() -> None:
    """Leaving a rule out because its words are missing never changes what is found."""
    whole = [(re.compile(rule.when), literal_hints(rule.when), rule.id) for rule in RULES]
    for text in (Path(__file__).parent / "repair_messages.txt").read_text().splitlines():
        for pattern, hints, name in whole:
            if pattern.search(text) and hints:
                assert any(hint in text for hint in hints), name


@each(
    ("pattern", "hints"),
    [
        ("abc def", ("abc def",)),
        ("abcd|efgh", ("abcd", "efgh")),
        ("abcd|x", ()),
        ("(?i)abcd", ()),
        (r"colou?r is", ("colo",)),
        (r"(?:one|two) three[)\]]", (" three",)),
        (r"a{2,3}bcd\.efg", ("bcd.efg",)),
        (r"\d+ failed", (" failed",)),
    ],
)
def test_hints(pattern: str, hints: tuple[str, ...]) -> None:
    assert literal_hints(pattern) == hints


def test_huge_output_is_cut_at_both_ends() -> None:
    text = "start\n" + "x" * 3_000_000 + "\n" + "y\n" * 200_000 + "bash: gti: command not found\n"
    lines = shortened_lines(text)
    assert lines[0] == "start" and lines[-1] == "bash: gti: command not found" and len(lines) < 10
    assert [one.rule.id for one in Diagnoser().diagnose(text)] == ["program.missing"]


HOSTILE = [
    "$(touch owned)",
    "`touch owned`",
    "; touch owned",
    "--force",
    "-rf",
    "a\x1b[2Jb",
    "x'; touch owned; '",
    "..",
    ":main",
    "+main",
    "\u202egpj",
]
CARRIERS = [
    ("git push", "fatal: The current branch {} has no upstream branch."),
    ("git switch feature", "fatal: invalid reference: {}"),
    ("git stauts", "git: '{}' is not a git command. See 'git --help'.\n\nThe most similar command is\n\t{}"),
    ("pip instal x", 'ERROR: unknown command "instal" - maybe you meant "{}"'),
    ("git branch b", "fatal: a branch named '{}' already exists"),
    ("cat x", "cat: {}: No such file or directory"),
    ("cp a new/b", "cp: cannot create regular file '{}/b': No such file or directory"),
    ("ssh -i k host", "Permissions 0644 for '{}' are too open."),
    ("systemctl start x", "Job for {} failed because the control process exited with error code."),
    ("rustc a.rs", "error[E0308]: {}"),
    ("ls --colr", "ls: unrecognized option '--colr'\n  {}\n  --{}"),
    ("npm run x", 'npm error Missing script: "{}"'),
    ("python3 -m http.server", "OSError: [Errno 98] Address already in use: {}"),
    ("./x", "bash: line 1: {}: Permission denied"),
]


@each("text", HOSTILE)
@each(("command", "said"), CARRIERS, ids=[row[0] for row in CARRIERS])
def test_hostile_words_in_an_error_never_become_more_than_one_word(
    command: str, said: str, text: str, tmp_path: Path
) -> None:
    reply = after(command, said.replace("{}", text), tmp_path)
    if isinstance(reply, Command):
        assert "owned" not in reply.command and "\x1b" not in reply.command and "\u202e" not in reply.command
        known = set(shlex.split(command))
        assert all(
            word in known or not word.startswith(("--force", "-rf", ":", "+")) for word in shlex.split(reply.command)
        )
    shown = reply.message if isinstance(reply, Chat) else reply.reason
    assert "\x1b" not in shown and "\u202e" not in shown


@settings(max_examples=tries(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    said=st.text(max_size=200),
    command=st.sampled_from([case["run"] for case in CASES]),
    frame=st.sampled_from([row[1] for row in CARRIERS]),
)
def test_any_text_gives_a_harmless_reply(said: str, command: str, frame: str, tmp_path: Path) -> None:
    reply = after(command, frame.replace("{}", said), tmp_path)
    if isinstance(reply, Command):
        assert reply.command.isprintable() or not command.isprintable() or "\n" in command
        assert not FORBIDDEN.search(reply.command) or FORBIDDEN.search(command)
        assert not destroys(reply.command) or destroys(command)


@each("case", [case for case in CASES if "proposes" in case], ids=lambda case: case["run"][:50])
def test_no_correction_takes_a_right_or_removes_anything(case: dict[str, str]) -> None:
    assert not FORBIDDEN.search(case["proposes"])
    if destroys(case["proposes"]):
        assert destroys(case["run"])


DESTROYING = [
    "rm READM.md",
    "shred READM.md",
    "git rm READM.md",
    "find . -delete READM.md",
    "cat READM.md | xargs rm",
    "truncate -s 0 READM.md",
]


@pytest.mark.parametrize("command", DESTROYING)
def test_what_is_lost_is_never_guessed(command: str, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("x\n")
    reply = after(command, "x: cannot open 'READM.md': No such file or directory", tmp_path)
    assert isinstance(reply, Chat) and "README.md" in reply.message


def test_a_destructive_program_is_never_guessed(tmp_path: Path) -> None:
    reply = after("rmm x", "bash: line 1: rmm: command not found", tmp_path)
    assert not isinstance(reply, Command) or not destroys(reply.command)


def test_what_an_earlier_part_did_is_not_done_again(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("x\n")
    reply = after("echo a >> log && cat READM.md", "cat: READM.md: No such file or directory", tmp_path)
    assert isinstance(reply, Command) and reply.command == "cat README.md"


def test_a_fixed_command_is_not_run_in_another_folder(tmp_path: Path) -> None:
    reply = after("git -C other push", " ! [rejected]        main -> main (fetch first)", tmp_path)
    assert isinstance(reply, Chat) and "git pull --rebase" in reply.message


def test_a_key_is_closed_only_if_it_is_one(tmp_path: Path) -> None:
    """A server's greeting can say the same words about any file."""
    other = tmp_path / "notes"
    other.write_text("no key\n")
    other.chmod(0o644)
    said = f"Permissions 0644 for '{other}' are too open."
    assert isinstance(after("ssh host", said, tmp_path), Chat)
    other.write_text("-----BEGIN OPENSSH PRIVATE KEY-----\n")
    reply = after("ssh host", said, tmp_path)
    assert isinstance(reply, Command) and reply.command == f"chmod 600 {other}"


def test_a_script_of_somebody_else_or_a_pipe_is_left_alone(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x")
    assert isinstance(after("./x", "bash: line 1: ./x: Permission denied", tmp_path), Chat)


@each(
    ("code", "part"),
    [
        (126, "cannot be run"),
        (127, "not found"),
        (124, "time limit"),
        (137, "out of memory"),
        (139, "crashed"),
        (141, "stopped reading"),
        (143, "SIGTERM"),
    ],
)
def test_exit_codes_speak_for_themselves(code: int, part: str) -> None:
    item = CommandItem(command_id="c", proposed="prog", run="prog", exit_code=code)
    reply = AFTER_RUN.repair([item], [], "/", Around())
    assert isinstance(reply, Chat) and part in reply.message


def test_exit_codes_of_programs() -> None:
    item = CommandItem(command_id="c", proposed="curl -fs http://x", run="curl -fs http://x", exit_code=22)
    assert "400" in AFTER_RUN.exit_meaning(item)


def test_another_language_is_said() -> None:
    item = CommandItem(
        command_id="c",
        proposed="cat x",
        run="cat x",
        exit_code=1,
        stderr="cat: x: Datei oder Verzeichnis nicht gefunden",
    )
    german = AfterRun({"LANG": "de_DE.UTF-8"}).repair([item], [], "/", Around())
    assert isinstance(german, Chat) and "LC_ALL=C.UTF-8" in german.message
    english = AfterRun({"LANG": "en_US.UTF-8"}).repair([item], [], "/", Around())
    assert isinstance(english, Chat) and "LC_ALL" not in english.message


def test_templates() -> None:
    assert fill("git switch <name>", "x", {"name": "a b"}) == "git switch 'a b'"
    for bad in ("", "-f", "a\nb", "\x1b[1m", "x" * 300):
        assert fill("git switch <name>", "x", {"name": bad}) == ""


def test_nearest() -> None:
    assert nearest("stauts", ["status", "stash", "start"]) == ["status"]
    assert nearest("readme", ["README", "readmf"]) == ["README"]
    assert nearest("notes", ["notes.txt", "nodes"]) == ["notes.txt"]
    assert nearest("bat", ["cat", "hat"]) == ["cat", "hat"]
    assert nearest("bat", ["cat", "hat"], ["hat"]) == ["hat"]
    assert nearest("completely", ["different"]) == []


def test_words_of_a_command() -> None:
    assert replace_word("cat 'my fil' | wc", "my fil", "my file") == "cat 'my file' | wc"
    assert replace_word("cat x", "y", "z") == ""
    assert replace_program("a; sudo gti x && b", "gti", "git") == "a; sudo git x && b"
    assert replace_program("echo gti", "gti", "git") == ""


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("terraform src", 'Terraform has no command named "src". Did you mean "apply-all"?'),
        ("pip wheels", 'ERROR: unknown command "wheels" - maybe you meant "payload"'),
        ("git sttus", "git: 'sttus' is not a git command. See 'git --help'.\n\nThe most similar command is\n\tpwn\n"),
    ],
)
def test_what_an_output_suggests_is_only_taken_where_it_is_near(command: str, said: str, tmp_path: Path) -> None:
    reply = after(command, said, tmp_path)
    assert isinstance(reply, Chat)
    assert "what it suggests is" in reply.message


def test_pipes_in_a_project_are_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / ".git" / "objects").mkdir(parents=True)
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    for name in ("Makefile", "GNUmakefile", "package.json", ".git/packed-refs", ".git/commondir"):
        os.mkfifo(tmp_path / name)
    for command, said in (
        ("make tset", "make: *** No rule to make target 'tset'.  Stop."),
        ("git switch mian", "fatal: invalid reference: mian"),
        ("npm run bild", 'npm ERR! Missing script: "bild"'),
    ):
        assert isinstance(after(command, said, tmp_path), Chat)


def test_a_worktree_that_points_nowhere_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "real" / "objects").mkdir(parents=True)
    (tmp_path / "real" / "HEAD").write_text("ref: refs/heads/main\n")
    (tmp_path / "real" / "commondir").write_bytes(b"..\0/x\n")
    (tmp_path / ".git").write_text("gitdir: real\n")
    assert isinstance(after("git switch mian", "fatal: invalid reference: mian", tmp_path), Chat)


def test_corrections_of_endless_commands_come_at_once(tmp_path: Path) -> None:
    """Each took minutes with an expression that goes back and forth; here the runner's time-out would end it."""
    for command in ("x" * 200_000, "a/" * 100_000, "x " * 100_000, "\n" * 200_000, "x --y " * 30_000):
        for said in (
            "git: 'sttus' is not a git command.",
            "unrecognized option '--fox'",
            "bash: ./run: Permission denied",
        ):
            after(command, said, tmp_path)
