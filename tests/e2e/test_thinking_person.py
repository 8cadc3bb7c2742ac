"""A model of this machine that thinks for a while: that it works is seen, and what it thinks; the answer and the log are without it."""

from __future__ import annotations

import re
import threading
from pathlib import Path

from tests.e2e.test_repl_person import events
from tests.support.fake_llm_server import Behaviour, FakeLLMServer
from tests.support.terminal import Terminal

COMMAND = ('{"mode": "command", "reason": "It counts', ' them.", "command": "wc -l', ' note3.txt"}')


def test_what_is_seen_while_a_model_thinks(home: Path, work: Path) -> None:
    aside = Behaviour(thoughts=("The person wants", " lines counted."), pieces=COMMAND, pace=0.05)
    tagged = Behaviour(pieces=("<think>Again", " lines.</think>", *COMMAND), pace=0.05)
    seconds_seen = threading.Event()
    silent = Behaviour(pieces=COMMAND, held=seconds_seen)
    said = Behaviour(pieces=('{"mode": "chat", "message": "Counted."}',))
    with FakeLLMServer(aside, said, tagged, said, silent, said) as server:
        arguments = ("--planner", "llamacpp", "--base-url", server.base_url, "--model", "fake-70b")
        with Terminal(*arguments, home=home, cwd=work, columns=120) as person:
            for seen in (["The person wants", "lines counted"], ["Again", "lines\\."], []):
                person.at_prompt()
                person.type("frobnicate the third note\r")
                for words in seen:
                    person.see(words)
                if not seen:
                    person.until(lambda: re.search("thinking… [1-9]".encode(), person.raw) is not None)
                    seconds_seen.set()
                person.at_confirmation("wc -l note3.txt")
                person.type("\r")
                person.see("37 note3.txt")
                person.see("completed|Counted")
            person.at_prompt()
            person.type("exit\r")
            assert person.leaves() == 0
    assert b"\x1b[2mThe person wants" in person.raw
    assert b"</think>" not in person.raw
    recorded = events(home)
    assert [event["reply"] for event in recorded if event["type"] == "planner.finished"][::2] == ["command"] * 3
    assert "assistant.thought" not in {event["type"] for event in recorded}
    assert not any("person wants" in str(event) for event in recorded)
