"""A command's options are held against the pages and help texts that came with its programs."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from agent.planner.offline.recipe_files import load_entries
from agent.protocol.decisions import RiskContext
from agent.retrieval.manuals import Manuals
from agent.risk.classifier import classify

PAGE = r""".SH OPTIONS
.TP
\fB\-x\fR, \fB\-\-extract\fR
take files out
.TP
\fB\-z\fR, \fB\-\-gzip\fR
filter through gzip
.TP
\fB\-f\fR, \fB\-\-file\fR=\fIARCHIVE\fR
use that archive
.TP
\fB\-C\fR, \fB\-\-directory\fR=\fIDIR\fR
change to DIR
.TP
\fB\-\-exclude\fR=\fIPATTERN\fR
leave out files that match
"""


class World:
    """A prefix with programs and their pages."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.asked: list[str] = []
        self.help = ""
        for name in ("bin", "share/man/man1"):
            (folder / name).mkdir(parents=True)
        monkeypatch.setenv("PATH", str(folder / "bin"))
        monkeypatch.setattr("agent.retrieval.options._covers", lambda *given: True)
        monkeypatch.setattr("agent.retrieval.manuals.may_be_asked", lambda name, path: True)

    def program(self, name: str, page: str = "", of: str = "") -> None:
        path = self.folder / "bin" / name
        path.write_text("#!/bin/sh\nexit 1\n")
        path.chmod(0o755)
        if page:
            self.page(of or name, page)

    def page(self, name: str, text: str) -> None:
        (self.folder / "share/man/man1" / f"{name}.1").write_text(text)

    def manuals(self, cache: str = "") -> Manuals:
        return Manuals(cache, self.ask)

    def ask(self, path: str) -> str:
        self.asked.append(path)
        return self.help

    def said(self, command: str) -> list[str]:
        return [each.text for each in self.manuals().missing_in(command)]


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    world = World(tmp_path, monkeypatch)
    world.program("tar", PAGE)
    return world


def test_what_a_program_does_not_have_here(world: World) -> None:
    assert world.said("tar -xzf a.tgz --wildcards && tar xWf b") == [
        "tar here has no --wildcards",
        "tar here has no -W",
    ]
    assert world.said("tar xzf a.tgz -C /tmp --excl '*.o'") == []
    assert world.said("sudo tar --odd -x; find . -exec tar --eve {} +") == [
        "tar here has no --odd",
        "tar here has no --eve",
    ]


def test_nothing_is_said_of_what_is_not_known(world: World) -> None:
    world.program("cp")
    assert world.said("cp --odd a b; no-such-program --odd; ./tar --odd; echo -q; python3 -m venv --odd x") == []
    assert world.said("ssh host tar --odd; docker exec box tar --odd") == []
    assert world.asked == [str(world.folder / "bin" / "cp")]


@pytest.mark.parametrize(
    "command",
    ["tar\0x --odd", "git a/../../../../etc/passwd --odd", "$(", "tar " + "-x " * 5000, "git '' --odd", "\ud800 --odd"],
)
def test_hostile_names_are_nothing(world: World, command: str) -> None:
    world.program("git", PAGE)
    outside = world.folder / "share" / "passwd.1"
    outside.write_text(PAGE)
    assert world.said(command) == []


def test_sub_commands_have_pages_of_their_own(world: World) -> None:
    world.program("git", PAGE)
    world.page("git-commit", PAGE.replace("exclude", "amend"))
    assert world.said("git commit --amend -f x; git push --odd") == []
    assert world.said("git commit --odd") == ["git commit here has no --odd"]
    assert world.said("git --odd push") == ["git here has no --odd"]


def test_pages_beside_that_list_more(world: World) -> None:
    world.program("iptables", PAGE)
    assert world.said("iptables -x --dport 22") == ["iptables here has no --dport"]
    world.page("iptables-extensions", PAGE.replace("exclude", "dport"))
    assert world.said("iptables -x --dport 22") == []


def test_help_stands_in_for_a_page_that_is_missing(world: World) -> None:
    world.program("cp")
    world.help = "Usage: cp\n  -a, --archive   all of it\n  -b   backup\n  -r   below\n"
    assert world.said("cp -ab --progress x y") == ["cp here has no --progress"]


def test_lines_that_may_help(world: World) -> None:
    (missing,) = world.manuals().missing_in("tar -xzf a --excluded='*.o'")
    assert missing.near("unpack a, leave out *.o files")[0] == "--exclude=PATTERN: leave out files that match"
    assert world.manuals().facts("use tar to extract all, exclude *.o") == (
        "tar -x, --extract: take files out",
        "tar --exclude=PATTERN: leave out files that match",
    )
    assert world.manuals().facts("extract all, exclude *.o") == ()


def test_a_page_is_read_once_and_again_when_it_changes(world: World, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    assert world.manuals(str(cache)).missing_in("tar --odd")
    (kept,) = cache.iterdir()
    assert stat.S_IMODE(os.stat(cache).st_mode) == 0o700
    os.chmod(world.folder / "share/man/man1/tar.1", 0)
    before = kept.stat().st_mtime_ns
    assert world.manuals(str(cache)).missing_in("tar --odd")
    assert kept.stat().st_mtime_ns == before
    os.chmod(world.folder / "share/man/man1/tar.1", 0o644)
    world.page("tar", PAGE + ".TP\n\\-\\-odd\nodd\n")
    assert world.manuals(str(cache)).missing_in("tar --odd") == ()
    kept.write_bytes(b"\xc1 no cache")
    assert world.manuals(str(cache)).missing_in("tar --even")


@pytest.mark.thorough
def test_no_recipe_is_said_to_be_wrong_here() -> None:
    """Thousands of right commands against the real pages of this machine."""
    manuals = Manuals("", lambda path: "")
    commands = {example.command for _, entry in load_entries() for example in entry.examples}
    said = {command: manuals.missing(classify(command, RiskContext())) for command in commands}
    assert {command: found for command, found in said.items() if found} == {}


def test_a_page_that_is_a_pipe_or_leads_to_something_private_is_none(world: World) -> None:
    """Pages may lie beside a program in a folder that somebody else has written."""
    private = world.folder / "private"
    private.write_text(".TP\n-a\nx\n.TP\n-b\nx\n.TP\n-c\nthe password\n")
    pages = world.folder / "share/man/man1"
    for name in ("pipe", "link", "named", "climbing"):
        world.program(name)
    os.mkfifo(pages / "pipe.1")
    (pages / "link.1").symlink_to(private)
    world.page("named", f".so {private}\n")
    world.page("climbing", ".so ../../private\n")
    for name in ("pipe", "link", "named", "climbing"):
        report = classify(f"{name} --none", RiskContext())
        assert world.manuals().missing(report) == ()
    world.page("tar", PAGE)
    world.program("tar")
    (pages / "tar.1").rename(pages / "real.1")
    (pages / "tar.1").symlink_to("real.1")
    assert world.manuals().missing(classify("tar --none", RiskContext()))
