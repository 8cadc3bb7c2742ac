"""What a program runs by the way, from where everybody may put things: high, however the program is told; typed as such, medium."""

from __future__ import annotations

import pytest

from agent.protocol.decisions import Level
from agent.risk.classifier import classify
from agent.risk.tables.store import ways_of
from tests.support.each import each
from tests.support.risk_tables import programs_with_ways
from tests.support.tries import sampled, some

OPEN = ("/tmp/x", "/var/tmp/.c/x", "/dev/shm/x", "$TMPDIR/x")
RUNNING = frozenset(("sh", "argv", "run", "lib", "load"))
ROWS = [
    (name, option)
    for name in sorted(programs_with_ways())
    for option, kind in ways_of(name)
    if kind in RUNNING and option[:1] == "-" and option[-1] not in "=+!:@/."
]


@pytest.mark.few(2)
@sampled
def test_an_option_that_runs_its_value_is_high_for_what_others_may_have_put_there() -> None:
    assert len(ROWS) > 300
    for name, option in some(ROWS, 3):
        for place in some(list(OPEN), 2):
            command = f"{name} {option}={place}" if option[:2] == "--" else f"{name} {option} {place}"
            assert classify(command).level is Level.HIGH, command


@each("place", OPEN)
def test_an_escape_a_setting_and_a_variable_are_no_way_round(place: str) -> None:
    for command in (
        f"less '+!sh {place}' a",
        f"tar -tf a --checkpoint=1 --checkpoint-action=exec='sh {place}'",
        f"strace -o '!sh {place}' ls",
        f"sort --compress-program='sh {place}' a",
        f"vim -c '!sh {place}' a",
        f"awk 'BEGIN{{system(\"sh {place}\")}}'".replace("$TMPDIR", "/tmp"),
        f"git -c alias.x='!sh {place}' x",
        f"git config --global core.fsmonitor 'sh {place}'",
        f"rsync -e {place} a b",
        f"tool --diff-program={place} a",
        f"MANPAGER='sh {place}' man ls",
        f"set -a; PAGER='sh {place}'; man ls",
        f"systemctl --user set-environment LD_PRELOAD={place}",
        f"/lib64/ld-linux-x86-64.so.2 --preload {place} /bin/ls",
        f"hash -p {place} ls",
        f"alias ls='sh {place}'",
    ):
        assert classify(command.replace("'sh $", '"sh $').replace("x' ", "x' ")).level is Level.HIGH, command


@each("place", OPEN[:3])
@each("wrapper", ["", "timeout 5 ", "nohup ", "xargs ", "find . -exec ", "sudo "])
def test_what_is_typed_as_such_stays_medium(wrapper: str, place: str) -> None:
    end = " \\;" if wrapper.startswith("find") else ""
    for program in ("sh ", "python3 ", "awk -f ", "make -f ", ""):
        command = f"{wrapper}{program}{place}{end}"
        assert classify(command).level is Level.MEDIUM, command


def test_what_lies_there_as_data_or_settings_is_not_run() -> None:
    for command in (
        "tool --cache-dir=/tmp/x",
        "make install DESTDIR=/tmp/x",
        "mypy --config-file /tmp/x a",
        "emacs --script /tmp/x.el",
    ):
        assert classify(command).level is Level.MEDIUM, command
    for command in ("grep -f /tmp/x a", "sort -T /tmp a", "diff /tmp/a /tmp/b"):
        assert classify(command).level is Level.LOW, command


@each("place", OPEN[:3])
def test_what_is_to_start_by_itself_later(place: str) -> None:
    for command in (
        f"crontab {place}",
        f"crontab < {place}",
        f"sudo crontab -u root {place}",
        f"systemctl enable --now {place}.service",
        f"systemctl --user link {place}.service",
        f"launchctl load {place}.plist",
        f"at now < {place}",
    ):
        assert classify(command).level is Level.HIGH, command
    for command in ("crontab mycron", "systemctl enable nginx", "crontab -e"):
        assert classify(command).level is Level.MEDIUM, command


@each("later", ["crontab -", "at now", "sed 's/a/b/' | at now + 1 hour"])
def test_what_is_to_start_by_itself_is_followed_through_a_pipe(later: str) -> None:
    for place in OPEN:
        for reader in (
            f"cat {place}",
            f"sort {place}",
            f"sed 's/a/b/' {place}",
            f"tac < {place}",
            f"head -n 3 {place} | tac",
        ):
            assert classify(f"{reader} | {later}").level is Level.HIGH, (reader, place)
    for reader in ("cat jobs", "crontab -l", "sort jobs", "echo 'date' > /tmp/jobs; cat /tmp/jobs"):
        assert classify(f"{reader} | {later}").level is Level.MEDIUM, reader
