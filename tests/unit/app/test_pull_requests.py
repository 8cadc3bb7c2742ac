"""Which key goes to which host, and from where the person's keys and hosts are taken."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agent.app.planner_settings import ProcessVault
from agent.app.pull_requests import HostedPullRequests, hosted_pull_requests
from agent.config.load import Loaded
from agent.config.settings import Settings
from agent.execution.processes import HostProcesses
from agent.protocol.actions import OpenPullRequest
from agent.protocol.approvals import ApprovedPullRequest, Consent
from agent.protocol.decisions import RiskContext
from agent.risk.file_actions import rate_action
from tests.support.github_server import GitHubServer

GITHUB, ENTERPRISE = "https://github.com/ada/p.git", "git@git.acme.example:ada/p.git"


def hosted(tmp_path: Path, environ: dict[str, str], secrets: dict[str, str] | None = None) -> HostedPullRequests:
    place = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "config"), **environ}
    loaded = Loaded(settings=Settings(), origins={}, secrets=secrets or {}, environ=place)
    return hosted_pull_requests(loaded, ProcessVault(place, lambda name, value: None), HostProcesses())


@pytest.mark.parametrize("name", ["GITHUB_TOKEN", "GH_TOKEN"])
def test_a_key_of_the_environment_or_a_file_opens_them_on_the_server(tmp_path: Path, name: str) -> None:
    assert hosted(tmp_path, {name: "k"}).place(GITHUB) == "github.com/ada/p"
    assert hosted(tmp_path, {}, {name: "k"}).place(GITHUB) == "github.com/ada/p"
    assert hosted(tmp_path, {}).place(GITHUB) == "local"
    assert hosted(tmp_path, {name: "k"}).place("/srv/p.git") == "local"


def test_a_key_is_for_one_host(tmp_path: Path) -> None:
    host = {"GH_HOST": "git.acme.example"}
    assert hosted(tmp_path, {**host, "GITHUB_TOKEN": "k"}).place(ENTERPRISE) == "local"
    assert hosted(tmp_path, {**host, "GH_ENTERPRISE_TOKEN": "k"}).place(ENTERPRISE) == "git.acme.example/ada/p"
    assert hosted(tmp_path, {**host, "GH_ENTERPRISE_TOKEN": "k"}).place(GITHUB) == "local"


def test_a_file_in_a_repository_does_not_say_which_hosts_are_the_person_s(tmp_path: Path) -> None:
    found = hosted(tmp_path, {"GH_ENTERPRISE_TOKEN": "k"}, {"GH_HOST": "git.acme.example"})
    assert found.place(ENTERPRISE) == "local"


@pytest.mark.covers("S2-23")
def test_it_is_opened_where_it_was_agreed_to(tmp_path: Path) -> None:
    with GitHubServer() as server:
        found = hosted(tmp_path, {"GH_HOST": server.host, "GH_ENTERPRISE_TOKEN": server.token})
        action = OpenPullRequest(
            root=str(tmp_path),
            where=found.place(server.remote),
            branch="agent/task-1",
            base="main",
            title="t",
            body="b",
        )
        report = rate_action(action, RiskContext())
        approved = ApprovedPullRequest(action=action, report=report, consent=Consent(by="person"))
        assert asyncio.run(found.open(approved)).number == 1
        assert len(server.pulls) == 1
