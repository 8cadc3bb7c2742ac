"""The vault at a real prompt: a secret goes in, into a command, onto the screen for its owner, and into no file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent.redaction.known_values import encoded_forms
from agent.vault.store import Vault
from tests.support.fake_llm_server import Behaviour, FakeLLMServer
from tests.support.terminal import CTRL_C, CTRL_D, Terminal

PASSPHRASE = "correct horse battery"
VALUE = "s3cr3t/of+mine=41 and more"
OTHER = "an0ther-One-typed"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


def kept_below(folder: Path, *values: str) -> list[str]:
    """Files below `folder` in which a value stands in any form."""
    forms = {form.encode() for value in values for form in encoded_forms(value)}
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert len(files) > 3, "a session leaves files"
    return [str(path) for path in files if any(form in path.read_bytes() for form in forms)]


def open_it(person: Terminal) -> None:
    person.see("passphrase of the vault.*❯", where="line")
    person.type(f"{PASSPHRASE}\r")


@pytest.mark.thorough
@pytest.mark.covers("S1-30")
def test_a_secret_goes_to_a_command_and_its_owner_and_no_file(home: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    with Terminal(home=home, cwd=work, columns=120) as person:
        person.at_prompt()
        person.type(":vault add DEPLOY_TOKEN\r")
        person.see("a passphrase for the vault.*❯", where="line")
        person.type(f"{PASSPHRASE}\r")
        person.see("the same again.*❯", where="line")
        person.type(f"{PASSPHRASE}\r")
        person.see("value of DEPLOY_TOKEN.*❯", where="line")
        person.type(f"{VALUE}\r")
        person.see("DEPLOY_TOKEN is in the vault")
        person.at_prompt()
        person.type(f":vault add OTHER {OTHER}\r")
        person.see("OTHER is in the vault")
        person.at_prompt()
        person.type(":vault list\r")
        person.see(r"DEPLOY_TOKEN\s+OTHER\s+\(2 in .*vault.json\)")
        person.at_prompt()
        assert VALUE not in person.text, "nothing of it was shown"
        person.type(':vault run DEPLOY_TOKEN -- printf "%s|" "$DEPLOY_TOKEN" | wc -c\r')
        person.see("it gets DEPLOY_TOKEN of the vault")
        person.at_confirmation("wc -c")
        person.type("\r")
        person.see(rf"(?m)^{len(VALUE) + 1}\s*$")
        person.at_prompt()
        person.type("!echo now:${DEPLOY_TOKEN-unset}\r")
        person.at_confirmation("DEPLOY_TOKEN")
        person.type("\r")
        person.see("(?m)^now:unset")
        person.at_prompt()
        person.type(
            ":vault run DEPLOY_TOKEN -- env > seen; export KEPT=$DEPLOY_TOKEN; cat /proc/*/cmdline > words 2>&1\r"
        )
        person.at_confirmation("seen")
        person.type("\r")
        person.see("type proceed")
        person.type("proceed\r")
        person.at_prompt()
        person.type("!echo now:${KEPT-unset}:\r")
        person.at_confirmation("KEPT")
        person.type("\r")
        person.see("(?m)^now:unset:")
        person.at_prompt()
        person.type(f"what is {VALUE} good for\r")  # a goal that repeats it
        person.at_prompt()
        person.type(":vault get DEPLOY_TOKEN\r")
        person.see(f"(?m)^{VALUE.replace('+', '[+]')}")
        person.at_prompt()
        person.type(CTRL_D)
        assert person.leaves() == 0
    assert (work / "seen").read_text().count(f"DEPLOY_TOKEN={VALUE}\n") == 1
    words = (work / "words").read_bytes()
    assert b"agent_shell.py" in words and VALUE.encode() not in words
    assert kept_below(home, VALUE, OTHER, PASSPHRASE) == []
    history = (home / ".local/state/agent-shell/history.jsonl").read_text()
    assert "vault add DEPLOY_TOKEN" in history and "OTHER" not in history


@pytest.mark.thorough
def test_a_locked_vault_asks_and_takes_no_text_that_was_typed_before(home: Path, tmp_path: Path) -> None:
    vault = Vault(str(home / ".config/agent-shell"), lambda name, value: None, cost=10)
    vault.unlock(PASSPHRASE)
    vault.put("DEPLOY_TOKEN", VALUE, new=True)
    with Terminal(home=home, cwd=tmp_path, columns=120) as person:
        person.at_prompt()
        person.type(":vault get DEPLOY_TOKEN\rwrong words typed ahead\r")
        open_it(person)
        person.see(f"(?m)^{VALUE.replace('+', '[+]')}")
        person.at_prompt()
        assert "typed ahead" not in person.line
        person.type(CTRL_D)
        assert person.leaves() == 0
    with Terminal(home=home, cwd=tmp_path, columns=120) as person:
        person.at_prompt()
        person.type(":vault get DEPLOY_TOKEN\r")
        person.see("passphrase of the vault.*❯", where="line")
        person.type("not this one\r")
        person.see("this is not the passphrase of the vault.*passphrase of the vault.*❯")
        person.type(CTRL_C)
        person.see("the vault is locked")
        person.at_prompt()
        (home / ".config/agent-shell/policy.toml").write_text(
            '[[rule]]\nname = "unseen"\naction = "deny"\nprogram = "agent-shell"\nwords = ["vault", "get"]\n'
            'reason = "secrets stay unseen"\nmatch = ["agent-shell vault get X"]\nnot_match = ["agent-shell vault list"]\n'
        )
        person.type(":vault get DEPLOY_TOKEN\r")
        person.see("secrets stay unseen")
        person.at_prompt()
        person.type(":vault delete DEPLOY_TOKEN\r")
        person.see(r"\[y/N\]")
        person.type("y\r")
        open_it(person)
        person.see("deleted: DEPLOY_TOKEN")
        person.at_prompt()
        person.type(CTRL_D)
        assert person.leaves() == 0
    assert vault.names() == ()


@pytest.mark.thorough
def test_on_a_dumb_terminal_the_answer_is_not_echoed(home: Path, tmp_path: Path) -> None:
    with Terminal(home=home, cwd=tmp_path, columns=120, TERM="dumb") as person:
        person.see("goal:")
        person.type(":vault add DEPLOY_TOKEN\r")
        for question, answer in (
            ("a passphrase for the vault", PASSPHRASE),
            ("the same", PASSPHRASE),
            ("value of", VALUE),
        ):
            person.see(rf"{question}[^\n]*not shown\):")
            person.type(f"{answer}\r")
        person.see("DEPLOY_TOKEN is in the vault")
        person.type(CTRL_D)
        assert person.leaves() == 0
    assert VALUE.encode() not in person.raw and PASSPHRASE.encode() not in person.raw


def test_a_key_of_the_vault_is_asked_for_with_the_first_goal(home: Path, tmp_path: Path) -> None:
    vault = Vault(str(home / ".config/agent-shell"), lambda name, value: None, cost=10)
    vault.unlock(PASSPHRASE)
    vault.put("OPENAI_API_KEY", VALUE.replace(" ", "-"), new=True)
    vault.put("TEAM", "team-of-mine", new=True)
    answer = Behaviour(pieces=('{"mode": "chat", "message": "it is all there"}',))
    with FakeLLMServer(answer, answer) as server:
        base_url = server.base_url.removesuffix("/v1") + "/{{TEAM}}/v1"
        with Terminal(
            home=home, cwd=tmp_path, columns=120, AGENT_PLANNER="openai", AGENT_BASE_URL=base_url, AGENT_MODEL="m"
        ) as person:
            person.at_prompt()
            person.type("frobnicate the quux\r")
            open_it(person)
            person.see("it is all there")
            person.at_prompt()
            person.type("and once more\r")
            person.see("it is all there.*it is all there")
            person.at_prompt()
            person.type(CTRL_D)
            assert person.leaves() == 0
        assert server.requests[-1].headers["authorization"] == f"Bearer {VALUE.replace(' ', '-')}"
        assert server.requests[-1].path.startswith("/team-of-mine/v1/")
    assert kept_below(home, VALUE.replace(" ", "-"), "team-of-mine") == []


@pytest.mark.thorough
@pytest.mark.covers("S1-31", "S1-65")
def test_signing_in_opens_the_page_and_keeps_the_key(home: Path, tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    opener = tools / "xdg-open"
    opener.write_text(f'#!/bin/sh\nprintf %s "$1" > {tmp_path}/opened\n')
    opener.chmod(0o755)
    work = tmp_path / "work"
    work.mkdir()
    path = f"{tools}:{os.environ['PATH']}"
    with Terminal(home=home, cwd=work, columns=120, PATH=path, DISPLAY=":99") as person:
        person.at_prompt()
        person.type(":authenticate groq\r")
        person.see("gives out keys at https://console.groq.com/keys")
        person.see("a passphrase for the vault.*❯", where="line")
        person.type(f"{PASSPHRASE}\r")
        person.see("the same again.*❯", where="line")
        person.type(f"{PASSPHRASE}\r")
        person.see("value of GROQ_API_KEY.*❯", where="line")
        person.type(f"{VALUE}\r")
        person.see("GROQ_API_KEY is in the vault")
        person.at_prompt()
        assert (tmp_path / "opened").read_text() == "https://console.groq.com/keys"
        person.type(CTRL_D)
        assert person.leaves() == 0
    assert kept_below(home, VALUE) == []
