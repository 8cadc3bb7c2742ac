"""The offer to rehearse names the key that does it where it stands, and stands only where a rehearsal can tell something."""

from __future__ import annotations

from msgspec.structs import replace

from agent.frontends.confirm.heading import details, heading
from agent.policy.rehearsable import tells
from agent.protocol.decisions import Finding, Level
from agent.risk.classifier import classify
from tests.support.each import each
from tests.support.fake_terminal import request_for

LOST = "cannot be undone: which files, is only known when it runs"


def offer(command: str = "rm x", **keywords: str) -> list[str]:
    request = replace(request_for(command, "medium"), report=classify(command), rehearsal="ask", undo=LOST)
    lines = ["".join(part for _, part in line) for line in heading(request, **keywords)]
    return [line.partition(" · ")[0] for line in lines[1:]]


def test_a_terminal_that_cannot_move_the_cursor_has_no_function_keys() -> None:
    assert offer(rehearse_key="r") == ["undo only after a rehearsal (r): which files, is only known when it runs"]
    assert offer() == ["undo only after a rehearsal (F9): which files, is only known when it runs"]


@each(
    "command",
    [
        "ssh host uptime", "git push", "git pull", "kill 4321", "systemctl restart x", "less a", "psql -c 'select 1'", "psql",
        "python3 -q", "node", "vim a", "sudo nano /etc/hosts", "curl -O https://example.com/a", "curl https://example.com/a > a",
        "curl https://example.com/a.tgz | tar xz", "pip install x", "docker run -it ubuntu bash", "ssh host rm a",
    ],
)  # fmt: skip
def test_nothing_is_rehearsed_that_changes_no_files_here(command: str) -> None:
    assert not tells(classify(command))
    assert offer(command) == ([] if classify(command).level is Level.LOW else [LOST])
    request = replace(request_for(command, "medium"), report=classify(command), rehearsal="ask", undo=LOST)
    assert "rehears" not in "".join(part for line in details(request) for _, part in line)


def test_a_pager_that_was_ended_for_what_it_tried_is_not_rehearsed_either() -> None:
    tried = Finding(rule="held", level=Level.MEDIUM, reason="it tried to write ~/.lesshsQ", span=(0, 6))
    assert not tells(replace(classify("less a"), level=Level.MEDIUM, findings=(tried,)))
    assert tells(replace(classify("sort a"), level=Level.MEDIUM, findings=(tried,)))


def test_what_is_low_is_not_warned_about() -> None:
    request = replace(
        request_for("git commit -m x", "low"), rehearsal="ask", undo="cannot be undone: git keeps its history itself"
    )
    assert len(heading(request)) == 1
    request = replace(request, report=classify("git commit -m x"))
    told = "".join(part for line in details(request) for _, part in line)
    assert "undo only after a rehearsal (F9): git keeps its history itself" in told


@each(
    "command",
    [
        "rm x",
        "./unknown",
        "make",
        "sed -i s/a/b/ x; git push",
        "echo $((",
        "rsync -a a/ b/",
        "sudo rm x",
        "git commit -m x",
        "npm run build",
    ],
)
def test_what_may_change_files_can_be_rehearsed(command: str) -> None:
    assert tells(classify(command))
