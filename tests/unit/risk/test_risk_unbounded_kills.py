"""What ends processes without a bound is high: patterns that fit all, lists of all, whole file systems, all of a user."""

from __future__ import annotations

from agent.protocol.decisions import Level, RiskContext
from agent.risk.classifier import classify
from tests.support.each import each

HERE = RiskContext(cwd="/home/u/w", home="/home/u")


@each(
    "command",
    [
        *(f"pkill -f {pattern!r}" for pattern in (".", ".+", "[a-z]", "^.", ".*", "s", "[[:alnum:]]", "")),
        "pkill -v foo",
        "killall -u bob",
        "skill -KILL -u bob",
        "slay bob",
        "loginctl terminate-user bob",
        "fuser -km /",
        "fuser -mk ./x",
        "fuser -k /home",
        "for p in /proc/[0-9]*; do kill -9 ${p#/proc/}; done",
        "cd /proc && kill -9 [0-9]*",
        "ls /proc | grep '^[0-9]' | xargs kill -9",
        "for p in $(ls /proc); do kill $p; done",
        "find /proc -maxdepth 1 -printf '%f\\n' | xargs kill -9",
        "kill $(pgrep -u bob)",
        "kill $(pgrep .)",
        "systemctl --user kill '*'",
        "ps aux | awk '$4 > 1.0 {print $2}' | xargs kill -9",
        "ps aux | awk 'NR>1 && $3+0 < 5 {print $2}' | parallel kill",
        "ps -ef | awk '!/root/{print $2}' | xargs kill",
        "ps -ef | awk '$1 != \"bob\" {print $2}' | xargs kill",
        "lsof -t / | xargs kill",
        "kill $(lsof -t)",
        "lsof -t -u bob | parallel kill -9",
    ],
)
def test_without_a_bound(command: str) -> None:
    assert classify(command, HERE).level is Level.HIGH


@each(
    "command",
    [
        "pkill firefox",
        "pkill -f 'node server.js'",
        "pkill -f python3",
        "kill $(pidof nginx)",
        "kill $(pgrep firefox)",
        "kill $(pgrep -P 1234)",
        "ps aux | grep firefox | awk '{print $2}' | xargs kill",
        "fuser -k 8080/tcp",
        "fuser -km /mnt/usb",
        "kill 11 12 13",
        "ps aux | awk '/firefox/ && $3 > 90 {print $2}' | xargs kill",
        "ps aux | awk 'NR == 2 {print $2}' | xargs kill",
        "lsof -ti :8080 | xargs kill",
        "lsof -t /home/u/w/log | xargs kill",
        "lsof -t -c node | xargs kill",
    ],
)
def test_with_one(command: str) -> None:
    assert classify(command, HERE).level is Level.MEDIUM
