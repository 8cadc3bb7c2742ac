"""Diffs as models write them: applied by what lines say, refused in words where that is not clear."""

from __future__ import annotations

import subprocess
from difflib import unified_diff
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.protocol.errors import InvalidRequest
from agent.repo_agent.patches import patched, patches_in
from tests.support.each import each
from tests.support.tries import tries

TEXT = "".join(f"line {n}\n" for n in range(1, 21))


def applied(text: str, hunks: str, newline: str = "\n") -> str:
    (patch,) = patches_in(f"--- a/f\n+++ b/f\n{hunks}")
    return patched(text, patch, newline)


TEXTS = st.lists(st.sampled_from(["a", "b", "", "  c", "-- d", "++ e", "@@ f", "\\ g", "x y"]), max_size=14)


@settings(max_examples=tries(400), deadline=None)
@given(TEXTS, TEXTS, st.booleans(), st.integers(0, 3))
def test_a_diff_takes_one_text_to_the_other(before: list[str], after: list[str], windows: bool, context: int) -> None:
    end = "\r\n" if windows else "\n"
    old, new = ("".join(line + end for line in lines) for lines in (before, after))
    diff = "".join(unified_diff(old.splitlines(True), new.splitlines(True), "a/f", "b/f", n=context))
    if not diff:
        return
    (patch,) = patches_in(diff)
    assert patched(old, patch, end) == new


@settings(max_examples=tries(40, 8), deadline=None)
@given(TEXTS, TEXTS, st.booleans(), st.booleans())
def test_what_git_writes_is_read_ends_of_files_too(before: list[str], after: list[str], one: bool, two: bool) -> None:
    import tempfile

    old, new = ("\n".join(lines) + ("\n" if end and lines else "") for lines, end in ((before, one), (after, two)))
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("a", old), ("b", new)):
            Path(folder, name).write_text(text)
        diff = subprocess.run(
            ("git", "diff", "--no-index", "a", "b"), cwd=folder, capture_output=True, text=True, check=False
        ).stdout
    if "@@" not in diff:
        return
    diff = diff.replace("--- a/a", "--- a/f", 1).replace("+++ b/b", "+++ b/f", 1)
    (patch,) = patches_in(diff)
    assert patched(old, patch) == new


@each(
    "hunk",
    [
        "@@ -5,3 +5,3 @@\n line 5\n-line 6\n+six\n line 7\n",
        "@@ -1,3 +1,3 @@\n line 5\n-line 6\n+six\n line 7\n",
        "@@ -5,9 +5,9 @@\n line 5\n-line 6\n+six\n line 7\n",
        "@@ -5,1 +5,1 @@\n line 5\n-line 6\n+six\n line 7\n",
        "@@ -5 +5 @@ def f():\n-line 6\n+six",
        "@@\n line 5\n-line 6\n+six\n line 7\n",
        "@@ ... @@\n line 5  \n-line 6\n+six\n line 7\n",
        "@@ -5,3 +5,3 @@\n line 5\n-line 6\n+six\n line 7\n-- \n2.39.5\n",
    ],
)
def test_numbers_are_a_hint(hunk: str) -> None:
    assert applied(TEXT, hunk) == TEXT.replace("line 6\n", "six\n")


def test_lines_that_stay_keep_their_ends_and_others_get_the_files() -> None:
    text = "a\r\nb\nc\r\n"
    assert applied(text, "@@ -1,3 +1,4 @@\n a\n b\n+new\n c\n", "\r\n") == "a\r\nb\nnew\r\nc\r\n"


def test_hunks_follow_each_other() -> None:
    hunks = "@@ -1,2 +1,3 @@\n line 1\n+new\n line 2\n@@ -19,2 +20,1 @@\n line 19\n-line 20\n"
    assert applied(TEXT, hunks) == TEXT.replace("line 2\n", "new\nline 2\n", 1).replace("line 20\n", "")


@each(
    ("text", "hunks", "said"),
    [
        ("a\nb\na\nb\n", "@@ -9,2 +9,2 @@\n a\n-b\n+c\n", "fits at lines 1, 3"),
        (TEXT, "@@ -5,2 +5,2 @@\n line 5\n-line six\n+x\n", "wants 'line six' at line 6, and the file has 'line 6'"),
        (TEXT, "@@ -20,2 +20,2 @@\n line 20\n-line 21\n+x\n", "the file ends before it"),
        (TEXT, "@@ -99,0 +99,1 @@\n+x\n", "no line 99"),
        (TEXT, "@@ -9,2 +9,2 @@\n line 9\n-line 10\n+x\n@@ -2,1 +2,1 @@\n-line 2\n+y\n", "hunk 2 of f does not fit"),
    ],
)
def test_what_does_not_fit_is_told(text: str, hunks: str, said: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        applied(text, hunks)
    assert said in caught.value.message


@pytest.mark.covers("S2-21")
@each(
    ("patch", "said"),
    [
        ("", "`--- a/PATH`"),
        ("change it", "`--- a/PATH`"),
        ("--- a/f\n+++ b/f\n", "`--- a/PATH`"),
        ("--- a/f\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n", "rename_files"),
        ("diff --git a/f b/g\nrename from f\nrename to g\n", "rename_files"),
        ("diff --git a/f b/f\nold mode 100644\nnew mode 100755\n", "chmod"),
        ("diff --git a/f b/f\nnew file mode 100755\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n", "chmod"),
        ('--- "a/\\303"\n+++ "b/\\303"\n@@ -1 +1 @@\n-a\n+b\n', "in quotes"),
        ("--- a/f\n+++ b/f\n@@ -1 +1 @@\n a\n", "changes nothing"),
        ("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n*** End\n", "belongs to no hunk"),
    ],
)
def test_what_is_no_diff_is_told(patch: str, said: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        patches_in(patch)
    assert said in caught.value.message
