"""Offering a model server that runs here."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agent.frontends.opening_words import FIRST_RUN, welcome
from agent.frontends.repl.background_loading import local_offer
from agent.providers import discover as discovery
from agent.providers.discover import LocalServer
from tests.support.fakes import FakePlanner, say
from tests.support.front_services import World


@pytest.mark.parametrize(
    ("planner", "setting", "offered"),
    [("offline", "auto", True), ("offline", "offline", False), ("openai", "auto", False)],
)
def test_only_where_nothing_was_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, planner: str, setting: str, offered: bool
) -> None:
    async def found() -> tuple[LocalServer, ...]:
        empty = LocalServer(provider="llamacpp", title="llama.cpp", base_url="http://127.0.0.1:8080")
        full = LocalServer(provider="ollama", title="Ollama", base_url="http://127.0.0.1:11434", models=("m:3b", "n"))
        return empty, full

    monkeypatch.setattr(discovery, "discover", found)
    world = World(FakePlanner(say()), tmp_path, planner=setting)
    text = asyncio.run(local_offer(world.services, planner))
    begin, end = "Ollama runs on this machine; to plan with it, type  :models use ollama:m:3b  ", ":model ollama:m:3b)"
    assert (text.startswith(begin) and text.endswith(end)) if offered else text == ""


def test_first_run_is_five_short_lines() -> None:
    assert len(FIRST_RUN) == 5
    assert all(len(line) <= 92 for line in FIRST_RUN)
    assert (
        "in /x/sessions; `session_dir`"
        in welcome(first_run=True, is_root=False, safety_off=False, logs="/x/sessions")[-1][0][1]
    )
    assert welcome(first_run=False, is_root=False, safety_off=False) == []
    words = " ".join(part for line in welcome(first_run=False, is_root=True, safety_off=True) for _, part in line)
    assert "root" in words
    assert "safety is off" in words
