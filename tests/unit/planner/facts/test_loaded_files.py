"""What a script loads beside it shows as the script itself does: however deep it lies, whatever the language, also where it only comes."""

from __future__ import annotations

import os
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.planner.facts.facts import risk_context
from tests.support.each import each
from tests.support.tries import tries


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def written(files: dict[str, str]) -> None:
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)


def looked_at(command: str) -> dict[str, str]:
    cwd = os.getcwd()
    return {path.removeprefix(f"{cwd}/"): told for path, told in risk_context(command, cwd).files.items()}


LOADS = [
    ("python3 x.py", {"x.py": "import helper\n"}, "helper.py"),
    ("python3 x.py", {"x.py": "def f():\n    from helper import g as h\n"}, "helper.py"),
    ("python3 x.py", {"x.py": "from lib import helper\n"}, "lib/helper.py"),
    ("python3 x.py", {"x.py": "import lib.deep.helper\n"}, "lib/deep/helper.py"),
    ("python3 x.py", {"x.py": "import lib.deep.helper\n", "lib/a": ""}, "lib/__init__.py"),
    ("python3 -m lib.x", {"lib/x.py": "from . import helper\n"}, "lib/helper.py"),
    ("python3 -m lib.x", {"lib/x.py": "from .helper import f\n"}, "lib/helper.py"),
    ("python3 -m lib.deep.x", {"lib/deep/x.py": "from ..helper import f\n"}, "lib/helper.py"),
    ("python3 -m lib", {"lib/__main__.py": "import lib.helper\n"}, "lib/helper.py"),
    ("python3 -c 'import helper'", {}, "helper.py"),
    ("cd sub && python3 x.py", {"sub/x.py": "import helper\n"}, "sub/helper.py"),
    ("python3 sub/x.py", {"sub/x.py": "import helper\n"}, "sub/helper.py"),
    ("python3 x.py", {"x.py": "import helper\n", "helper.py": ""}, "__pycache__/helper.cpython-311.pyc"),
    ("node x.js", {"x.js": "const a = require('./lib/helper')\n"}, "lib/helper.js"),
    ("node x.js", {"x.js": "const a = require('./lib')\n", "lib/a": ""}, "lib/index.js"),
    ("node x.mjs", {"x.mjs": "import a from './helper.mjs'\n"}, "helper.mjs"),
    ("node sub/x.js", {"sub/x.js": "require('../helper')\n"}, "helper.js"),
    ("ruby x.rb", {"x.rb": "require_relative 'helper'\n"}, "helper.rb"),
    ("perl x.pl", {"x.pl": "use lib 'lib';\nuse Deep::Helper;\n"}, "lib/Deep/Helper.pm"),
    ("perl x.pl", {"x.pl": "require './helper.pl';\n"}, "helper.pl"),
    ("php x.php", {"x.php": "<?php\ninclude 'helper.php';\n"}, "helper.php"),
    ("lua x.lua", {"x.lua": "dofile('helper.lua')\n"}, "helper.lua"),
    ("Rscript x.R", {"x.R": 'source("helper.R")\n'}, "helper.R"),
    ("bash x.sh", {"x.sh": "echo\n. ./helper.sh\n"}, "helper.sh"),
    ("bash sub/x.sh", {"sub/x.sh": "source sub/helper.sh\n"}, "sub/helper.sh"),
    ("./x", {"x": "#!/bin/sh\nbash helper.sh\n"}, "helper.sh"),
    ("make", {"Makefile": "include rules.mk\n"}, "rules.mk"),
    ("make", {"Makefile": "all:\n\tpython3 tools/helper.py\n"}, "tools/helper.py"),
    ("npm run x", {"package.json": '{"scripts": {"x": "node tools/helper.js"}}'}, "tools/helper.js"),
]


@pytest.mark.few(10)
@pytest.mark.parametrize(("command", "files", "loaded"), LOADS, ids=[f"{row[0]}: {row[2]}" for row in LOADS])
def test_what_is_loaded_shows(command: str, files: dict[str, str], loaded: str) -> None:
    Path(loaded).parent.mkdir(parents=True, exist_ok=True)
    written({name: text for name, text in files.items() if name != loaded})
    before = looked_at(command)
    written({loaded: "one\n"})
    there = looked_at(command)
    written({loaded: "two\n"})
    assert loaded not in before
    assert there[loaded] != looked_at(command)[loaded]


@each(
    ("text", "beside"),
    [
        ("import helper\n", "other.py"),
        ("# log notes\n", "log"),
        ("open('data.csv')\n", "data.csv"),
        ("import log\n", "log"),
    ],
)
def test_what_is_not_loaded_does_not_show(text: str, beside: str) -> None:
    written({"x.py": text, beside: "one\n"})
    assert beside not in looked_at("python3 x.py")


def test_where_a_variable_has_interpreters_look_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    written({"x.py": "import helper\n", "far/helper.py": "one\n"})
    assert "far/helper.py" not in looked_at("python3 x.py")
    monkeypatch.setenv("PYTHONPATH", str(Path("far").resolve()))
    assert "far/helper.py" in looked_at("python3 x.py")


def test_modules_that_load_each_other_end() -> None:
    written({"x.py": "import a\n", "a.py": "import b\n", "b.py": "import a, x\n"})
    assert {"x.py", "a.py", "b.py"} <= set(looked_at("python3 x.py"))


NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,11}", fullmatch=True).filter(lambda name: name not in ("x", "c", "m"))
FORMS = st.sampled_from(["import {}", "import {} as y", "  from {} import y", "import os, {}"])


@given(
    names=st.lists(NAMES, min_size=1, max_size=5, unique=True),
    forms=st.lists(FORMS, min_size=5, max_size=5),
    last=st.booleans(),
)
@settings(max_examples=tries(60), deadline=None)
def test_a_chain_of_modules_is_followed_to_its_end(names: list[str], forms: list[str], *, last: bool) -> None:
    with TemporaryDirectory() as folder, chdir(folder):
        chain = ["x", *names]
        for one, following, form in zip(chain, [*names, ""], [*forms, ""], strict=False):
            written({f"{one}.py": (form.format(following) if following else "y = 1") + "\n"})
        changed = f"{names[-1] if last else names[0]}.py"
        there = looked_at("python3 x.py")
        written({changed: Path(changed).read_text() + "#\n"})
        now = looked_at("python3 x.py")
        assert {path for path, told in now.items() if there.get(path) != told} == {changed}
