"""A change below a folder is high where it reaches into a repository, and find's conditions are read as find reads them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.planner.facts.path_facts import Watch, path_facts
from agent.protocol.decisions import RiskContext
from agent.risk.classifier import classify
from agent.risk.programs.find_expressions import Expression
from tests.support.each import each
from tests.support.tries import tries

INSIDE = ("HEAD", "index", "config", "hooks/pre-commit.sample", "refs/heads/main", "refs/tags/", "objects/3f/0c41d9")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("w")
    names = [f"{above}/{name}" for above in (".git", "q7x/.git") for name in INSIDE]
    for name in (*names, ".q7x", "q7x.q7x", "q7x/q7x.q7x", "q7x/a.pyc", "keep", "build/x.o"):
        place = top / name
        (place if name.endswith("/") else place.parent).mkdir(parents=True, exist_ok=True)
        if not name.endswith("/"):
            place.write_text("x")
    return top


NAMES = st.sampled_from(
    [".git", "*.pyc", "*", "keep", "[m-z]*", "HEAD", ".*", "?*", "*.git", "q7x", ".", "refs", "*.*"]
)
PATHS = st.sampled_from(["*/.git/*", "./.git", "./.git/*", "*/.git", "./build/*", "*", ".*", "*/q7x/*"])
TESTS = st.one_of(
    NAMES.map(lambda name: ["-name", name]),
    PATHS.map(lambda path: ["-path", path]),
    st.sampled_from(
        [
            ["-type", "f"],
            ["-type", "d"],
            ["-type", "l"],
            ["-empty"],
            ["-prune"],
            ["-true"],
            ["-false"],
            ["-mtime", "+9"],
        ]
    ),
)


def _joined(parts: st.SearchStrategy[list[str]]) -> st.SearchStrategy[list[str]]:
    pair = st.tuples(parts, st.sampled_from([[], ["-a"], ["-o"]]), parts).map(
        lambda three: [*three[0], *three[1], *three[2]]
    )
    return st.one_of(pair, parts.map(lambda one: ["!", "(", *one, ")"]), parts.map(lambda one: ["(", *one, ")"]))


EXPRESSIONS = st.tuples(
    st.sampled_from([[], ["-maxdepth", "1"], ["-mindepth", "1"], ["-mindepth", "2"]]),
    st.recursive(TESTS, _joined, max_leaves=5),
    st.sampled_from([[], ["-o"]]),
).map(lambda parts: [*parts[0], *parts[1], *parts[2]])


@settings(max_examples=tries(250), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(expression=EXPRESSIONS, deletes=st.booleans())
def test_conditions_are_read_as_find_reads_them(tree: Path, expression: list[str], deletes: bool) -> None:
    """What find reaches is never called spared, and where it reaches what no condition is about, nothing bounds it."""
    deep = ["-depth"] if deletes else []
    ran = subprocess.run(
        ["find", ".", *deep, *expression, "-print"], cwd=tree, capture_output=True, text=True, check=True
    )
    found = {os.path.normpath(line) for line in ran.stdout.splitlines()}
    action = ["-delete"] if deletes else ["-exec", "echo", "{}", "+"]
    read = Expression([*expression, *action])
    reach = read.reach(read.actions[0], informed=True)
    for name, above in ((".git", ".git"), ("*/.git", "q7x/.git")):
        reached = [path for path in found if path == above or path.startswith(f"{above}/")]
        assert not (reached and name in reach.spared), (name, reached)
    if {".q7x", "q7x.q7x", "q7x/q7x.q7x", "keep", "build/x.o"} <= found:
        assert not reach.narrowed


def rated(command: str, tree: Path) -> str:
    context = RiskContext(cwd=str(tree), home="/home/you", workspace=str(tree))
    facts = path_facts(command, context, watch=Watch(60))  # on a busy machine, 15 ms are soon over
    return classify(command, RiskContext(cwd=str(tree), home="/home/you", workspace=str(tree), facts=facts)).level.value


CONDITIONS = ["-empty", "-type d -empty", "-type f -mtime +30", "-size +0", "-name main", "-name '*'", "! -name keep", "-path './.git/*'",
    "-newer keep"]  # fmt: skip
ACTIONS = ["-delete", "-exec rm -rf {} +", "-exec sed -i s/a/b/ {} +", "-exec chmod 600 {} \\;", "-exec mv -t build {} +",
    "-print0 | xargs -0 rm -f"]  # fmt: skip
LEFT_OUT = ["-not -path '*/.git/*' -not -name .git", "-not -path '*/.git/*' -name '*.o'", "-name '*.pyc'", "-type l",
    "-name '*.pyc' -mtime +3"]  # fmt: skip


@each("action", ACTIONS)
@each("condition", CONDITIONS)
def test_a_change_that_walks_into_a_repository_is_high(condition: str, action: str, tree: Path) -> None:
    assert rated(f"find . {condition} {action}", tree) == "high"
    assert (
        rated(f"find build {condition} {action}", tree) != "high" or condition == "! -name keep"
    )  # holds no repository


@each("action", ACTIONS)
@each("condition", LEFT_OUT)
def test_what_leaves_repositories_out_is_not(condition: str, action: str, tree: Path) -> None:
    assert rated(f"find . -mtime +1 {condition} {action}", tree) == "medium"


PRUNED = r"\( -name .git -o -name .hg -o -name .svn -o -name .jj \) -prune -o"


@each("action", [action for action in ACTIONS if action != "-delete"])
def test_pruning_leaves_them_out_but_not_for_delete(action: str, tree: Path) -> None:
    assert rated(f"find . {PRUNED} -type f -mtime +3 {action}", tree) == "medium"
    assert (
        rated(f"find . -path ./.git -prune -o -type f -mtime +3 {action}", tree) == "high"
    )  # that of q7x is not left out
    assert rated(f"find . {PRUNED} -type f -mtime +3 -delete", tree) == "high"  # which looks at what is inside first


@each(
    "command",
    ["rm -rf {}", "rm -r {}", "chmod -R 755 {}", "chown -R you {}", "sudo chmod -R go-w {}", "find {} -delete"],
)
def test_all_of_a_folder_counts_with_the_repositories_in_it(command: str, tree: Path) -> None:
    assert rated(command.format("q7x"), tree) == "high"
    assert rated(command.format("build"), tree) == "medium"


@each("pattern", [".g*", ".gi?", ".[a-z]it", "./.g*", "q7x/.g*"])
def test_a_wildcard_that_matches_a_repository_names_it(pattern: str, tree: Path) -> None:
    assert rated(f"rm -rf {pattern}", tree) == rated(f"rm -rf {tree}/.git", tree) == "high"
