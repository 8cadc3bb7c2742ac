"""A rehearsal is offered where it can show something: not for what a person would do in an editor."""

from __future__ import annotations

from agent.policy.rehearsable import tells
from agent.risk.classifier import classify
from tests.support.each import each


@each(
    "command",
    [
        "crontab -e", "git rebase -i HEAD~3", "git rebase --interactive main", "git commit", "git commit -a", "visudo", "sudoedit x",
        "git add -p", "git stash --patch", "git tag -a v1", "vim a.txt", "less a.txt", "ssh host rm x", "kubectl edit pod x",
    ],
)  # fmt: skip
def test_what_a_person_does_cannot_be_rehearsed(command: str) -> None:
    assert not tells(classify(command))


@each(
    "command",
    [
        "git rebase main", "git commit -m x", "git commit -am x", "git commit --message=x", "git commit --amend --no-edit", "git add .",
        "git stash", "git tag -a v1 -m x", "rm a.txt", "crontab jobs.txt", "sed -i s/a/b/ x", "./unknown",
    ],
)  # fmt: skip
def test_what_runs_by_itself_can(command: str) -> None:
    assert tells(classify(command))
