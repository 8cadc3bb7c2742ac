"""Of files that describe a package, what they say of tests, and what they say of all else."""

from __future__ import annotations

import json

from agent.repo_agent.test_settings import said_of_tests
from tests.support.each import each

NODE = {"name": "shop", "version": "1.0.0", "scripts": {"test": "jest"}, "dependencies": {"left-pad": "^1.0.0"}}
CARGO = '[package]\nname = "shop"\nversion = "1.0.0"\n\n[dependencies]\nserde = "1"\n'
PYTHON = '[project]\nname = "shop"\ndependencies = []\n\n[tool.pytest.ini_options]\naddopts = "-q"\n'
GO = "module shop\n\ngo 1.21\n\nrequire example.org/x v1.0.0\n"


def node(**changed: object) -> str:
    return json.dumps({**NODE, **changed}, indent=4)


@each(
    ("path", "before", "now"),
    [
        ("web/package.json", node(), node(version="1.0.1", dependencies={"left-pad": "^1.0.0", "x": "~2.1 || >=3 <4"})),
        ("package.json", node(), node(description="A shop", eslintConfig={})),
        ("Cargo.toml", CARGO, CARGO.replace('"1.0.0"', '"1.0.1"') + 'rand = { version = "0.8" }\n'),
        ("pyproject.toml", PYTHON, PYTHON.replace("[]", '["httpx"]') + "\n[tool.ruff]\nline-length = 120\n"),
        ("setup.cfg", "[metadata]\nname = x\n[tool:pytest]\na = 1\n", "[metadata]\nname = y\n\n[tool:pytest]\na = 1\n"),
        (
            "go.mod",
            GO,
            GO.replace("require example.org/x v1.0.0", "require (\n\texample.org/x v1.1.0 // indirect\n\ta.b/c v1\n)"),
        ),
    ],
)
def test_dependencies_and_the_like_are_not_about_tests(path: str, before: str, now: str) -> None:
    assert said_of_tests(path, before) == said_of_tests(path, now)


@each(
    ("path", "before", "now"),
    [
        ("package.json", node(), node(scripts={"test": "true"})),
        ("package.json", node(), node(jest={"testPathIgnorePatterns": ["."]})),
        ("package.json", node(), node(devDependencies={"jest": "file:./fake"})),
        ("package.json", node(), node(devDependencies={"jest": "npm:other@1"})),
        ("package.json", node(), node() + "x"),
        ("package.json", node(), "[]"),
        ("package.json", None, node()),
        ("Cargo.toml", CARGO, CARGO + "\n[lib]\ntest = false\n"),
        ("Cargo.toml", CARGO, CARGO.replace("[dep", "autotests = false\n[dep")),
        ("Cargo.toml", CARGO, CARGO + '\n[features]\ndefault = ["quiet"]\n'),
        ("pyproject.toml", PYTHON, PYTHON.replace("-q", "-q --ignore=tests")),
        ("pyproject.toml", PYTHON, PYTHON + '\n[project.entry-points.pytest11]\nx = "fake"\n'),
        ("setup.cfg", "[tool:pytest]\na = 1\n", "[tool:pytest]\na = 2\n"),
        ("go.mod", GO, GO + "replace example.org/x => ./fake\n"),
        ("Makefile", "test:\n\tpytest\n", "test:\n\ttrue\n"),
        ("tests/conftest.py", "", "pass\n"),
    ],
)
def test_all_else_may_be(path: str, before: str | None, now: str) -> None:
    assert said_of_tests(path, before) != said_of_tests(path, now)
