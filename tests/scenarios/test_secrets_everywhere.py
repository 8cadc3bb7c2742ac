"""Secrets wherever a goal can hold them: none reaches log, state folder or planner, whatever the person's own screen shows."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path

import pytest

from tests.scenarios.program import World, chat, command
from tests.support.fake_llm_server import Behaviour, FakeLLMServer

TOKEN = "ghp_" + "q7Rk2Zx9Lw4Tn8Vb3Ym6Hc1Jd5Pf0Sg7Aa2E"
OTHER = "AKIA" + "5QZ3XN7RBT2WLKVM"
KNOWN = "w1nter-Lantern-from-env"
ENCODED = base64.b64encode(f"user:{KNOWN}".encode()).decode()
SECRETS = (TOKEN, OTHER, KNOWN, ENCODED, KNOWN.encode().hex())


def leaks(text: str) -> list[str]:
    return [secret for secret in SECRETS if secret[4:16] in text or secret in text]


def kept_text(world: World) -> str:
    """Everything that was kept anywhere, but in the working folder and in the script."""
    files = [path for folder in (world.sessions, world.home) for path in Path(folder).rglob("*") if path.is_file()]
    return "\n".join([str(path) + path.read_bytes().decode("utf-8", "replace") for path in files])


@pytest.mark.few(1)
@pytest.mark.covers("S4-29")
@pytest.mark.parametrize(
    "options", [(), ("--no-redact",), ("--redact", "pii"), ("--no-redact", "--json")], ids=" ".join
)
def test_no_secret_gets_further_than_the_screen(world: World, options: tuple[str, ...]) -> None:
    folder = world.work / f"in-{OTHER}"
    folder.mkdir()
    (folder / f"{TOKEN}.txt").write_text(
        f"diff\n-password: hunter2Lantern\n+{TOKEN}\n{ENCODED}\n{KNOWN.encode().hex()}\nbob@example.com\n"
    )
    proposed = f'ls; cat *.txt; echo {TOKEN} "$DB_PASSWORD" >&2; {OTHER}-is-no-program; true'
    replies = [
        Behaviour(pieces=(json.dumps(reply),)) for reply in (command(proposed, f"for {OTHER}"), chat(f"it is {TOKEN}"))
    ]
    with FakeLLMServer(*replies) as server:
        ended = world.run(
            "--base-url", server.base_url, "--model", "m", "--approve", "medium", "--session-id", "all", "--cwd", str(folder), *options,
            f"what is {TOKEN} in --password {KNOWN}", env={"DB_PASSWORD": KNOWN, "AGENT_MAX_RETRIES": "0"},
        )  # fmt: skip
        asked = json.dumps([request.body for request in server.requests])
    assert len(server.requests) == 2, ended
    kept = kept_text(world)
    assert leaks(kept) == [] and leaks(asked) == []
    assert "hunter2" not in kept + asked
    assert ("bob@example.com" in kept) == ("bob@example.com" in asked) == ("pii" not in options)
    shown = ended.stdout + ended.stderr
    assert bool(leaks(shown)) == (options == ("--no-redact",)) or "--json" not in options
    if "--json" in options:
        assert leaks(ended.stdout) == []
    if options == ("--no-redact",):
        assert TOKEN in shown


@pytest.mark.thorough
def test_equal_secrets_have_equal_labels_in_all_sessions_of_a_folder(world: World) -> None:
    for name in ("one", "two"):
        world.run("exec", "--approve", "low", "--session-id", name, f"echo {TOKEN} {name}")
    labels = [set(re.findall(r"\[redacted:github-token:[0-9a-f]{4}\]", path.read_text())) for path in world.logs()]
    assert labels[0] == labels[1] and len(labels[0]) == 1
