"""What somebody swaps between a rehearsal and its commit is never written through: nothing is done, and nothing elsewhere is touched."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.support.few import ONE_USER
from tests.support.rehearsal_bench import Bench, tree
from tests.support.tries import sampled, some

pytestmark = ONE_USER
COMMANDS = {
    "write": "echo evil > sub/f",
    "append": "echo evil >> sub/f",
    "create": "echo evil > sub/new; mkdir sub/folder",
    "delete": "rm sub/f",
    "remove": "rm -r sub",
    "rename": "mv sub/f sub/g",
    "move away": "mv sub/f other/g",
    "move in": "mv other/o sub/f",
    "mode": "chmod 777 sub/f",
    "edit in place": "sed -i s/as/was/ sub/f",
    "link": "ln sub/f sub/hard; ln -s f sub/soft",
}
SWAPS = {
    "folder by a link": "mv sub gone; ln -s ../victim sub",
    "folder by another": "mv sub gone; cp -a ../victim sub",
    "file by a link": "mv sub/f gone; ln -s ../../victim/f sub/f",
    "file by a hard link": "rm sub/f; ln ../victim/f sub/f",
    "file by a pipe": "rm sub/f; mkfifo sub/f",
    "file by a folder": "rm sub/f; mkdir sub/f",
    "folder around it": "mv ../work ../gone; ln -s victim ../work",
}


@pytest.fixture(params=["root", "user"])
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    bench = Bench(request.param)
    yield bench
    bench.remove()


def furnish(bench: Bench) -> None:
    """`work/sub/f` and `work/other/o`, and beside them `victim`, which looks the same."""
    for folder in (bench.work / "sub", bench.work / "other", bench.base / "victim", bench.base / "victim" / "sub"):
        folder.mkdir()
        (folder / "f").write_text("as it was\n")
    (bench.work / "other" / "o").write_text("other\n")
    bench.own()


@sampled
@pytest.mark.parametrize("swap", SWAPS)
def test_what_is_swapped_meanwhile_is_not_written_through(bench: Bench, swap: str) -> None:
    clear = f"cd / && rm -rf {bench.base}/gone {bench.base}/work {bench.base}/victim"
    for name, command in some(COMMANDS.items(), 3):
        subprocess.run(["sh", "-c", f"{clear} && mkdir {bench.work} {bench.base}/victim"], check=True)
        (bench.base / "victim").rmdir()
        furnish(bench)
        between = f"cd {bench.work} && {SWAPS[swap]}"
        victim = tree(bench.base / "victim")
        (said,) = bench.ask({"text": command, "between": between, "then": "commit"})
        if said.get("error") == "rehearsal_unavailable":
            pytest.skip(said["message"])
        found = tree(bench.base / "victim")
        assert _content(found) == _content(victim), name
        if "error" not in said:  # what is new in a real folder of that name is all that was shown
            assert name == "create", said
        else:
            assert said["error"] == "rehearsal_conflict", (name, said)


def _content(found: dict[str, tuple[object, ...]]) -> dict[str, tuple[object, ...]]:
    """All but the number of links, which a swap of ours changes."""
    return {path: (*facts[:3], *facts[4:]) for path, facts in found.items()}


@sampled
def test_a_folder_that_is_swapped_all_the_time_leads_nowhere(bench: Bench) -> None:
    furnish(bench)
    victim = tree(bench.base / "victim")
    swapping = (
        "import os, sys\n"
        "os.chdir(sys.argv[1]); os.symlink('../victim', 'evil')\n"
        "while True: os.rename('sub', 'real'); os.rename('evil', 'sub'); os.rename('sub', 'evil'); os.rename('real', 'sub')\n"
    )
    swapper = subprocess.Popen([sys.executable, "-c", swapping, str(bench.work)])
    try:
        runs = [
            {"text": f"echo {n} > sub/f; echo x > sub/new{n}; rm -f sub/new{n - 1}", "then": "commit"}
            for n, _ in enumerate(some(range(24), 3), 1)
        ]
        said = bench.ask(*runs)
    finally:
        swapper.kill()
        swapper.wait()
    if any(one.get("error") == "rehearsal_unavailable" for one in said):
        pytest.skip("no overlay can be had here by this user")
    # Where the link was there while it was rehearsed, that is what was shown.
    shown = [change["path"] for one in said if "error" not in one for change in one["changes"]]
    for path in set(tree(bench.base / "victim")) - set(victim):
        assert path in shown
