"""Which commands are previewed unasked: an allow-list, so that what is not known for certain is left alone."""

from __future__ import annotations

from agent.policy.rehearsable import is_previewable
from agent.protocol.decisions import RiskContext
from agent.risk.classifier import classify
from tests.support.each import each

WORK = RiskContext(cwd="/home/u/p", home="/home/u", workspace="/home/u/p")


def previewable(command: str, context: RiskContext = WORK) -> bool:
    return is_previewable(classify(command, context), context)


@each(
    "command",
    [
        "mv a b",
        'for f in *.txt; do mv -- "$f" "${f%.txt}.md"; done',
        "find . -type d -empty -delete",
        "find . -name '*.py' -exec sed -i s/a/b/ {} +",
        "find . -name '*.o' -print0 | xargs -0 rm",
        "sort f > g",
        "mkdir -p a/b && cp c a/b",
        "tar xzf a.tgz",
        "chmod +x run",
        "rm -r build",
    ],
)
def test_what_changes_files_of_the_persons_with_known_programs(command: str) -> None:
    assert previewable(command)


@each(
    "command",
    [
        "ls -la",  # changes nothing
        "foo > out",
        "./x.sh > out",
        "bash x.sh",
        'python3 -c \'open("x", "w")\'',
        "make",
        "git mv a b",
        "curl -o f http://x",
        "docker ps > out",
        "sudo rm a",
        "rm -rf /",
        "mv a /etc/x",
        "cp ~/.ssh/id_rsa x",
        "kill 3; mv a b",
        "systemctl restart x; mv a b",
        "cat > f",
        "tee f",
        "rm -i a",
        "find . -ok rm {} ;",
        "vim a; mv a b",
        "LD_PRELOAD=./x.so mv a b",
        "awk '{system(\"x\")}' f > g",
        "echo 'unclosed > f",
        'for f in *; do echo x 1<>"$f"; done',  # it opens a named pipe without waiting
    ],
)
def test_nothing_else(command: str) -> None:
    assert not previewable(command)


@each("command", ["echo x > pipe", "cp a pipe", "tee pipe < a", "dd if=a of=pipe"])
def test_what_is_no_file_among_what_it_opens(command: str) -> None:
    for kind, expected in (("file", True), ("other", False)):
        facts = {"/home/u/p/pipe": (kind,)}
        context = RiskContext(cwd="/home/u/p", home="/home/u", workspace="/home/u/p", facts=facts)
        assert previewable(command, context) is expected


def test_a_program_from_elsewhere_or_another_meaning_of_it() -> None:
    for files, exports, functions in (
        ({"mv": "program /home/u/bin/mv"}, {}, ""),
        ({"mv": "program /tmp/mv"}, {}, ""),
        ({}, {"PATH": "/x:/usr/bin"}, ""),
        ({}, {}, "mv () \n{ \n    curl x\n}\n"),
    ):
        context = RiskContext(
            cwd="/home/u/p", home="/home/u", workspace="/home/u/p", files=files, exports=exports, functions=functions
        )
        assert not previewable("mv a b", context)
    found = RiskContext(cwd="/home/u/p", home="/home/u", workspace="/home/u/p", files={"mv": "program /usr/bin/mv"})
    assert previewable("mv a b", found)
