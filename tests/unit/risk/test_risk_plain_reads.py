"""What reads, goes to another branch or only counts is low, and everything near it is not."""

from __future__ import annotations

from agent.policy.rights import rights
from agent.protocol.decisions import Level, RiskContext
from agent.risk.classifier import classify
from tests.support.each import each

HERE = RiskContext(cwd="/home/u/w", home="/home/u", workspace="/home/u/w")
READS = ["git status", "git log --oneline", "git diff", "journalctl -xe", "dmesg", "systemctl status x", "ls /root", "cat /var/log/syslog",
         "crontab -l", "smartctl -a /dev/sda", "sysctl -a", "ethtool eth0", "sed -n 1,5p /var/log/x", "awk '{print $1}' f"]  # fmt: skip
MORE = ["git fetch", "git branch x", "git add f", "git gui", "journalctl --rotate", "dmesg -C", "systemctl restart x", "crontab -e",
        "smartctl -t long /dev/sda", "sysctl -w a=1", "ethtool -s eth0 speed 10", "sed -i s/a/b/ f", "less f"]  # fmt: skip


def level(command: str, **facts: tuple[str, ...]) -> Level:
    return classify(command, RiskContext(cwd=HERE.cwd, home=HERE.home, workspace=HERE.workspace, facts=facts)).level


@each("sudo", ["sudo", "sudo -n", "sudo -u root", "doas"])
@each("command", READS)
def test_reading_with_more_rights_is_reading(sudo: str, command: str) -> None:
    assert level(f"{sudo} {command}") is level(command) is Level.LOW


@each("command", MORE)
def test_what_does_more_than_read_is_not_low_with_more_rights(command: str) -> None:
    assert level(f"sudo {command}") is not Level.LOW


@each("command", ["git status", "git log", "git diff"])
def test_settings_of_the_repository_raise_reading_it_with_more_rights(command: str) -> None:
    facts = {HERE.cwd: ("runs=core.fsmonitor",)}
    context = RiskContext(cwd=HERE.cwd, home=HERE.home, workspace=HERE.workspace, facts=facts)
    assert classify(f"sudo {command}", context).level is Level.MEDIUM


@each(
    "command",
    [
        "git switch main",
        "git switch -",
        "git switch x/y",
        "git checkout main",
        "git checkout -q trunk",
        "git checkout -",
    ],
)
def test_going_to_another_branch_is_low_and_may_write_the_workspace(command: str) -> None:
    report = classify(command, HERE)
    assert report.level is Level.LOW
    held = rights(report, HERE)
    assert held is not None
    assert held.write == held.repositories == (HERE.workspace,)


@each("command", ["git checkout x", "git switch --orphan x", "git switch -m x", "git switch $x", "git checkout main f", "git switch -C x",
                  "git -C ../other switch main", "git checkout -p main", "sudo git switch main"])  # fmt: skip
def test_what_may_change_more_than_the_branch_is_medium(command: str) -> None:
    assert level(command) is Level.MEDIUM


@each("fact", ["file", "dir", "link"])
def test_a_name_that_is_a_file_too_stays_medium(fact: str) -> None:
    for name, expected in (("main", Level.MEDIUM), ("master", Level.LOW)):
        facts = {f"{HERE.cwd}/main": (fact,), f"{HERE.cwd}/master": ("missing",)}
        assert classify(f"git checkout {name}", RiskContext(cwd=HERE.cwd, facts=facts)).level is expected


@each("shows", ["env", "printenv"])
@each("between", ["", "sort | ", "grep A | cut -d= -f1 | "])
@each("last", ["wc -l", "grep -c X", "grep -q X", "wc -l > /dev/null"])
def test_an_environment_that_is_only_counted_is_not_shown(shows: str, between: str, last: str) -> None:
    assert level(f"{shows} | {between}{last}") is Level.LOW
    assert level(f"{shows} | {between}cat") is not Level.LOW
    assert level(f"{shows} | tee /dev/stderr | {between}{last}") is not Level.LOW
    assert level(f"{shows} | {between}{last}; {shows}") is not Level.LOW
