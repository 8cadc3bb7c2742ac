"""Whose programs are there is seen by where links point, and chooses the form of a recipe; nothing is run for it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from agent.planner.offline import rendering, system_tools
from agent.planner.offline.recipe_files import Form
from agent.planner.offline.recipes import load_book
from agent.planner.offline.surroundings import Surroundings
from agent.protocol.messages import EnvironmentFacts
from agent.protocol.replies import Command
from tests.support.each import each
from tests.support.needs import needs
from tests.unit.planner.offline.offline_support import TODAY, answer, goal_item, planner

BOOK = load_book()
RECIPES = {recipe.entry.id: recipe for recipe in BOOK.recipes}


def program(folder: Path, name: str) -> Path:
    """An executable file that nobody runs."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\nexit 1\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def test_a_link_to_busybox_or_toybox_is_busybox(folder: Path) -> None:
    (folder / "find").symlink_to(program(folder, "busybox.static"))
    (folder / "sed").symlink_to(program(folder, "toybox"))
    assert system_tools.flavour_of("find", "Linux") == "busybox"
    assert system_tools.flavour_of("sed", "Linux") == "busybox"


def test_a_hard_link_to_busybox_is_busybox(folder: Path) -> None:
    os.link(program(folder, "busybox"), folder / "stat")
    assert system_tools.flavour_of("stat", "Linux") == "busybox"
    program(folder, "date")
    assert system_tools.flavour_of("date", "Linux") == "gnu"


@pytest.mark.parametrize(
    ("system", "flavour"), [("Linux", "gnu"), ("macOS 14.1", "bsd"), ("Darwin", "bsd"), ("FreeBSD", "bsd")]
)
def test_without_a_sign_the_system_says_it(folder: Path, system: str, flavour: str) -> None:
    program(folder, "sed")
    assert system_tools.flavour_of("sed", system) == flavour
    assert system_tools.flavour_of("missing", system) == flavour


def test_gnu_programs_on_a_mac_are_gnu(folder: Path) -> None:
    (folder / "sed").symlink_to(program(folder / "gnu-sed" / "bin", "gsed"))
    (folder / "date").symlink_to(program(folder / "coreutils" / "libexec" / "gnubin", "date"))
    assert system_tools.flavour_of("sed", "macOS") == "gnu"
    assert system_tools.flavour_of("date", "macOS") == "gnu"


def test_a_plugin_of_docker_is_a_program_of_its_own(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setattr(system_tools, "_DOCKER_PLUGINS", ("~/.docker/cli-plugins",))
    program(folder, "docker")
    assert system_tools.on_path("docker")
    assert not system_tools.on_path("docker compose")
    program(folder / ".docker" / "cli-plugins", "docker-compose")
    assert system_tools.on_path("docker compose")


def forms(recipe: str, present: set[str], flavour: str = "gnu", system: str = "Linux") -> list[str]:
    """The usable templates of a recipe."""
    around = Surroundings(
        present=present.__contains__,
        today=TODAY,
        exists=lambda name: True,
        is_root=True,
        flavour=lambda name, system: flavour,
    )
    return [form.command for form in rendering.usable_forms(RECIPES[recipe], EnvironmentFacts(os=system), around)]


def test_the_first_form_whose_programs_are_there() -> None:
    assert forms("docker.compose_up", {"docker", "docker compose"}) == ["docker compose up -d"]
    assert forms("docker.compose_up", {"docker", "docker-compose"}) == ["docker-compose up -d"]
    assert forms("docker.running", {"podman"}) == ["podman ps"]
    assert forms("media.picture_convert", {"convert"}) == ["convert <src> <dst>"]
    assert forms("media.picture_convert", {"magick", "convert"})[0] == "magick <src> <dst>"
    assert forms("network.udp", {"netstat"}) == ["netstat -an -p udp"]
    assert forms("projects.python_run", {"python"}) == ["python <file>"]


def test_the_flavour_decides() -> None:
    assert forms("tables.drop_column", {"cut"}) == ["cut -d, --complement -f<n> <file>"]
    assert forms("tables.drop_column", {"cut"}, "busybox") == []
    assert forms("processes.command_of", {"ps"}, "busybox") == ["ps -o pid,ppid,user,etime,args"]
    assert forms("processes.command_of", {"ps"}, "bsd", "macOS") == ["ps -o pid,ppid,user,etime,args -p <pid>"]


def test_every_flavour_is_one_and_is_about_a_program() -> None:
    known = {system_tools.GNU, system_tools.BSD, system_tools.BUSYBOX}
    flavoured: list[Form] = [form for recipe in BOOK.recipes for form in recipe.forms if form.flavour]
    assert flavoured
    for form in flavoured:
        assert set(form.flavour.split("|")) <= known
        assert form.needs


def test_a_real_busybox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs("busybox")
    busybox = shutil.which("busybox")
    assert busybox
    for name in ("ps", "head"):
        (tmp_path / name).symlink_to(busybox)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert system_tools.flavour_of("ps", "Linux") == "busybox"
    done = subprocess.run([str(tmp_path / "ps"), "-o", "pid,args"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_modules_of_python_are_found_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert not system_tools.on_path("python3 yaml")
    program(tmp_path / "bin", "python3")
    assert not system_tools.on_path("python3 yaml")
    (tmp_path / "lib" / "python3.12" / "site-packages" / "yaml").mkdir(parents=True)
    assert system_tools.on_path("python3 yaml") and not system_tools.on_path("python3 numpy")


def test_an_environment_of_its_own_sees_no_other_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    real = program(tmp_path / "usr" / "bin", "python3")
    (tmp_path / "usr" / "lib" / "python3" / "dist-packages" / "yaml").mkdir(parents=True)
    (tmp_path / "venv" / "bin").mkdir(parents=True)
    (tmp_path / "venv" / "bin" / "python3").symlink_to(real)
    monkeypatch.setenv("PATH", str(tmp_path / "venv" / "bin"))
    settings = tmp_path / "venv" / "pyvenv.cfg"
    settings.write_text("home = /usr\ninclude-system-site-packages = false\n")
    assert not system_tools.on_path("python3 yaml")
    settings.write_text("include-system-site-packages = true\n")
    assert system_tools.on_path("python3 yaml")


@each(
    ("here", "said"),
    [
        ({"python3", "python3 yaml", "yq"}, "python3 -c"),
        ({"python3", "yq", "yq script"}, "yq -y . data.json"),
        ({"python3", "yq"}, "yq -P . data.json"),
        ({"python3"}, "the Python module yaml, which is not installed here"),
    ],
)
def test_yaml_is_made_with_what_is_here(here: set[str], said: str) -> None:
    reply = answer(goal_item("convert data.json to yaml"), using=planner(here.__contains__))
    assert said in (reply.command if isinstance(reply, Command) else reply.message)  # type: ignore[union-attr]


def test_what_only_administrators_have_on_their_path_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setattr(system_tools, "_ADMINISTRATION", str(tmp_path))
    assert not system_tools.on_path("makeuser")
    (tmp_path / "makeuser").touch(0o755)
    assert system_tools.on_path("makeuser")
