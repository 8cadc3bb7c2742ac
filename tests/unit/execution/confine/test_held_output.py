"""What a program prints is read while it can change nothing, reach nobody and not go on for ever."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent.execution.confine.entering import held_output, is_privileged
from agent.execution.confine.landlock import version_here


def test_both_outputs_are_read_without_input_terminal_and_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "hunter2")
    script = "echo out; echo err >&2; cat; [ -t 0 ] || echo no terminal; env"
    said = held_output(("/bin/sh", "-c", script), 10.0)
    assert said.startswith("out\nerr\nno terminal\n")
    assert "hunter2" not in said
    assert "LC_ALL=C.UTF-8" in said


def test_it_ends_in_time() -> None:
    assert held_output(("/bin/sh", "-c", "echo first; sleep 60; echo later"), 2.0) == "first\n"


def test_what_cannot_be_started_says_nothing() -> None:
    assert held_output(("/nowhere/program", "--help"), 5.0) == ""


@pytest.mark.skipif(not (version_here() or is_privileged()), reason="nothing can confine it here")
def test_it_can_write_no_file_and_reach_no_network(tmp_path: Path) -> None:
    place = tmp_path / "written"
    said = held_output(("/bin/sh", "-c", f"echo x > {place}; echo went on"), 10.0)
    assert "went on" in said
    assert not os.path.exists(place)
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        said = held_output(("/bin/bash", "-c", f"exec 3<>/dev/tcp/127.0.0.1/{port} && echo connected"), 10.0)
    assert "connected" not in said
