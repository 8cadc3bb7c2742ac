"""What has to be there before anything is composed."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.app.composition import build_services, load
from agent.commands.registry import definitions
from agent.protocol.errors import ConfigError


def test_a_folder_to_work_in_that_is_not_there_is_said(tmp_path: Path) -> None:
    missing = str(tmp_path / "missing")
    with pytest.raises(ConfigError, match=f"there is no folder {missing}"):
        load({"cwd": missing})
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="there is no folder"):
        load({"cwd": str(tmp_path / "file")})


@pytest.mark.parametrize(
    ("tasks", "able"), [("## 1. A\nStatus: done\n\n## 2. B\n\n## 7. C\nDepends on: 2\n", ("2",)), ("", ())]
)
def test_tasks_that_can_be_worked_on_continue_a_line(tmp_path: Path, tasks: str, able: tuple[str, ...]) -> None:
    for name in ("objects", "refs"):
        (tmp_path / ".git" / name).mkdir(parents=True)
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (tmp_path / "below").mkdir()
    (tmp_path / "TASKS.md").write_text(tasks)
    services = build_services(load({"cwd": str(tmp_path / "below"), "persist": False}))
    (work,) = [each for each in definitions() if each.name == "work"]
    assert work.complete is not None and work.complete(services.engine.app.services) == able
