"""What single commands change, read from real overlays: which steps, in which order."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import replace

import pytest

from agent.execution.overlay.model import Step
from agent.execution.overlay.reader import read_steps
from tests.support.overlay_world import FAITHFUL, FOR_USERS, PLAIN, OverlayWorld, in_memory
from tests.unit.execution.rehearsal.reading import overlay, read, words


@pytest.fixture(scope="module", params=[FAITHFUL, PLAIN, FOR_USERS], ids=["faithful", "plain", "user"])
def world(request: pytest.FixtureRequest) -> Iterator[OverlayWorld]:
    with overlay(request.param, in_memory()) as made:
        yield made


@pytest.fixture(scope="module")
def faithful() -> Iterator[OverlayWorld]:
    with overlay(FAITHFUL) as made:
        yield made


@pytest.fixture(scope="module")
def for_users() -> Iterator[OverlayWorld]:
    with overlay(FOR_USERS) as made:
        yield made


PYTHON = "/usr/bin/env python3 -c"


@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("before", "command", "steps"),
    [
        pytest.param("echo a > f", "cat f; find . -type f", [], id="reading"),
        pytest.param("", "echo a > f", [("create", "f")], id="new-file"),
        pytest.param("echo a > f", "echo b >> f", [("modify", "f")], id="appended"),
        pytest.param("echo a > f", "echo b > f", [("modify", "f")], id="same-size"),
        pytest.param("echo a > f", "sed -i s/a/b/ f", [("modify", "f")], id="replaced"),
        pytest.param("echo a > f", "touch -d 2001-01-01 f", [("meta", "f")], id="touched"),
        pytest.param("echo a > f", "chmod 600 f", [("meta", "f")], id="mode"),
        pytest.param("mkdir d; echo a > d/f", "chmod 700 d", [("meta", "d")], id="mode-of-a-folder"),
        pytest.param("mkdir d", "touch -d 2001-01-01 d", [("meta", "d")], id="touched-folder"),
        pytest.param("mkdir d; echo a > d/f", "echo b > d/g; touch -d 2001-01-01 d", [("create", "d/g")], id="touched-full"),
        pytest.param("mkdir d; echo a > d/f", "rm d/f", [("delete", "d/f")], id="removed"),
        pytest.param("mkdir -p d/e; echo a > d/e/f", "rm -r d", [("delete", "d", "whole")], id="removed-tree"),
        pytest.param("", "mkdir -p d/e; echo a > d/e/f", [("create", "d", "whole")], id="new-tree"),
        pytest.param("echo a > f", "rm f; mkdir f; echo b > f/g", [("type", "f", "whole")], id="file-to-folder"),
        pytest.param("mkdir f; echo a > f/g", "rm -r f; echo b > f", [("type", "f")], id="folder-to-file"),
        pytest.param("echo a > f", "rm f; mkfifo f", [("type", "f")], id="file-to-fifo"),
        pytest.param("echo a > f", "ln -sf /etc/passwd f", [("type", "f")], id="file-to-link"),
        pytest.param("ln -s a l", "ln -sfn b l", [("modify", "l")], id="link-elsewhere"),
        pytest.param("mkdir d; ln -s /etc d/l", "rm -r d; ln -s /etc d", [("type", "d")], id="folder-to-link"),
        pytest.param(
            "mkdir d; echo a > d/f",
            "rm -r d; mkdir d; echo b > d/g",
            [("delete", "d", "whole"), ("create", "d", "whole")],
            id="folder-made-anew",
        ),
        pytest.param("", "echo a > f; ln f g", [("create", "f"), ("create", "g", "link to f")], id="two-new-names"),
        pytest.param("echo a > f", "ln f g", [("create", "g", "link to f")], id="another-name"),
        pytest.param("", "mkdir d; echo a > d/f; ln d/f d/g", [("create", "d", "whole")], id="names-in-a-new-folder"),
        pytest.param(
            "echo a > f; echo b > g", "ln -f f g; ln -s x z", [("create", "z"), ("modify", "g", "link to f")], id="name-taken"
        ),
        pytest.param(
            "echo a > f",
            "mkdir d; ln f d/g",
            [("create", "d"), ("create", "d/g", "link to f")],
            id="another-name-in-a-new-folder",
        ),
        pytest.param(
            "", r"""printf x > $'a\nb'; printf x > $'\xff'; printf x > 'a,b:c\d"'"'" """,
            [("create", "a\nb"), ("create", "a,b:c\\d\"'"), ("create", "\udcff")], id="names",
        ),
    ],
)  # fmt: skip
def test_steps(world: OverlayWorld, before: str, command: str, steps: list[tuple[str, ...]]) -> None:
    assert words(world, read(world, before, command)) == steps


def test_a_file_replaced_by_its_equal_is_not_changed(world: OverlayWorld) -> None:
    """An ordinary user's overlay may take it for one that the kernel copied: then the folder's own time is all that is told."""
    found = words(world, read(world, "echo a > f", "cp -p f g; mv g f"))
    assert found == [] or (world.user and found == [("meta", "")])


@pytest.mark.parametrize(
    ("before", "command", "steps"),
    [
        pytest.param("mkdir c; echo a > c/f", "mv c d", [("rename", "d", "from c", "whole")], id="folder"),
        pytest.param("echo a > f", "mv f g", [("rename", "g", "from f")], id="file"),
        pytest.param(
            "echo a > f", "mv f g; echo b >> g", [("rename", "g", "from f"), ("modify", "g")], id="and-changed"
        ),
        pytest.param(
            "echo a > f; echo b > g", "mv f g", [("delete", "g"), ("rename", "g", "from f")], id="over-another"
        ),
        pytest.param("echo a > f; ln f g", "mv g h", [("rename", "h", "from g")], id="one-of-two-names"),
        pytest.param(
            "mkdir -p c/in; echo a > c/in/f",
            "mv c d; mv d/in d/out; echo b >> d/out/f",
            [("rename", "d", "from c", "whole"), ("rename", "d/out", "from d/in", "whole"), ("modify", "d/out/f")],
            id="inside-of-renamed",
        ),
        pytest.param(
            "mkdir a b; echo 1 > a/f; echo 2 > b/g",
            "mv a t; mv b a; mv t b",
            [("rename", "a", "from b", "whole"), ("rename", "b", "from .agent-shell-parked-scratch-1", "whole")],
            id="swap",
        ),
        pytest.param(
            "mkdir -p a/b; echo 1 > a/f; echo 2 > a/b/g",
            "mv a/b t; mv a t/a; mv t b",
            [("rename", "b", "from a/b", "whole"), ("rename", "b/a", "from a", "whole")],
            id="inside-out",
        ),
        pytest.param(
            "mkdir -p old/keep; echo 1 > old/keep/f; echo 2 > old/g",
            "mv old/keep .; rm -r old",
            [("rename", "keep", "from old/keep", "whole"), ("delete", "old", "whole")],
            id="out-of-a-removed-folder",
        ),
        pytest.param(
            "mkdir c; echo a > c/f",
            "mkdir -p new/deep; mv c new/deep/c; echo b > new/g",
            [
                ("create", "new"),
                ("create", "new/deep"),
                ("rename", "new/deep/c", "from c", "whole"),
                ("create", "new/g"),
            ],
            id="into-a-new-folder",
        ),
        pytest.param(
            "mkdir a b; echo 1 > a/f; echo 2 > b/g",
            "rm -r b; mv a b",
            [("delete", "b", "whole"), ("rename", "b", "from a", "whole")],
            id="over-a-whiteout",
        ),
        pytest.param("echo a > f; ln f g", "echo b >> g", [("modify", "g", "in_place")], id="written-through"),
        pytest.param("echo a > f; ln f g", "sed -i s/a/b/ g", [("modify", "g")], id="one-name-replaced"),
        pytest.param("echo a > f; ln f g", "cp g h; mv h g", [("modify", "g")], id="one-name-made-apart"),
        pytest.param(
            "echo a > f; ln f g",
            "echo b >> g; rm g",
            [("modify", "g", "in_place"), ("delete", "g")],
            id="written-through-and-gone",
        ),
        pytest.param(
            "mkdir d; echo a > f; ln f d/g",
            "echo b >> d/g; rm -r d",
            [("modify", "d/g", "in_place"), ("delete", "d", "whole")],
            id="written-through-and-folder-gone",
        ),
        pytest.param(
            "echo a > f; ln f g; ln f h", "echo b >> g; echo c >> h", [("modify", "g", "in_place")], id="by-two-names"
        ),
        pytest.param(
            "echo a > f; ln f g",
            "chmod 600 g; rm g",
            [("meta", "g"), ("delete", "g")],
            id="mode-by-a-name-that-is-gone",
        ),
        pytest.param("echo a > f; ln f g", "chmod 600 g", [("meta", "g")], id="mode-of-both"),
        pytest.param("echo a > f; ln f g", "rm g", [("delete", "g")], id="one-name-less"),
    ],
)
@pytest.mark.few(10)
def test_renames_and_names_of_one_file_as_root(
    faithful: OverlayWorld, before: str, command: str, steps: list[tuple[str, ...]]
) -> None:
    assert words(faithful, read(faithful, before, command)) == steps


@pytest.mark.parametrize(
    ("command", "steps"),
    [
        ("mv c d", [("rename", "d", "from c", "whole")]),
        ("mv f g", [("rename", "g", "from f")]),
        ("mv f h", [("delete", "h"), ("rename", "h", "from f")]),
        ("cp -a c d && rm -r c", [("rename", "d", "from c", "whole")]),
        ("cp -r c d && rm -r c", [("create", "d", "whole"), ("delete", "c", "whole")]),
        (
            "mv c d; echo b > d/new",
            [("create", "d"), ("rename", "d/f", "from c/f"), ("create", "d/new"), ("delete", "c", "whole")],
        ),
        ("mv c d; echo b >> d/f", [("create", "d", "whole"), ("delete", "c", "whole")]),
        ("cp -p f g", [("create", "g")]),
        ("mv f g; echo b >> g", [("create", "g"), ("delete", "f")]),
    ],
)
def test_what_an_ordinary_user_moves_is_recognised_by_all_that_it_is(
    for_users: OverlayWorld, command: str, steps: list[tuple[str, ...]]
) -> None:
    result = read(for_users, "mkdir c; echo a > c/f; echo f > f; echo h > h; touch -d 2001-01-01 c/f f h c", command)
    assert sorted(words(for_users, result)) == sorted(steps)


@pytest.mark.few(1)
@pytest.mark.parametrize("options", [PLAIN, FOR_USERS], ids=["plain", "user"])
def test_a_file_with_several_names_is_said_not_to_be_shown_whole(options: str) -> None:
    with overlay(options) as world:
        result = read(world, "echo a > f; ln f g", "echo b >> g")
        assert words(world, result) == [("modify", "g")]
        assert len(result.remarks) == 1 and "several names" in result.remarks[0]


def test_folders_get_the_times_that_the_overlay_showed(world: OverlayWorld) -> None:
    result = read(world, "mkdir -p d/e; echo a > d/f", "echo b > d/e/g; echo c >> d/f")
    assert words(world, result, quiet=True) == [
        ("create", "d/e/g"),
        ("modify", "d/f"),
        ("meta", "d", "quiet"),
        ("meta", "d/e", "quiet"),
    ]
    image = os.stat(world.upper / "d/e").st_mtime_ns
    assert [step.after.st_mtime_ns for step in result.steps[-1:] if step.after] == [image]


def test_an_attribute_an_acl_and_a_capability_are_changes(faithful: OverlayWorld) -> None:
    acl = "b'\\2\\0\\0\\0\\1\\0\\6\\0\\xff\\xff\\xff\\xff\\4\\0\\4\\0\\xff\\xff\\xff\\xff\\40\\0\\4\\0\\xff\\xff\\xff\\xff'"
    capability = "b'\\1\\0\\0\\2\\0\\4\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0'"
    script = f"""{PYTHON} "import os
os.setxattr('a', 'user.note', b'x')
os.setxattr('b', 'system.posix_acl_default', {acl})
os.setxattr('c', 'security.capability', {capability})
os.setxattr('d', 'user.note', b'same')
" """
    before = (
        "echo 1 > a; mkdir b; echo 3 > c; echo 4 > d; python3 -c \"import os; os.setxattr('d', 'user.note', b'same')\""
    )
    assert words(faithful, read(faithful, before, script)) == [("meta", "a"), ("meta", "c"), ("meta", "b")]


def test_a_sparse_file_is_not_read_hole_by_hole(world: OverlayWorld) -> None:
    result = read(
        world,
        "truncate -s 10G big; truncate -s 10G other",
        "touch big; printf x | dd of=other bs=1 seek=5G conv=notrunc 2>&1",
    )
    assert words(world, result) == [("meta", "big"), ("modify", "other")]


def test_fifos_sockets_and_links_are_never_opened(world: OverlayWorld) -> None:
    socket = f"{PYTHON} \"import socket; socket.socket(socket.AF_UNIX).bind('s')\""
    result = read(world, "mkfifo p; ln -s p l", f"mkfifo q; touch -h l; chmod 600 p; {socket}")
    assert sorted(words(world, result)) == [("create", "q"), ("create", "s"), ("meta", "l"), ("meta", "p")]


def test_what_is_apart_does_not_count(world: OverlayWorld) -> None:
    world.new_case()
    world.prepare("mkdir -p mine d/mine; echo a > d/f")
    world.run("echo b > mine/x; echo b > d/mine/x; echo b > mine-too; chmod 700 d/mine")
    root = os.fsencode(world.lower)
    layer = _with(world, apart=(root + b"/mine", root + b"/d/mine"))
    assert words(world, read_steps([layer])) == [("create", "mine-too")]


def test_removing_a_folder_around_another_file_system_is_refused(world: OverlayWorld) -> None:
    world.new_case()
    world.prepare("mkdir -p d/mine; echo a > d/f")
    world.run("rm -r d")
    result = read_steps([_with(world, apart=(os.fsencode(world.lower) + b"/d/mine",))])
    assert "holds another file system" in result.obstacle


def test_the_root_of_a_layer_itself(world: OverlayWorld) -> None:
    assert words(world, read(world, "chmod 755 .", "chmod 700 .")) == [("meta", "")]
    assert words(world, read(world, "touch x", "touch -d 2001-01-01 .")) == [("meta", "")]
    assert words(world, read(world, "touch x", "touch y"), quiet=True) == [("create", "y"), ("meta", "", "quiet")]


def test_folders_that_even_their_owner_may_not_enter_are_read(for_users: OverlayWorld) -> None:
    result = read(
        for_users, "mkdir old; echo 1 > old/f", "mkdir new; echo 2 > new/f; chmod 0 new; echo 3 > old/g; chmod 100 old"
    )
    assert words(for_users, result) == [("create", "new", "whole"), ("create", "old/g"), ("meta", "old")]
    assert (for_users.upper / "new").stat().st_mode & 0o777 == 0
    opened = read(for_users, "mkdir old; echo 1 > old/f; chmod 500 old", "chmod 700 old; echo 2 > old/g")
    assert words(for_users, opened) == [("meta", "old"), ("create", "old/g")]


@pytest.mark.thorough
def test_too_many_files_and_too_deep_folders_are_obstacles(world: OverlayWorld) -> None:
    world.new_case()
    world.run("touch {1..30}")
    assert "more files changed" in read_steps([world.layer()], limit_files=20).obstacle
    world.new_case()
    deep = "for i in {1..300}; do mkdir d; cd d; done"
    world.run(deep)
    assert "deep" in read_steps([world.layer()]).obstacle


def test_what_is_not_compared_counts_as_modified(world: OverlayWorld) -> None:
    world.new_case()
    world.prepare("head -c 1000000 /dev/zero > f; head -c 1000000 /dev/zero > g")
    world.run("touch f g")
    result = read_steps([world.layer()], limit_bytes=600_000)
    assert words(world, result) == [("modify", "f"), ("modify", "g")]
    assert any("not compared" in remark for remark in result.remarks)
    assert words(world, read_steps([world.layer()])) == [("meta", "f"), ("meta", "g")]


def test_several_layers_are_read_one_after_the_other(world: OverlayWorld) -> None:
    first = read(world, "echo a > f", "echo b > f")
    layer = world.layer()
    world.new_case()
    world.run("echo c > g")
    result = read_steps([layer, world.layer()])
    assert [(step.layer, os.path.basename(step.path)) for step in result.steps if not step.quiet] == [
        (0, b"f"),
        (1, b"g"),
    ]
    assert untouched(first.steps) == untouched(result.steps[: len(first.steps)])


def untouched(steps: tuple[Step, ...]) -> list[Step]:
    """The steps but for when files were last looked at, which reading them changes."""

    def but(status: os.stat_result | None) -> object:
        return status and tuple(value for index, value in enumerate(status) if index != stat.ST_ATIME)

    return [replace(step, before=but(step.before), after=but(step.after)) for step in steps]  # type: ignore[arg-type]


def _with(world: OverlayWorld, **fields: object):  # type: ignore[no-untyped-def]
    return replace(world.layer(), **fields)  # type: ignore[arg-type]
