"""Changes as people and programs are shown them."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from agent.execution.overlay.reader import read_steps
from agent.execution.rehearsal.present import present
from agent.protocol.rehearsals import Totals
from tests.support.overlay_world import FAITHFUL, FOR_USERS, OverlayWorld
from tests.unit.execution.rehearsal.reading import overlay, read, shown

BEFORE = """
mkdir -p src/deep c; for i in 1 2 3; do echo "alpha $i" > $i.txt; done
echo keep > src/deep/f; echo x > x; chmod 644 x; chmod 700 src; echo c > c/in; ln 1.txt hard
sleep 0.05  # what is as young as the start of the command is not taken for older"""
COMMAND = """
rm -rf src && sed -i s/alpha/beta/ 2.txt 3.txt && mkdir new && echo hi > new/f && chmod 600 x && ln -s x link && mv c d &&
echo z >> hard"""


@pytest.fixture(scope="module")
def faithful() -> Iterator[OverlayWorld]:
    with overlay(FAITHFUL) as made:
        yield made


def test_a_command_with_everything_as_root(faithful: OverlayWorld) -> None:
    result = read(faithful, BEFORE, COMMAND)
    changes = shown(faithful, result)
    assert {path: change.op for path, change in changes.items()} == {
        "src": "delete",
        "2.txt": "modify",
        "3.txt": "modify",
        "new": "create",
        "new/f": "create",
        "x": "meta",
        "link": "create",
        "d": "rename",
        "hard": "modify",
    }
    assert list(changes) == sorted(changes)
    assert changes["d"].source == os.fspath(faithful.lower / "c")
    assert changes["2.txt"].diff == "@@ -1 +1 @@\n-alpha 2\n+beta 2\n"
    assert changes["hard"].flags == ("many-names",)
    before, after = changes["src"].before, changes["x"].after
    assert before is not None and after is not None and changes["src"].after is None
    assert (before.kind, before.mode, before.entries, before.total_bytes) == ("dir", 0o700, 2, 5)
    assert (after.kind, after.mode, after.size) == ("file", 0o600, 2)
    assert changes["link"].after is not None and changes["link"].after.target == "x"
    _, totals, _ = present(result)
    assert totals == Totals(
        created=3, modified=3, deleted=1, meta=1, renamed=1, bytes_written=7 + 7 + 10 + 3, bytes_lost=5 + 1 + 1
    )


def test_the_same_as_an_ordinary_user() -> None:
    with overlay(FOR_USERS) as world:
        changes = shown(world, read(world, BEFORE, COMMAND))
        assert {path: change.op for path, change in changes.items()} == {
            "src": "delete",
            "2.txt": "modify",
            "3.txt": "modify",
            "new": "create",
            "new/f": "create",
            "x": "meta",
            "link": "create",
            "d": "rename",
            "hard": "modify",
        }


def test_what_deserves_a_second_look_is_flagged(faithful: OverlayWorld) -> None:
    capability = "b'\\1\\0\\0\\2\\0\\4\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0'"
    command = f"""
chmod 4755 a; chmod 2755 b; chmod 666 c; mkdir -m 1777 sticky; mkdir -m 777 open; touch open/in; chmod 4777 open/in; ln d e
mknod null c 1 3; python3 -c "import os; os.setxattr('f', 'security.capability', {capability})" """
    changes = shown(faithful, read(faithful, "touch a b c d f", command))
    assert {path: change.flags for path, change in changes.items()} == {
        "a": ("setuid",),
        "b": ("setgid",),
        "c": ("world-writable",),
        "e": ("many-names",),
        "f": ("capabilities",),
        "null": ("device",),
        "open": ("world-writable",),
        "open/in": ("setuid", "world-writable"),
        "sticky": (),
    }


def test_diffs_are_of_text_only(faithful: OverlayWorld) -> None:
    changes = shown(
        faithful,
        read(
            faithful,
            "echo a > text; printf 'a\\0' > nul; printf '\\xff' > latin; head -c 300000 /dev/zero | tr '\\0' x > long; "
            "echo b > gone; ln -s a l; mkfifo p",
            "echo b > text; echo b >> nul; echo b >> latin; echo b >> long; rm gone; ln -sfn b l; chmod 600 p; echo new > new; touch empty",
        ),
    )
    assert {path: change.diff for path, change in changes.items() if change.diff} == {
        "text": "@@ -1 +1 @@\n-a\n+b\n",
        "gone": "@@ -1 +0,0 @@\n-b\n",
        "new": "@@ -0,0 +1 @@\n+new\n",
    }


def test_a_renamed_and_changed_file_has_two_changes_and_its_diff(faithful: OverlayWorld) -> None:
    changes, _, _ = present(read(faithful, "echo a > f", "mv f g; echo b >> g"))
    assert [(change.op, change.diff) for change in changes] == [("rename", ""), ("modify", "@@ -1 +1,2 @@\n a\n+b\n")]


def test_a_swap_shows_where_each_folder_was(faithful: OverlayWorld) -> None:
    changes, totals, _ = present(read(faithful, "mkdir a b; touch a/1 b/2", "mv a t; mv b a; mv t b"))
    root = os.fspath(faithful.lower)
    assert [(change.path, change.source) for change in changes] == [
        (f"{root}/a", f"{root}/b"),
        (f"{root}/b", f"{root}/a"),
    ]
    assert totals.renamed == 2


def test_what_was_moved_out_is_not_counted_as_lost(faithful: OverlayWorld) -> None:
    changes = shown(
        faithful, read(faithful, "mkdir -p old/keep; echo 1 > old/keep/f; echo 22 > old/g", "mv old/keep .; rm -r old")
    )
    before = changes["old"].before
    assert before is not None and (before.entries, before.total_bytes) == (1, 3)


def test_many_changes_are_cut_but_those_that_give_rights_away_are_not_hidden(faithful: OverlayWorld) -> None:
    result = read(
        faithful,
        "mkdir d",
        "touch d/{1..40}; mkdir new; touch new/{1..40}; touch zz; chmod 4755 zz; rmdir d/none || true",
    )
    changes, totals, more = present(result, most_changes=10)
    assert totals.created == 40 + 1 + 40 + 1
    assert len(changes) + more == totals.created
    assert len(changes) == 11
    assert [os.path.basename(change.path) for change in changes if change.flags] == ["zz"]


def test_what_is_lost_is_not_hidden_behind_what_is_made(faithful: OverlayWorld) -> None:
    result = read(faithful, "touch zz", "mkdir a; touch a/{1..40}; rm zz")
    changes, _, more = present(result, most_changes=10)
    assert more == 41 - 10
    assert "zz" in [os.path.basename(change.path) for change in changes if change.op == "delete"]


def test_names_that_are_not_text_come_as_surrogate_escapes(faithful: OverlayWorld) -> None:
    changes = shown(faithful, read(faithful, "", r"mkdir $'\xff'; touch $'\xff'/$'a\nb'; ln -s $'\xfe' l"))
    assert list(changes) == ["l", "\udcff", "\udcff/a\nb"]
    assert changes["l"].after is not None and changes["l"].after.target == "\udcfe"


def test_extended_attributes_are_named_and_the_overlays_own_are_not(faithful: OverlayWorld) -> None:
    command = "python3 -c \"import os; os.setxattr('f', 'user.note', b'x')\""
    change = shown(faithful, read(faithful, "touch f", command))["f"]
    assert change.before is not None and change.after is not None
    assert (change.before.xattrs, change.after.xattrs) == ((), ("user.note",))


def test_a_file_that_vanished_meanwhile_is_shown_as_it_was(faithful: OverlayWorld) -> None:
    faithful.new_case()
    faithful.prepare("echo a > f; echo b > g")
    faithful.run("echo bb > f; rm g")
    result = read_steps([faithful.layer()])
    faithful.prepare("rm f g")
    changes = shown(faithful, result)
    assert changes["f"].before is not None and changes["f"].before.size == 2 and changes["f"].diff == ""
    assert changes["g"].before is not None and changes["g"].before.size == 2
