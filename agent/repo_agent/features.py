"""Find what a branch has: the commits that count as features of its task, and changes of how its tests are run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agent.protocol.errors import IoError
from agent.repo_agent.branches import FeatureCommit
from agent.repo_agent.root import root_of, text_in
from agent.repo_agent.test_runner import SETUP, sets_up_tests
from agent.repo_agent.test_settings import said_of_tests
from agent.repo_agent.workplace import Workplace


async def features_done(place: Workplace) -> list[FeatureCommit]:
    """Return the commits on the branch that count as features.

    They change a file, and their features got a commit from finish_feature: here, or where the branch was when it came from a remote.
    """
    assert place.repository is not None
    marks = place.marks
    known = set(marks.features) if marks is not None else set()
    if marks is not None and marks.begun:
        known |= {each.feature for each in await place.repository.feature_commits(place.base, place.task, marks.begun)}
    return [each for each in await place.repository.feature_commits(place.base, place.task) if each.feature in known]


def number_of(commit: FeatureCommit) -> int:
    """Return the feature's number in its task, 0 for none."""
    number = commit.feature.rpartition(".")[2]
    return int(number) if number.isascii() and number.isdigit() else 0


async def test_setup(
    place: Workplace, differing: Iterable[str] = (), committed: Sequence[str] | None = None
) -> tuple[str, ...]:
    """Return the files that say how the tests are run, as far as they differ from the base; also those that git ignores.

    `differing`: files that differ from the last commit; `committed`: those that the branch changes, where that is known.
    """
    repository = place.repository
    if repository is None or not place.base:
        return ()
    try:
        if committed is None:
            committed = await repository.changed_files(place.base)
        paths = {*committed, *differing, *await repository.unknown_files(sorted(SETUP))}
        found = [path for path in sorted(paths) if sets_up_tests(path) and await _says_otherwise(place, path)]
    except IoError:
        return ("git could not say which",)
    return tuple(found)


async def _says_otherwise(place: Workplace, path: str) -> bool:
    """Tell whether a file says something else of the tests than on the base."""
    assert place.repository is not None
    now = said_of_tests(path, text_in(root_of(place.root), path))
    return now is None or now != said_of_tests(path, await place.repository.text_at(place.base, path))
