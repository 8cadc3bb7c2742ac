"""`:models` at a real prompt: what is here, another one with Tab, and back."""

from __future__ import annotations

import stat
import tomllib
from pathlib import Path

from tests.support.gguf_files import write_model
from tests.support.terminal import CTRL_C, CTRL_D, Terminal


def test_another_model_and_back(tmp_path: Path) -> None:
    home, work = tmp_path / "home", tmp_path / "work"
    (home / "models").mkdir(parents=True)
    work.mkdir()
    write_model(home / "models/tiny.gguf")
    (home / "models/odd\x1b[31m.gguf").write_bytes(b"no model at all")
    config = home / ".config/agent-shell/config.toml"
    with Terminal(home=home, cwd=work, PAGER="cat", columns=120) as person:
        person.at_prompt()
        person.type(":models\r")
        person.see(r"this session asks offline; another one: `:models use NAME`")
        person.see(r"tiny +\d+ \w+ .*Q4_K_M")
        person.see("unusable")
        person.type(":models use ti")
        person.see(r"\n {10,}use tiny")  # the menu
        person.type("\t")
        person.see(r":models use tiny", where="line")
        person.type("\r\r")  # what Tab took, and the line
        person.see(r"planner: \(not set\) → local")
        person.see("model: tiny")
        assert tomllib.loads(config.read_text()) == {"planner": "local", "model": str(home / "models/tiny.gguf")}
        assert stat.S_IMODE(config.stat().st_mode) == 0o600
        person.at_prompt()
        person.type(":models use nobody\r")
        person.see("there is no model called nobody here")
        person.at_prompt()
        person.type(":model\r")
        person.see("planner local, model tiny")
        person.at_prompt()
        person.type(":models use offline\r")
        person.see("planner: local → offline")
        person.at_prompt()
        person.type("how big is this folder\r")
        person.at_confirmation("du -sh")
        person.type(CTRL_C)
        person.at_prompt()
        person.type(CTRL_D)
        assert person.leaves() == 0
    assert b"\x1b[31m.gguf" not in person.raw
    assert tomllib.loads(config.read_text()) == {"planner": "offline"}
