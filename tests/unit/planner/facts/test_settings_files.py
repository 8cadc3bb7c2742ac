"""Settings that programs obey untold: for each program of the table each of its files shows, where it comes, changes and goes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent.planner.facts.facts import risk_context
from agent.planner.facts.path_facts import Watch, path_facts
from agent.protocol.decisions import RiskContext
from agent.risk.classifier import classify
from agent.risk.tables.names import load_names, members
from tests.support.each import each

FILES = members("settings.files")


def looked_at(command: str) -> dict[str, str]:
    return risk_context(command, os.getcwd()).files


@pytest.fixture(autouse=True)
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("home", "settings", "project/sub", "named"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project/sub")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    return tmp_path


def test_no_program_has_two_rows() -> None:
    names = [name for row in load_names()["settings"]["files"] for name in row.split()]
    assert sorted(names) == sorted(set(names))


def test_what_a_row_refers_to_is_there() -> None:
    assert {one[1:] for files in FILES.values() for one in files if one[0] == "="} <= set(FILES)


def places(written: str, top: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Where a file may lie that an entry of the table stands for."""
    written = written.replace("*", "1") + ("below/one" if written[-1] == "/" else "")
    first, _, rest = written.partition("/")
    if first[0] == "$":
        place = top / "named" / first[1:] / (rest or "file")
        monkeypatch.setenv(first[1:], str(place if not rest else top / "named" / first[1:]))
        return [place]
    if first == "~":
        moved = [top / "settings" / rest.removeprefix(".config/")] if rest.startswith(".config/") else []
        return [top / "home" / rest, *moved]
    if first[0] == "^":
        return [top / "project/sub" / written[1:], top / "project" / written[1:]]
    return [top / "project/sub" / written]


@pytest.mark.thorough
@each("files", sorted(set(FILES.values()), key=sorted))
def test_each_file_of_each_program(files: frozenset[str], person: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [path for written in files if written[0] != "=" for path in places(written, person, monkeypatch)]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("one\n")
    for program in (name for name, its in FILES.items() if its == files):
        assert {str(path) for path in paths} <= looked_at(f"{program} x").keys(), program
    for path in paths:
        path.unlink()
    assert not {str(path) for path in paths} & looked_at(f"{program} x").keys()


@pytest.mark.parametrize("name", [".gitconfig", ".config/git/attributes"])
def test_a_change_shows_whatever_its_time(name: str, person: Path) -> None:
    path = person / "home" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("one\n")
    status, before = path.stat(), looked_at("git x")[str(path)]
    path.write_text("two\n")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert before and looked_at("git x")[str(path)] not in ("", before)


@each(
    ("settings", "text", "named"),
    [
        (".gitconfig", "[include]\n\tpath = work.inc\n", "work.inc"),
        (".gitconfig", '[includeIf "gitdir:~/work/"]\n\tpath = ~/work/settings\n', "work/settings"),
        (".gitconfig", "[alias]\n\tx = !~/bin/x\n", "bin/x"),
        (".gitconfig", "[core]\n\thooksPath = ~/hooks\n", "hooks/pre-commit"),
        (".gitconfig", "[diff]\n\texternal = ~/bin/d --now\n", "bin/d"),
        (".ssh/config", "Include more/*\n", ".ssh/more/one"),
        (".ssh/config", "Host x\n  ProxyCommand ~/bin/proxy %h\n", "bin/proxy"),
    ],
)
def test_what_settings_include_and_name_counts_too(settings: str, text: str, named: str) -> None:
    home = Path.home()
    for path in (home / settings, home / named):
        path.parent.mkdir(parents=True, exist_ok=True)
    (home / settings).write_text(text)
    before = looked_at("git fetch")
    (home / named).write_text("one\n")
    there = looked_at("git fetch")
    (home / named).write_text("two\n")
    assert str(home / named) not in before
    assert there[str(home / named)] != looked_at("git fetch")[str(home / named)]


def test_settings_that_include_themselves_end() -> None:
    for name in "ab":
        Path.home().joinpath(f".{name}").write_text("[include]\n\tpath = .a\n\tpath = .b\n")
    Path.home().joinpath(".gitconfig").write_text("[include]\n\tpath = .a\n")
    assert {str(Path.home() / name) for name in (".gitconfig", ".a", ".b")} <= set(looked_at("git status"))


@pytest.mark.parametrize("words", ["", "-C sub ", "--git-dir=sub/.git "])
def test_a_repository_of_its_own_is_found_where_git_finds_it(words: str) -> None:
    folder = Path("sub/.git" if words else ".git")
    for name in ("hooks", "objects", "refs"):
        folder.joinpath(name).mkdir(parents=True)
    folder.joinpath("HEAD").write_text("ref: refs/heads/main\n")
    folder.joinpath("config").write_text("[core]\n")
    folder.joinpath("hooks/pre-commit").write_text("true\n")
    files = looked_at(f"git {words}commit -m x")
    assert {str(folder.resolve() / name) for name in ("config", "hooks/pre-commit")} <= set(files)


@pytest.mark.parametrize("command", ["ssh host curl https://example.com", "echo curl", "ls"])
def test_settings_of_what_does_not_run_here_do_not_count(command: str) -> None:
    Path.home().joinpath(".curlrc").write_text("insecure\n")
    assert str(Path.home() / ".curlrc") not in looked_at(command)


@each("command", ["sudo -E curl x", "env A=1 curl x", "xargs curl", "find . -exec curl x {} +", "/usr/bin/curl x"])
def test_settings_of_what_runs_behind_another_program_count(command: str) -> None:
    Path.home().joinpath(".curlrc").write_text("insecure\n")
    assert str(Path.home() / ".curlrc") in looked_at(command)


def rated(command: str, folder: Path) -> str:
    context = RiskContext(cwd=str(folder), home="/home/nobody", workspace=str(folder))
    facts = path_facts(command, context, watch=Watch(60))
    return classify(
        command, RiskContext(cwd=str(folder), home="/home/nobody", workspace=str(folder), facts=facts)
    ).level.value


@pytest.fixture
def placed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose folder `bin` is the first of PATH, with programs of its own."""
    folder = tmp_path / "project"
    (folder / "bin").mkdir(parents=True)
    for name in ("ls", "git", "own-tool"):
        (folder / "bin" / name).write_text("#!/bin/sh\n")
        (folder / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}/bin:/usr/local/bin:/usr/bin:/bin")
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    return folder


def test_a_program_of_the_project_in_place_of_the_systems_is_the_projects_code(placed: Path) -> None:
    assert rated("ls", placed) == "medium"
    assert rated("true && git log | cat", placed) == "medium"
    assert rated("cat x", placed) == "low"
    assert rated("/bin/ls", placed) == "low"


def test_a_link_to_the_systems_program_is_that(placed: Path) -> None:
    (placed / "bin" / "ls").unlink()
    (placed / "bin" / "ls").symlink_to("/bin/true")
    assert rated("ls", placed) == "low"


def test_an_environment_that_was_activated_is_the_persons_own(placed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIRTUAL_ENV", str(placed))
    assert rated("ls", placed) == "low"


def test_a_folder_that_others_can_fill(placed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = placed.parent / "elsewhere"
    (placed / "bin").rename(elsewhere)
    monkeypatch.setenv("PATH", f"{elsewhere}:/usr/bin:/bin")
    for mode, level in ((0o755, "low"), (0o777, "medium"), (0o757, "medium"), (0o1777, "medium")):
        elsewhere.chmod(mode)
        assert rated("ls", placed) == level, oct(mode)
