"""What removes all that another command lists is high, and what narrows the list takes that away."""

from __future__ import annotations

from agent.protocol.decisions import Level
from agent.risk.classifier import classify
from tests.support.each import each

PAIRS = (
    ("brew list", "brew uninstall"),
    ("pip freeze", "pip uninstall -y"),
    ("pip3 list", "pip3 uninstall -y"),
    ("snap list", "snap remove"),
    ("npm ls -g", "npm rm -g"),
    ("dpkg -l", "apt-get remove -y"),
    ("gem list", "gem uninstall"),
    ("flatpak list", "flatpak uninstall"),
    ("git ls-files", "rm"),
    ("git ls-files -z", "rm -f"),
)
FORMS = (
    "{0} | xargs {1}",
    "{1} $({0})",
    "for p in $({0}); do {1} $p; done",
    "{0} | awk '{{print $1}}' | xargs -n1 {1}",
    "{0} | sort | xargs -I@ {1} @",
)
NARROWED = ("{0} | grep php | xargs {1}", "{1} $({0} | grep php)", "{0} | head -1 | xargs {1}")


@each("list_, remove", PAIRS)
def test_all_of_a_list(list_: str, remove: str) -> None:
    for form in FORMS:
        assert classify(form.format(list_, remove)).level is Level.HIGH, form
    for form in NARROWED:
        assert classify(form.format(list_, remove)).level is Level.MEDIUM, form


@each("list_", [list_ for list_, _ in PAIRS])
def test_a_list_that_is_only_looked_at(list_: str) -> None:
    for look in ("{} | wc -l", "{} | xargs echo", "for p in $({}); do echo $p; done"):
        assert classify(look.format(list_)).level is Level.LOW, look


def test_disks_that_are_listed() -> None:
    assert classify("lsblk -dpno NAME | xargs -I{} dd if=a of={}").level is Level.HIGH
    assert classify("lsblk -dpno NAME | xargs -I{} echo {}").level is Level.LOW
