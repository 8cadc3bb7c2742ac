"""A wildcard that names nothing is all of the folder, to every program that deletes; one that names something is not."""

from __future__ import annotations

from agent.protocol.decisions import Level, RiskContext
from agent.risk.classifier import classify
from tests.support.each import each

ALONE = ("*", "./*", "?*", "*.*", ".[!.]*", "[!q]*", "[a-zA-Z0-9]*", "*/", "**/*")
DELETES = (
    "rm -rf {}",
    "find {} -delete",
    "find -- {} -delete",
    "find -P -O2 -- {} -exec rm -rf {{}} +",
    "echo {} | xargs rm -rf",
    "printf '%s\\0' {} | xargs -0 rm -rf",
    "for f in {}; do rm -rf $f; done",
)


@each("form", DELETES)
def test_all_of_a_folder(form: str) -> None:
    for wildcard in ALONE:
        assert classify(form.format(wildcard)).level is Level.HIGH, wildcard
    for named in ("*.pyc", "build*", "x?y"):
        assert classify(form.format(named)).level is Level.MEDIUM, named


def test_in_a_folder_that_the_line_went_to() -> None:
    context = RiskContext(cwd="/home/u/w", home="/home/u", workspace="/home/u/w")
    assert classify("cd ./build && rm -rf */", context).level is Level.MEDIUM
    assert classify("rm -rf */", context).level is Level.HIGH


@each("test", ["-type f", "-xdev -type f", "-depth", "-name '*.log'", "-mtime +3"])
def test_find_outside_the_workspace_deletes_high_however_it_does(test: str) -> None:
    for action in ("-delete", "-exec rm -f {} +", "-exec rm {} \\;", "-print0 | xargs -0 rm -f"):
        assert classify(f"find /srv/data {test} {action}").level is Level.HIGH, action
        assert classify(f"find build {test} {action}").level is Level.MEDIUM, action
