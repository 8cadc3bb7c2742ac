"""What a rehearsal says of itself: what it cannot show, why it stopped, why it cannot be had."""

from __future__ import annotations

import errno
import os

from agent.execution.rehearsal import not_shown
from agent.execution.rehearsal.budget import Budget, in_words
from agent.execution.rehearsal.not_shown import Trouble, unavailable
from agent.execution.sandbox.layout import Layout
from tests.support.each import each
from tests.support.rehearsal_bench import Bench

GENERAL = not_shown.lines([], Layout(), user=False, network=False, elevated=False)[-1]


def told(*reports: dict[str, object], **more: bool) -> tuple[str, ...]:
    options = {"user": False, "network": False, "elevated": False, **more}
    return not_shown.lines(reports, Layout(), **options)


def test_nothing_special() -> None:
    assert told() == (GENERAL,)


def test_the_network_comes_first_with_the_program_that_wanted_it() -> None:
    wanted = {"curl": ["curl -s http://example.com/"], "getent": ["getent"]}
    assert told({"event": "left", "names": ["sleep"]}, {"event": "network", "wanted": wanted}) == (
        "network: curl wanted it (curl -s http://example.com/); rehearse with the network on to allow it",
        "network: getent wanted it; rehearse with the network on to allow it",
        "background: sleep went on after the command, and was ended with the rehearsal",
        GENERAL,
    )


def test_sudo_is_told_to_an_ordinary_user_only() -> None:
    assert any(line.startswith("sudo") for line in told(user=True, elevated=True))
    assert not any(line.startswith("sudo") for line in told(user=False, elevated=True))


def test_places_that_could_not_be_overlaid() -> None:
    reports = (
        {"event": "unmounted", "root": "/mnt/a b", "errno": errno.EINVAL},
        {"event": "hidden", "root": "/mnt/c\n", "errno": errno.EACCES},
    )
    assert told(*reports)[:2] == (
        "'/mnt/a b' stayed read-only: no overlay can be made there",
        "'/mnt/c\n' was not there: Permission denied",
    )


def test_left_out_places_are_counted_beyond_a_dozen() -> None:
    layout = Layout(left_out=[(b"/m%d" % number, "too many") for number in range(20)])
    lines = not_shown.lines([], layout, user=False, network=False, elevated=False, remarks=("a remark",))
    assert lines[0] == "/m0: too many"
    assert "8 more places like these" in lines
    assert lines[-2] == "a remark"


def test_budgets_in_words() -> None:
    budget = Budget(files=20_000, bytes=1 << 30)
    assert budget.exceeded("files") == "it would write more than 20,000 files, and was ended (rehearsal_files)"
    assert budget.exceeded("bytes") == "it would write more than 1 GiB, and was ended (rehearsal_bytes)"
    assert budget.exceeded("disk").startswith("the rehearsal's disk")


@each(
    ("size", "words"),
    [(0, "0 bytes"), (1023, "1,023 bytes"), (1536, "1.5 KiB"), (1 << 20, "1 MiB"), (5 << 40, "5,120 GiB")],
)
def test_sizes_in_words(size: int, words: str) -> None:
    assert in_words(size) == words


@each(
    ("trouble", "message", "hint"),
    [
        (
            Trouble("unshare", errno.EPERM),
            "the system forbids namespaces to this user (Operation not permitted)",
            "allow user",
        ),
        (Trouble("/proc/self/uid_map", errno.EPERM), "the system forbids namespaces to this user", "apparmor"),
        (Trouble("unshare", errno.ENOSPC), "no more namespaces may be made", "user.max_user_namespaces"),
        (
            Trouble("mount", errno.ENODEV),
            "the system forbids the mounts it needs (No such device)",
            "modprobe overlay",
        ),
        (
            Trouble("scratch /state/x", errno.EROFS),
            "no folder for it can be made at /state (Read-only file system)",
            "XDG_STATE_HOME",
        ),
        (Trouble("scratch /state/x", errno.ENOSPC), "there is no room for it at /state", "free some space"),
        (Trouble("scratch x", errno.EDQUOT), "there is no room for it (", "free some space"),
        (
            Trouble("overlay", errno.EPERM),
            "no overlay can be made by this user (Operation not permitted)",
            "Linux 5.11",
        ),
        (
            Trouble("", 0, said="no process can be started here"),
            "here: no process can be started here",
            "read the command",
        ),
        (Trouble("", 0), "a step of it failed (no reason was given)", "read the command"),
    ],
)
def test_why_it_cannot_be_had(trouble: Trouble, message: str, hint: str) -> None:
    error = unavailable([trouble])
    assert message in error.message
    assert hint in error.hint


@each(
    ("troubles", "lasting"),
    [
        ([Trouble("unshare", errno.EPERM)], True),
        ([Trouble("overlay", errno.ENODEV), Trouble("unshare", errno.EPERM)], True),
        ([Trouble("unshare", errno.ENOSPC)], False),  # namespaces are used up, for now
        ([Trouble("overlay", errno.EPERM), Trouble("scratch /x", errno.EACCES)], False),  # another folder may do
        ([Trouble("mount", errno.ENOMEM)], False),
        ([Trouble("", 0)], False),
        ([], False),
    ],
)
def test_which_reasons_last(troubles: list[Trouble], lasting: bool) -> None:
    assert unavailable(troubles).lasting is lasting


def test_both_layouts_tell_their_reasons_once() -> None:
    troubles = [Trouble("unshare", errno.EPERM)] * 2
    assert unavailable(troubles).message.count("forbids") == 1


def test_attributes_that_the_overlay_keeps_for_itself_are_told() -> None:
    bench, prefix = Bench("user"), "user.overlay."
    text = f"""python3 -c 'import os; open("f", "w"); os.mkdir("d"); open("d/g", "w"); os.setxattr("f", "{prefix}origin", b"x"); """
    text += f"""os.setxattr("d/g", "{prefix}redirect", b"x"); os.setxattr("f", "user.plain", b"x")'"""
    try:
        (said,) = bench.runs({"text": text, "then": "commit"})
        assert said["result"]["exit_code"] == 0, said
        assert os.listxattr(bench.work / "f") == ["user.plain"]
    finally:
        bench.remove()
    told = [line for line in said["not_shown"] if line.startswith("attributes")]
    assert told == [
        f"attributes {prefix}redirect, {prefix}origin of {bench.work}/d/g, {bench.work}/f: "
        "such names are the overlay's own in a rehearsal, so they are not committed"
    ]
