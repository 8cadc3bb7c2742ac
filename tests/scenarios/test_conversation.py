"""The embedded door (S0): provider, tools, system prompt and base path in; text, files and `done` out."""

import asyncio
import json

import pytest

from agent.app.composition import load, open_conversation
from agent.protocol.confirmations import Skipped
from agent.protocol.errors import InvalidState
from agent.protocol.messages import ToolCall
from agent.protocol.requests import Approval, RunOptions
from agent.providers.scripted import Scripted, ScriptedReply
from tests.support.fakes import FakePerson


def reply(name, **arguments):
    return ScriptedReply(tool_calls=(ToolCall(id=f"call-{name}", name=name, arguments=arguments),))


def open_with(tmp_path, monkeypatch, person, *replies):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    base = tmp_path / "base"
    base.mkdir()
    provider = Scripted(replies)
    conversation = open_conversation(
        provider,
        system_prompt="You help to write plans. {not interpreted}",
        base_path=str(base),
        confirmer=person,
        loaded=load({"session_dir": str(tmp_path / "sessions")}),
        options=RunOptions(approval=Approval(mode="ask")),
    )
    return conversation, provider, base


@pytest.mark.covers("S0-2", "S0-7", "S0-8", "S0-14", "S0-15", "S0-16")
def test_a_file_is_written_after_it_was_agreed_to(tmp_path, monkeypatch):
    person = FakePerson()
    talk, provider, base = open_with(
        tmp_path,
        monkeypatch,
        person,
        "What is the plan for?",
        reply("file_write", path="plan.md", content="# A shop"),
        reply("session_complete", message="Done."),
    )
    first = asyncio.run(talk.start("I want a plan"))
    second = asyncio.run(talk.respond("a shop"))
    assert (first.text, first.files_written, first.done) == ("What is the plan for?", None, False)
    assert (second.text, second.files_written, second.done) == ("Done.", ("plan.md",), True)
    assert (base / "plan.md").read_text() == "# A shop"
    assert person.asked[0].kind == "write" and person.asked[0].preview == "# A shop"
    assert provider.requests[0].messages[0].content.startswith("You help to write plans. {not interpreted}")
    log = next((tmp_path / "sessions").glob("*.jsonl")).read_text().splitlines()
    assert "command.confirmed" in {json.loads(line)["type"] for line in log}


@pytest.mark.covers("S0-20")
def test_a_no_is_told_to_the_model(tmp_path, monkeypatch):
    talk, provider, base = open_with(
        tmp_path,
        monkeypatch,
        FakePerson(Skipped()),
        reply("write_file", path="plan.md", content="# A shop"),
        "I will not write it.",
    )
    assert asyncio.run(talk.start("write")).text == "I will not write it."
    assert not (base / "plan.md").exists()
    assert "did not agree" in str(provider.requests[1].messages)


@pytest.mark.covers("S0-7", "S0-15")
def test_a_command_of_the_model_runs_in_the_base_path(tmp_path, monkeypatch):
    person = FakePerson()
    talk, _, base = open_with(
        tmp_path, monkeypatch, person, reply("run_command", command="echo hi > made.txt"), "Made it."
    )
    output = asyncio.run(talk.start("make it"))
    assert (output.text, output.files_written) == ("Made it.", ("made.txt",))
    assert (base / "made.txt").read_text() == "hi\n"
    assert person.asked[0].proposal.command == "echo hi > made.txt"


def test_closing_ends_the_log_and_the_shell_after_the_turn_that_is_under_way(tmp_path, monkeypatch):
    talk, _, base = open_with(
        tmp_path, monkeypatch, FakePerson(), reply("run_command", command="export A=1; echo hi > made.txt"), "Made it."
    )

    async def scenario():
        turn = asyncio.create_task(talk.start("make it"))
        await asyncio.sleep(0)
        await talk.close()
        assert turn.done()
        with pytest.raises(InvalidState):
            await talk.respond("more")
        await talk.close()
        return await turn

    assert asyncio.run(scenario()).text == "Made it."
    assert (base / "made.txt").exists()
    (log,) = (tmp_path / "sessions").glob("*.jsonl")
    types = [json.loads(line)["type"] for line in log.read_text().splitlines()]
    assert types[-2:] == ["run.finished", "session.finished"]
