"""What stands around a rehearsed command reports all that it has to say up to a point, and nothing behind what it could not write."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent.execution.sandbox.reports import Report, read


def test_behind_a_line_that_had_no_room_there_is_none(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path)
    report = Report(folder)
    report.say("left", names=["a"])
    own, report.fd = report.fd, os.open("/dev/full", os.O_WRONLY)
    report.say("overlaid", root="/")
    os.close(report.fd)
    report.fd = own
    report.say("ended", status=0)  # there is room again
    with pytest.raises(OSError):
        report.tell("built")
    os.close(own)
    assert [line["event"] for line in read(folder)] == ["left"]
