"""The parser against real bash, and against text that is made to be slow or deep."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.risk.reader.cursor import BudgetError
from agent.risk.reader.syntax import Parser
from agent.risk.reader.tree import Group, Node, Pipeline, Sequence, Simple
from tests.support.each import each
from tests.support.tries import tries

BASH = shutil.which("bash")

TEXTS = [
    "ls",
    "ls -la | wc -l",
    "a && b || c; d & e",
    "(a; b) > f",
    "{ a; b; }",
    "! a",
    "time a",
    "if a; then b; elif c; then d; else e; fi",
    "while a; do b; done < f",
    "until a; do b; done",
    "for i in a b; do c; done",
    "for i; do c; done",
    "for ((i=0; i<3; i++)); do c; done",
    "case x in a) b;; (c|d) e;; *) f; esac",
    "f() { a; }",
    "function f { a; }",
    "f() ( a )",
    "a=1 b=2 c",
    "a=(1 2 3)",
    "a+=(4)",
    "a[1]=2",
    "echo ${a:-b} ${a#b} ${a//x/y} ${!a} ${#a} ${a[@]} ${a[0]}",
    "echo $((1+2)) $(( $(a) + 1 ))",
    "echo $(a $(b)) `c`",
    'echo "a $(b "c") d"',
    "diff <(a) <(b)",
    "a > >(b)",
    "cat <<< x",
    "cat <<A\nx\nA",
    "cat <<-A\n\tx\n\tA",
    "cat <<'A' | b\n$(x)\nA\nc",
    "cat <<A <<B\n1\nA\n2\nB",
    "[[ -f x && ( a == b* || c =~ ^d ) ]]",
    "((x++))",
    "coproc a",
    "coproc N { a; }",
    "exec 3<>f",
    "a 2>&1 >f",
    ">f a b",
    "a &> f",
    "a |& b",
    "a \\\n b",
    "a # comment",
    "echo a#b '#c'",
    "select x in a b; do c; done",
    "echo {a,b}{1..3}",
    "echo $'a\\'b' $\"c\"",
    "a;",
    "a &",
    "\n\na\n\n",
    "if a\nthen\nb\nfi",
    "echo if then fi",
    "echo a\\;b",
    "x=$(cat <<E\nhi\nE\n)",
    "a() { b; }; a",
    "echo \\",
    "> f",
    "echo $",
    'echo "$"',
    "case x in esac",
    "case $a in *.c|*.h) b ;; esac",
    "{ a; } 2>/dev/null | b",
    "a | while read x; do b; done",
    "echo $(( (1+2)*3 ))",
    "echo ${a:1:2} ${a^^}",
    "a=b",
    "time -p a",
    "for i in $(a); { b; }",
    'echo "${a:-"b c"}"',
    "[ a = b ]",
    "declare -a x=(1 2)",
    "local y=$(a)",
    "echo !x",
    "echo a!b",
    # not shell
    "if",
    "if a; then b",
    "a |",
    "a &&",
    "(a",
    "a)",
    "{ a",
    "echo 'a",
    'echo "a',
    "echo $(a",
    "echo `a",
    "echo ${a",
    "for",
    "while a; do",
    "case x in a) b",
    ")",
    "&& a",
    "| a",
    "; a",
    "a ;; b",
    "a &&& b",
    "[[ a",
    "fi",
    "done",
    "}",
    "a > ",
    "f() ",
    "a=(1",
]


@pytest.mark.skipif(BASH is None, reason="needs bash")
@each("text", TEXTS)
def test_errors_are_found_where_bash_finds_them(text: str) -> None:
    parser = Parser(text)
    parser.parse()
    run = subprocess.run([BASH or "bash", "-n", "-c", text], capture_output=True, check=False)
    assert bool(parser.errors) == (run.returncode != 0), (parser.errors, run.stderr)


def names(node: Node | Sequence) -> list[str]:
    """Names of all simple commands, in order."""
    if isinstance(node, Sequence):
        return [name for _, command, _ in node.items for name in names(command)]
    if isinstance(node, Pipeline):
        return [name for command in node.commands for name in names(command)]
    if isinstance(node, Group):
        return names(node.body)
    if isinstance(node, Simple) and node.words:
        return [node.words[0].literal() or "?"]
    return []


@each(
    ("text", "expected"),
    [
        ("a && b | c; (d; { e; })", ["a", "b", "c", "d", "e"]),
        ("a &&& b", ["a", "b"]),
        ("a ) b", ["a", "b"]),
        ("a; if", ["a"]),
        ("fi; a", ["a"]),
        ("cat <<A | b\nx\nA\nc", ["cat", "b", "c"]),
        ("a # b\nc", ["a", "c"]),
        ("\\\na b", ["a"]),
    ],
)
def test_every_command_is_seen_even_around_errors(text: str, expected: list[str]) -> None:
    assert names(Parser(text).parse()) == expected


@each(
    "text",
    [
        "$(" * 5_000,
        "(" * 10_000,
        "${" * 5_000,
        "if " * 3_000,
        "`" * 9_999,
        '"$(' * 3_000,
        "cat <<A " * 100,
        "a;" * 5_000,
        "f(){ " * 3_000,
        "((" * 4_000,
        "case x in a) " * 2_000,
        "a=(" * 3_000,
        "[[ " * 3_000,
        "> " * 5_000,
        "{a," * 3_000,
    ],
)
def test_hostile_nesting_ends_in_errors_or_a_spent_budget(text: str) -> None:
    parser = Parser(text)
    try:
        parser.parse()
    except BudgetError:
        return
    assert parser.errors or not parser.errors  # an answer of either kind, and no other exception


@settings(max_examples=tries(120), deadline=None)
@given(st.text(alphabet="ab $(){}[]<>|&;\"'`\\\n#=!*?~-0123456789ifdothenseac", max_size=60))
def test_any_text_is_read(text: str) -> None:
    try:
        Parser(text).parse()
    except BudgetError:
        pass
