"""Wire what opens pull requests: its keys are looked up where they are first needed."""

from __future__ import annotations

from dataclasses import dataclass

from agent.app.planner_settings import ProcessVault
from agent.config.load import Loaded
from agent.protocol.actions import LOCAL, PullRequest
from agent.protocol.approvals import ApprovedPullRequest
from agent.protocol.execution import Processes
from agent.providers.settings import HttpSettings
from agent.repo_agent.github import GitHub
from agent.repo_agent.local_reviews import LocalReviews


@dataclass(frozen=True)
class HostedPullRequests:
    """A remote on GitHub with a token for it goes there; all else is reviewed on a branch."""

    github: GitHub
    local: LocalReviews

    def place(self, remote: str) -> str:
        return self.github.place(remote) or LOCAL

    async def open(self, approved: ApprovedPullRequest) -> PullRequest:
        action = approved.action
        return await (self.local.open(action) if action.where == LOCAL else self.github.open(action))


_KEYS = ("GITHUB_TOKEN", "GH_TOKEN")
_ENTERPRISE_KEYS = ("GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN")


def hosted_pull_requests(loaded: Loaded, vault: ProcessVault, processes: Processes) -> HostedPullRequests:
    """Return them with the person's keys, from the environment, a `.env` file or the vault. A key is for one host.

    Which host is theirs (`GH_HOST`) is read from the environment alone: a `.env` may be that of a repository.
    """
    enterprise = loaded.environ.get("GH_HOST", "").strip().lower()

    def token(host: str) -> str:
        names = _ENTERPRISE_KEYS if host == enterprise and host != "github.com" else _KEYS
        given = next(filter(None, map(loaded.given, names)), "")
        return given or next((vault.value(name) for name in names if vault.holds(name)), "")

    settings = loaded.settings
    http = HttpSettings(proxy=vault.filled(settings.proxy or "", "proxy"), ca_file=settings.ca_file or "")
    return HostedPullRequests(GitHub(token, enterprise, http), LocalReviews(processes))
