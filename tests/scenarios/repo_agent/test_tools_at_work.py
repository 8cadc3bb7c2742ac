"""Every tool that looks and changes, in one cycle of the program, on a repository that mixes forms."""

from __future__ import annotations

import json

import pytest

from tests.support.work_world import (
    TASKS,
    WorkWorld,
    call,
    checked,
    finish_feature,
    function,
    reply,
    with_status,
    write,
)

SHOUTED = "--- a/shop/prices.py\n+++ b/shop/prices.py\n@@ -1,3 +1,3 @@\n # prices\n-RATE = 1\n+RATE = 2\n END = 0\n"
MOVED = {"from_path": "old/reading.py", "to_path": "shop/reading.py"}


@pytest.mark.thorough
@pytest.mark.covers("S2-4", "S2-22")
def test_what_each_says_reaches_the_model_and_what_each_does_the_review(project: WorkWorld) -> None:
    project.put(
        {"old/reading.py": function("read", "float(value)"), "build/out.txt": "needle\n", ".env": "KEY=needle\n"}
    )
    (project.repo / ".gitignore").write_text("__pycache__/\nbuild/\n.env\n")
    (project.repo / "shop/prices.py").write_bytes(b"# prices\r\nRATE = 1\r\nEND = 0\r\n")
    (project.repo / "shop/names.txt").write_bytes("\ufeffeins\r\n".encode("utf-16-le"))
    project.commit("what there is")
    project.git("push", "-q")
    project.says(
        reply(
            "Look",
            call("list_files", pattern="*.py"),
            call("search", pattern="RATE = [0-9]"),
            call("search", pattern="needle"),
            call("retrieve_context_files", paths=["shop/prices.py:2-2", "shop/names.txt", "../remote.git/HEAD", ".git"]),
        ),
        reply(
            "Change",
            call("rename_files", operations=[MOVED, {"from_path": "old", "to_path": "gone"}], dry_run=True),
            call("rename_files", operations=[MOVED]),
            call("apply_patch", patch=SHOUTED),
            write("shop/names.txt", "zwei\ndrei\n"),
            write("tests/test_reading.py", checked("reading", "read", "'2.5'", "2.5")),
            call("run_tests"),
            call("run_command", command="echo '# end' >> shop/reading.py", reason="a last line"),
            finish_feature(1, 1, "Read a price"),
        ),
        reply("Test again", call("run_tests"), finish_feature(1, 1, "Read a price")),
        reply(
            "The other one",
            write("shop/writing.py", function("write", "f'{value:.2f}'")),
            write("tests/test_writing.py", checked("writing", "write", "5", "'5.00'")),
            call("run_tests"),
            finish_feature(1, 2, "Write a price"),
        ),
        reply(
            "Submit",
            write("TASKS.md", with_status(TASKS, 1)),
            call("submit_for_review", task_id=1, task_title="Prices"),
            call("finish"),
        ),
    )  # fmt: skip
    ended = project.work()
    assert ended.code == 0, (ended, project.results("finish_feature"))
    assert (
        "shop/prices.py:2: RATE = 1" in project.results("search")[0]
        and project.results("search")[1] == "no line matches"
    )
    (read,) = project.results("retrieve_context_files")
    assert "RATE = 1" in read and "eins" in read and read.count("not read]") == 2
    dry, done = (json.loads(each) for each in project.results("rename_files"))
    assert dry["ok"] and done["summary"] == {"moved": 1, "skipped": 0, "errors": 0}
    assert "the tests have not passed since the last change" in project.results("finish_feature")[0], (
        "a command changed a file"
    )
    assert [json.loads(each)["passed"] for each in project.results("run_tests")] == [1, 1, 2]
    assert "no line matches" in project.told() and "RATE = [0-9]" in project.told()
    branch = "agent/task-1"
    assert project.text(branch, "shop/reading.py").endswith("# end")
    assert "old/reading.py" not in project.git("ls-tree", "-r", "--name-only", branch, at=project.bare)
    tree = project.worktree(1)
    assert (tree / "shop/prices.py").read_bytes() == b"# prices\r\nRATE = 2\r\nEND = 0\r\n"
    assert (tree / "shop/names.txt").read_bytes() == "\ufeffzwei\r\ndrei\r\n".encode("utf-16-le")
