"""Open each pull request where its repository is hosted (port `PullRequests`): on a server that takes it from us, else beside it."""

from __future__ import annotations

from dataclasses import dataclass

from agent.protocol.actions import LOCAL, PullRequest
from agent.protocol.approvals import ApprovedPullRequest
from agent.repo_agent.pull_requests.github import GitHub
from agent.repo_agent.pull_requests.local import LocalReviews


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
