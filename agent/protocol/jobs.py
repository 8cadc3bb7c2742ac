"""Background jobs as values: commands that go on after the goal that started them."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct


class Job(Struct, frozen=True, kw_only=True):
    """What a command left running, or what a person sent to the background. `started` and `ended` are UTC in ISO 8601.

    `pid` is the eldest process that is left; `exit_code` is its, None while it runs and where nobody could know; `signal`: by which it
    ended. `how`: "sent" by a key while it ran, "left" behind by a command that ended. `logged`: whether any of its output is kept;
    `log_path`: in which file, "" for none on disk. `killed`: it was ended on request; `lost`: the process that watched it is gone.
    `note`: what went wrong, in words. `session`: whose command it was. `suspended`: it stands still, and can be given the terminal again.
    """

    job_id: int
    pid: int
    command: str
    command_id: str = ""
    cwd: str = ""
    how: Literal["left", "sent"] = "left"
    started: str = ""
    ended: str = ""
    exit_code: int | None = None
    signal: int | None = None
    killed: bool = False
    logged: bool = False
    log_path: str = ""
    log_bytes: int = 0
    lost: bool = False
    note: str = ""
    session: str = ""
    suspended: bool = False

    @property
    def running(self) -> bool:
        return not self.ended
