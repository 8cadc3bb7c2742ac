"""Which files count, when they are read again, and what is wrong with one that cannot be trusted."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent.config.settings import Settings
from agent.policy.deciding import decide
from agent.policy.files import PolicyFiles, Sources, policy_sources, read_policy_file
from agent.policy.model import PolicyFile, Rule, SessionRules
from agent.protocol.decisions import RiskContext
from agent.protocol.requests import Approval
from agent.risk.classifier import classify
from tests.support.each import each

DENY = '[[rule]]\nname = "x"\naction = "deny"\nprogram = "nc"\n'


@pytest.fixture
def files(tmp_path: Path) -> PolicyFiles:
    (tmp_path / "work").mkdir()
    sources = Sources(user=str(tmp_path / "policy.toml"), site=str(tmp_path / "site.toml"), home="/home/you")
    return PolicyFiles(sources)


def private(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o600)


def test_without_files_there_is_no_policy(files: PolicyFiles, tmp_path: Path) -> None:
    policy = files.policy(workspace=str(tmp_path / "work"), rules=SessionRules("s"))
    assert policy.files == ()
    assert (policy.place.workspace, policy.place.session, policy.place.home) == (
        str(tmp_path / "work"),
        "s",
        "/home/you",
    )


@each(
    "command",
    [
        "mkdir -p ~/.local/state/agent-shell/undo/journals/aaaaaaa",
        "echo x > ~/.local/state/agent-shell/undo/journals/aaaaaaa/record.json",
        "cp -r forged ~/.local/state/agent-shell/undo",
        "cd ~/.local/state && ln -s /tmp/x agent-shell/undo",
        "mv ~/.local/state ~/old",
        "rm ~/.local/state/agent-shell/heads/a.json",
    ],
)
def test_nobody_puts_runs_to_be_finished_into_our_journals_unasked(command: str) -> None:
    """What an undo left half done is brought to an end by whatever looks at the journals next."""
    policy = PolicyFiles(policy_sources(Settings(), {"HOME": "/home/you"})).policy()
    context = RiskContext(cwd="/home/you/work", home="/home/you")
    verdict = decide(classify(command, context), Approval(mode="medium"), policy=policy)
    assert verdict.action == "type"


def test_every_source_with_its_trust(files: PolicyFiles, tmp_path: Path) -> None:
    safety = tmp_path / "safety.json"
    safety.write_text('[{"pattern": "x"}]')
    own = SessionRules("s")
    assert own.add((Rule(name="r", action="ask", program=("x",), session="s"),)) == ""
    some = PolicyFiles(Sources(user=files.sources.user, site=files.sources.site, safety=str(safety)))
    for path in (tmp_path / "policy.toml", tmp_path / "site.toml", tmp_path / "work" / ".agent-shell-policy.toml"):
        private(path, DENY)
    policy = some.policy(workspace=str(tmp_path / "work"), rules=own)
    assert [file.trust for file in policy.files] == ["user", "site", "safety", "project", "session"]
    assert not any(file.error for file in policy.files)
    assert policy.place.now.endswith("+00:00")


def test_a_change_counts_at_the_next_look(files: PolicyFiles, tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    private(path, DENY)
    assert len(files.policy().files[0].rules) == 1
    assert files.policy().files[0] is files.policy().files[0]  # read once
    private(path, DENY + DENY.replace('"x"', '"y"'))
    assert len(files.policy().files[0].rules) == 2
    private(path, "mistake")
    assert files.policy().files[0].error
    path.unlink()
    assert files.policy().files == ()
    private(path, DENY)
    assert len(files.policy().files[0].rules) == 1


def test_a_file_put_in_the_place_of_another_is_noticed(files: PolicyFiles, tmp_path: Path) -> None:
    path, other = tmp_path / "policy.toml", tmp_path / "other"
    private(path, DENY)
    times = (path.stat().st_atime_ns, path.stat().st_mtime_ns)
    assert files.policy().files[0].rules[0].program == ("nc",)
    private(other, DENY.replace("nc", "nd"))
    os.utime(other, ns=times)
    other.replace(path)
    assert files.policy().files[0].rules[0].program == ("nd",)


@pytest.mark.parametrize("mode", [0o622, 0o606, 0o666])
@pytest.mark.parametrize("trust", ["user", "site"])
def test_a_file_that_others_can_write_is_not_trusted(tmp_path: Path, mode: int, trust: str) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(DENY)
    path.chmod(mode)
    found = read_policy_file(str(path), trust)  # type: ignore[arg-type]
    assert found is not None
    assert "can be written by others" in found.error or os.geteuid() != 0
    assert found.rules == () or not found.error


def test_a_folder_that_everyone_can_write_is_not_trusted(tmp_path: Path) -> None:
    folder = tmp_path / "open"
    folder.mkdir()
    private(folder / "policy.toml", DENY)
    folder.chmod(0o777)
    found = read_policy_file(str(folder / "policy.toml"), "user")
    assert found is not None
    assert "written by everyone" in found.error
    folder.chmod(0o1777)
    found = read_policy_file(str(folder / "policy.toml"), "user")
    assert found is not None
    assert found.error == ""


def test_what_is_no_file_does_not_hang(files: PolicyFiles, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "policy.toml")
    (tmp_path / "site.toml").mkdir()
    os.mkfifo(tmp_path / "work" / ".agent-shell-policy.toml")
    policy = files.policy(workspace=str(tmp_path / "work"))
    assert len(policy.files) == 3
    assert all(file.error for file in policy.files)


@pytest.mark.parametrize("data", [b"\xff\xfe", b"x" * (1 << 20) + b"y", b"\0", b"[[rule"])
def test_what_cannot_be_read_is_an_error(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "policy.toml"
    path.write_bytes(data)
    path.chmod(0o600)
    found = read_policy_file(str(path), "user")
    assert found is not None
    assert str(path) in found.error


def test_a_project_s_link_is_refused(files: PolicyFiles, tmp_path: Path) -> None:
    (tmp_path / "work" / ".agent-shell-policy.toml").symlink_to("/etc/passwd")
    (found,) = files.policy(workspace=str(tmp_path / "work")).files
    assert "symbolic link" in found.error


def test_a_safety_policy_has_to_be_there(tmp_path: Path) -> None:
    some = PolicyFiles(Sources(site="", safety=str(tmp_path / "none.json")))
    assert "does not exist" in some.policy().files[0].error
    (tmp_path / "none.json").write_text("[]")
    assert some.policy().files[0].error == ""
    (tmp_path / "none.json").unlink()
    assert "does not exist" in some.policy().files[0].error


def test_a_defect_of_ours_closes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import agent.policy.parse

    def broken(*_: object, **__: object) -> PolicyFile:
        raise RuntimeError("defect")

    monkeypatch.setattr(agent.policy.parse, "parse_policy", broken)
    private(tmp_path / "policy.toml", DENY)
    found = read_policy_file(str(tmp_path / "policy.toml"), "user")
    assert found is not None
    assert "RuntimeError" in found.error


@pytest.mark.parametrize(("until", "began", "then"), [("2020", 1.0, 1.0), ("2090", 4e9, None)])
def test_a_clock_that_is_set_back_brings_no_consent_back(
    files: PolicyFiles,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    until: str,
    began: float,
    then: float | None,
) -> None:
    """Neither to before a file was written, nor to before this program began."""
    rule = '[[rule]]\nname = "x"\naction = "allow"\nprogram = "rmdir"\npaths = ["/srv/"]\n'
    private(tmp_path / "policy.toml", f'{rule}until = "{until}-01-01T00:00:00Z"\n')
    with monkeypatch.context() as patch:
        patch.setattr("time.time", lambda: began)
        begun = PolicyFiles(files.sources)
    if then is not None:
        monkeypatch.setattr("time.time", lambda: then)
    decided = decide(classify("rmdir /srv/x"), Approval(mode="ask"), policy=begun.policy())
    assert begun.policy().files[0].error == ""
    assert decided.action == "ask"
