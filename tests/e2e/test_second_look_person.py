"""A script is swapped while a person reads the prompt: Enter does not run it, and says why."""

from __future__ import annotations

from pathlib import Path

from tests.scenarios.program import World, chat, command
from tests.support.terminal import Terminal


def test_a_script_that_changed_under_the_prompt(tmp_path: Path) -> None:
    world = World(tmp_path)
    script = world.work / "x.sh"
    script.write_text("echo first text\n")
    planner = world.scripted(command("bash x.sh"), chat("done"))
    env = {"AGENT_SESSION_DIR": str(world.sessions)}
    with Terminal(*planner, "--rehearse", "off", home=world.home, cwd=world.work, **env) as person:
        person.at_prompt()
        person.type("do it\r")
        person.at_confirmation()
        script.write_text("echo other text\n")
        person.type("\r")
        person.see("since it was rated, x.sh has other contents", where="screen")
        assert "command.started" not in world.types()
        person.type("\r")
        person.see(r"\nother text", where="screen")
        person.at_prompt()
        person.type("exit\r")
        person.leaves()
    assert [event["stage"] for event in world.events() if event["type"] == "command.rated"] == ["proposed", "again"]
    (log,) = world.logs()
    replayed = world.run("sessions", "replay", "--check", str(log))
    assert (replayed.code, "1 the same" in replayed.stdout) == (0, True), replayed
