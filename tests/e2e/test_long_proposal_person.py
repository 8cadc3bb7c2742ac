"""A proposal that is longer than the window: the person sees all of it before it can run."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.terminal import CTRL_C, Terminal


def test_what_scrolled_away_is_shown_before_it_runs(tmp_path: Path) -> None:
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    hidden = "touch made # the first line\n" + "echo filler\n" * 30 + "echo harmless"
    replies = [{"json": {"mode": "command", "command": hidden}}, {"json": {"mode": "chat", "message": "fine"}}]
    (tmp_path / "s.json").write_text(json.dumps({"reply": replies}))
    with Terminal("--planner", f"scripted:{tmp_path}/s.json", home=home, cwd=work, PAGER="cat") as person:
        person.at_prompt()
        person.type("go\r")
        person.see(r"echo harmless.*F1\s+more", where="screen")
        assert "touch made" not in person.screen
        person.type("\r")
        person.see("touch made # the first line")
        person.see(r"this was all of it.*echo harmless.*F1\s+more")
        assert not (work / "made").exists()
        person.type("\r")
        person.see("fine")
        assert (work / "made").exists()
        person.type(CTRL_C)
