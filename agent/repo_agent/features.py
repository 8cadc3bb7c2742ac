"""Find the commits that count as the features of a task."""

from __future__ import annotations

from agent.repo_agent.repository import FeatureCommit
from agent.repo_agent.workplace import Workplace
from agent.repo_agent.worktrees import feature_marks


async def features_done(place: Workplace) -> list[FeatureCommit]:
    """Return the commits on the branch that count as features.

    They change a file, and their features got a commit from finish_feature: here, or where the branch was when it came from a remote.
    """
    assert place.repository is not None
    marks = feature_marks(place.root)
    known = set(marks) - {""}
    if "" in marks:
        known |= {each.feature for each in await place.repository.feature_commits(place.base, place.task, marks[""])}
    return [each for each in await place.repository.feature_commits(place.base, place.task) if each.feature in known]


def number_of(commit: FeatureCommit) -> int:
    """Return the feature's number in its task, 0 for none."""
    number = commit.feature.rpartition(".")[2]
    return int(number) if number.isascii() and number.isdigit() else 0
