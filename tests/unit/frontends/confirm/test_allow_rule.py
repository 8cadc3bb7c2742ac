"""F8 at the confirmation prompt: a rule for next time, which never runs anything."""

from __future__ import annotations

import asyncio
import os
import re
import stat
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.frontends.confirm.confirmer import PromptConfirmer
from agent.frontends.services import RuleController
from agent.policy.files import PolicyFiles, Sources
from agent.policy.model import SessionRules
from agent.protocol.confirmations import Approved, CancelGoal, Confirmation, ConfirmationRequest, Proposal
from agent.protocol.decisions import RiskContext, RiskReport, Verdict
from agent.protocol.errors import RecordingError
from agent.protocol.events.known import Event
from agent.protocol.events.session import RuleAdded
from agent.protocol.requests import NOT_GRANTED
from agent.risk.classifier import classify
from tests.support.fake_terminal import FakeProcesses, FakeTerminal, typed

CTRL_C, CTRL_U, ENTER, ESC = "\x03", "\x15", "\r", "\x1b"
F7, F8, F9 = "\x1b[18~", "\x1b[19~", "\x1b[20~"


class Home:
    """A person's home with a workspace in it, and what happened to the rules."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.work = self.home / "work"
        self.work.mkdir(parents=True)
        self.policy_path = self.home / "config" / "agent-shell" / "policy.toml"
        self.session_rules = SessionRules("s1")
        self.recorded: list[Event] = []
        self.log_is_broken = False
        self.files = PolicyFiles(Sources(user=str(self.policy_path), site="", home=str(self.home)))

    @property
    def rules(self) -> RuleController:
        return RuleController(
            path=str(self.policy_path),
            rules=self.session_rules,
            policy=lambda cwd: self.files.policy(workspace=str(self.work), rules=self.session_rules),
            record=self._record,
        )

    async def _record(self, event: Event) -> None:
        if self.log_is_broken:
            raise RecordingError("the disk is full")
        self.recorded.append(event)

    def rate(self, command: str, cwd: str, session: str = "") -> RiskReport:
        context = RiskContext(cwd=str(self.work), home=str(self.home), workspace=str(self.work))
        return classify(command, context)

    def request(self, command: str) -> ConfirmationRequest:
        report = self.rate(command, "")
        proposal = Proposal(command_id="g.1", command=command, cwd=str(self.work))
        return ConfirmationRequest(proposal=proposal, report=report, verdict=Verdict(action="ask"), approve="low")

    @property
    def written(self) -> str:
        return self.policy_path.read_text() if self.policy_path.exists() else ""


def flat(terminal: FakeTerminal) -> str:
    """What was written, however its lines were broken."""
    return " ".join(re.sub(r"\x1b\[[?0-9;]*[A-Za-z]", "", terminal.seen).split())


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def answer(
    terminal: FakeTerminal,
    home: Home,
    command: str,
    *keys: str,
    processes: FakeProcesses | None = None,
    edit_mode: str = "emacs",
) -> Confirmation:
    """Press `keys`, each once everything before it was drawn."""
    environ = {"EDITOR": "my-editor", "HOME": str(home.home)}
    confirmer = PromptConfirmer(
        terminal.screen,
        processes or FakeProcesses(),
        environ,
        home.rate,
        edit_mode=edit_mode,
        rules=lambda session: home.rules,
    )
    return typed(terminal, lambda: confirmer.confirm(home.request(command)), *keys, pause=0.1)


def test_rule_for_this_workspace_and_the_command_still_waits(terminal: FakeTerminal, home: Home) -> None:
    assert answer(terminal, home, "rm -rf build", F8, "w", ENTER, CTRL_C) == CancelGoal()
    assert f'workspace = "{home.work}"' in home.written
    assert 'paths = ["./build"]' in home.written
    assert stat.S_IMODE(home.policy_path.stat().st_mode) == 0o600
    assert "in ./build, runs without asking" in flat(terminal)
    assert ":policy forget rm-build" in flat(terminal)
    assert "still be asked" not in flat(terminal)
    [added] = home.recorded
    assert isinstance(added, RuleAdded)
    assert (added.rules, added.where) == (("rm-build",), str(home.policy_path))
    assert 'name = "rm-build"' in added.text


def test_no_rule_spares_the_question_about_what_is_published(terminal: FakeTerminal, home: Home) -> None:
    asked = home.request

    def request(command: str) -> ConfirmationRequest:
        return replace(asked(command), verdict=Verdict(action="ask", rule=NOT_GRANTED, reason="published"))

    home.request = request  # type: ignore[method-assign]
    answer(terminal, home, "git push", F8, CTRL_C)
    assert "rules cannot be made here" in flat(terminal) and "F8" not in flat(terminal)
    assert home.written == ""


@pytest.mark.thorough
def test_text_and_cursor_are_kept(terminal: FakeTerminal, home: Home) -> None:
    keys = (CTRL_U + "make test", ESC + "b", F8, "s", ENTER, "x", ENTER)
    assert answer(terminal, home, "ls", *keys) == Approved(command="make xtest")
    assert [rule.name for rule in home.session_rules.file.rules] == ["make-test"]
    assert home.written == ""


@pytest.mark.few(1)
@pytest.mark.parametrize(("key", "line"), [("h", "until ="), ("d", "until ="), ("a", "")])
def test_other_limits(terminal: FakeTerminal, home: Home, key: str, line: str) -> None:
    answer(terminal, home, "npm run test", F8, key, ENTER, CTRL_C)
    assert 'words = ["run", "test"]' in home.written
    assert ("until =" in home.written) is bool(line)
    assert "workspace =" not in home.written
    assert ("everywhere and for good" in flat(terminal)) is (key == "a")


@pytest.mark.few(1)
@pytest.mark.parametrize("keys", [(CTRL_C,), (ENTER, CTRL_C), (ENTER, "x", ENTER, CTRL_C), ("e", ENTER, CTRL_C)])
def test_no_rule_without_a_limit_that_was_chosen(terminal: FakeTerminal, home: Home, keys: tuple[str, ...]) -> None:
    assert answer(terminal, home, "make test", F8, *keys, ENTER) == Approved(command="make test")
    assert home.written == ""
    assert home.recorded == []
    assert "no rule was made" in flat(terminal)


def test_pasting_chooses_nothing(terminal: FakeTerminal, home: Home) -> None:
    answer(terminal, home, "make test", F8, "\x1b[200~a\r\x1b[201~", CTRL_C, CTRL_C)
    assert home.written == ""


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("rm -rf ~", "high risk is never allowed"),
        ("echo x > notes", "no rule on a program"),
        ("rm $NAME", "only known when it runs"),
        ("cat .env", "shows secrets"),
        ("echo 'open", "read to its end"),
        ("", "no program in it"),
    ],
)
def test_what_cannot_be_allowed_says_why(terminal: FakeTerminal, home: Home, command: str, why: str) -> None:
    answer(terminal, home, "true", CTRL_U + command, F8, CTRL_C)
    assert why in flat(terminal)
    assert home.written == ""


def test_editing_into_nonsense_loses_nothing(terminal: FakeTerminal, home: Home) -> None:
    keys = (F8, "e", ENTER, "oops ", ENTER, "\x7f" * 5, ENTER, "w", ENTER, CTRL_C)
    answer(terminal, home, "make test", *keys)
    assert "TOML" in flat(terminal)
    assert 'name = "make-test"' in home.written
    assert "oops" not in home.written


def test_wider_than_a_rule_may_be_is_refused(terminal: FakeTerminal, home: Home) -> None:
    processes = FakeProcesses()

    def edit(path: str) -> None:
        Path(path).write_text('[[rule]]\nname = "all"\naction = "allow"\nprogram = "make"\n')

    processes.edit = edit
    answer(terminal, home, "make test", F8, "e", ENTER, F7, ENTER, CTRL_C, CTRL_C, processes=processes)
    assert "would allow everything make can do" in flat(terminal)
    assert home.written == ""


def test_editor_of_the_person_can_narrow_it(terminal: FakeTerminal, home: Home) -> None:
    processes = FakeProcesses()

    def edit(path: str) -> None:
        text = Path(path).read_text()
        Path(path).write_text("# mine\n" + text.replace('"make-test"', '"mine"'))

    processes.edit = edit
    answer(terminal, home, "make test", F8, "e", ENTER, F7, ENTER, "w", ENTER, CTRL_C, processes=processes)
    assert "# mine" in home.written
    assert 'name = "mine"' in home.written


def test_broken_policy_file_is_left_alone(terminal: FakeTerminal, home: Home) -> None:
    home.policy_path.parent.mkdir(parents=True)
    home.policy_path.write_text("[[rule\n")
    answer(terminal, home, "make test", F8, "w", ENTER, CTRL_C, CTRL_C)
    assert home.written == "[[rule\n"
    assert "cannot be read as TOML" in flat(terminal)


def test_stricter_rule_elsewhere_is_told(terminal: FakeTerminal, home: Home) -> None:
    home.policy_path.parent.mkdir(parents=True, mode=0o700)
    home.policy_path.write_text('[[rule]]\nname = "q"\naction = "ask"\nprogram = "make"\nreason = "slow"\n')
    os.chmod(home.policy_path, 0o600)
    answer(terminal, home, "make test", F8, "w", ENTER, CTRL_C)
    assert "will still be asked for: slow" in flat(terminal)


def test_without_a_log_there_is_no_rule(terminal: FakeTerminal, home: Home) -> None:
    home.log_is_broken = True
    answer(terminal, home, "make test", F8, "w", ENTER, CTRL_C, CTRL_C)
    assert home.written == ""
    assert "no rule was made" in flat(terminal)


@pytest.mark.thorough
def test_second_rule_gets_another_name(terminal: FakeTerminal, home: Home) -> None:
    answer(terminal, home, "git push origin main", F8, "w", ENTER, CTRL_C)
    answer(terminal, home, "git push fork main", F8, "w", ENTER, CTRL_C)
    assert 'name = "git-push"' in home.written
    assert 'name = "git-push-2"' in home.written


def test_not_offered_where_rules_cannot_be_kept(terminal: FakeTerminal, home: Home) -> None:
    async def run() -> None:
        confirmer = PromptConfirmer(terminal.screen, FakeProcesses(), {}, home.rate)
        terminal.keys.send_text(F8)
        typist = asyncio.get_running_loop().call_later(0.2, terminal.keys.send_text, CTRL_C)
        assert await confirmer.confirm(home.request("make")) == CancelGoal()
        typist.cancel()

    asyncio.run(run())
    assert "rules cannot be made here" in flat(terminal)


@pytest.mark.thorough
def test_in_vi_mode(terminal: FakeTerminal, home: Home) -> None:
    answer(terminal, home, "make test", F8, "e", ENTER, "# mine" + F9, ENTER, "w", ENTER, CTRL_C, edit_mode="vi")
    assert "# mine\n[[rule]]" in home.written
