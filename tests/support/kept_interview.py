"""An interview in the real program, in this process: the form, a real log, and a real database."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from agent.app.composition import build_services, load
from agent.conversation.persistence import keeping
from agent.conversation.persistence.database import open_database
from agent.conversation.persistence.tables import METADATA
from agent.engine.context import RequestContext
from agent.protocol.events.interview import InterviewStepped
from agent.protocol.events.session import Warned
from agent.protocol.messages import UserInput
from agent.protocol.outcomes import RunOutcome
from agent.protocol.requests import InterviewOptions, RunOptions, RunRequest
from tests.support.fakes import FakeEmitter
from tests.support.session_world import Nobody

ANSWERS = (
    "Parcels get lost in our yard",
    "Last week we lost a pallet",
    "No, I meant the week before",
    "we use paper lists",
    "It takes hours",
)


class KeptInterview:
    """`url`: the setting `interview_database`. `again()` is another process: nothing of the first is known to it."""

    def __init__(self, base: Path, monkeypatch: pytest.MonkeyPatch, url: str = "", **settings: Any) -> None:
        self.base, self.url, self._settings = base, url, settings
        self.home = base / "home"
        for folder in (self.home, base / "work"):
            folder.mkdir(exist_ok=True)
        monkeypatch.setenv("HOME", str(self.home))
        for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "AGENT_SESSION_DIR"):
            monkeypatch.delenv(name, raising=False)
        self.emitter, self.engine = FakeEmitter(), "project-discovery"
        self.again()

    def again(self, session: str | None = None, **changes: Any) -> RequestContext:
        """Begin a session, or go on in one, as a process does that has just been started."""
        keeping.database_of.cache_clear()
        flags = {
            "session_dir": str(self.base / "logs"),
            "cwd": str(self.base / "work"),
            "planner": "offline",
            "interview_database": self.url,
            **self._settings,
            **changes,
        }
        self.services = build_services(load(flags))
        self.ctx: RequestContext = self.services.open_session("cli", session, profile="interview")
        return self.ctx

    def end(self) -> str:
        """Close the session; its id."""
        asyncio.run(self.services.engine.close(self.ctx))
        return self.ctx.session_id

    def say(self, *texts: str, accept: str = "") -> RunOutcome:
        options = RunOptions(interview=InterviewOptions(engine=self.engine, accept=accept))

        async def talk() -> RunOutcome:
            for text in texts:
                request = RunRequest(input=UserInput(text=text), options=options)
                outcome = await self.services.engine.run(self.ctx, request, self.emitter, Nobody())
            return outcome

        return asyncio.run(talk())

    @property
    def path(self) -> Path:
        """The file that is the database where no other one is named."""
        return self.home / ".local" / "state" / "agent-shell" / keeping.FILE

    def rows(self, table: sa.Table, *order: Any) -> list[Any]:
        database = open_database(self.url, str(self.path))
        try:
            with database.reading() as connection:
                return list(connection.execute(sa.select(table).order_by(*order)))
        finally:
            database.close()

    @property
    def everything(self) -> str:
        """All that is in the database, as a text."""
        return repr([[tuple(row) for row in self.rows(table)] for table in METADATA.sorted_tables])

    @property
    def warnings(self) -> list[str]:
        """What was said to the person."""
        return [each.event.text for each in self.emitter.records if isinstance(each.event, Warned)]

    @property
    def persisted(self) -> list[str]:
        """The outcome of step 18 in each turn."""
        steps = [each.event for each in self.emitter.records if isinstance(each.event, InterviewStepped)]
        return [each.outcome for each in steps if each.number == 18]
