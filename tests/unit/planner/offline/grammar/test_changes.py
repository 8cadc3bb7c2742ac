"""What a command changes is found whatever texts were looked for first."""

from __future__ import annotations

import re

from agent.planner.offline.grammar import changes
from agent.planner.offline.recipes import load_book


def test_no_operation_is_passed_over_by_the_quick_look() -> None:
    commands = [form.command for recipe in load_book().recipes for form in recipe.forms]
    commands += [
        "mkfs.ext4 /dev/sdz1", "pip install x", "pip3 install x", "ls | xargs -n 1 git -C x rm y", "tar --delete -f a.tar b",
        "sort -u -o a a", "perl -n -i -e x a", "find . -execdir mv {} y \\;", "ln -fs a b", "sed --in-place=.bak s/a/b/ c",
        "git branch new", "git tag 'x y'", "sudo -n truncate -s 0 x", "7z a x.7z y", "curl -O http://x",
    ]  # fmt: skip
    seen: set[str] = set()
    for command in commands:
        for name, pattern in changes._OPERATIONS.items():
            if re.search(pattern.pattern, command):
                seen.add(name)
                assert any(beginning in command for beginning in changes._BEGINNINGS[name]), (name, command)
    assert seen == set(changes._OPERATIONS)


def test_every_alternative_has_its_beginning() -> None:
    for name, programs in changes._PROGRAMS.items():
        depth, alternatives = 0, [""]
        for letter in programs:
            depth += (letter == "(") - (letter == ")")
            if letter == "|" and not depth:
                alternatives.append("")
            else:
                alternatives[-1] += letter
        for one in alternatives:
            assert any(one.startswith(beginning) for beginning in changes._BEGINNINGS[name]), (name, one)
