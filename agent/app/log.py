"""Wire the log: find the session that is meant, and open its log with what it knows of its past."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from agent.config.paths import state_dir
from agent.protocol.errors import CoreError, InvalidRequest
from agent.protocol.events.session import SessionStarted

if TYPE_CHECKING:
    from agent.config.load import Loaded
    from agent.protocol.events.session import SessionStarted
    from agent.protocol.outcomes import Origin
    from agent.protocol.ports import Clock, Recorder, Redactor
    from agent.recording.integrity.log_proof import Signer
    from agent.recording.jsonl import JsonlRecorder
    from agent.recording.left_open import LeftOpen
    from agent.recording.past import Past


class ProcessLogs:
    """The session folder of one process."""

    def __init__(self, loaded: Loaded, clock: Clock, *, is_root: bool) -> None:
        self._settings = loaded.settings
        self._state = state_dir(loaded.environ)
        self._heads = os.path.join(self._state, "heads")
        self._clock = clock
        self._is_root = is_root
        self.folder = loaded.session_dir
        """The folder that logs are in."""

    def choose(self, wanted: str, *, attended: bool, besides: str = "") -> str:
        """The id of the session that a person means; see `agent.recording.past`. Raises InvalidRequest, NotFound, IoError."""
        if not self._settings.persist:
            return wanted
        from agent.recording.past import LAST, choose_session

        if attended and wanted not in LAST and not self.is_there(wanted):
            named = self._named(wanted)
            if named:
                return named
        return choose_session(self.folder, wanted, attended=attended, besides=besides).session_id

    def _named(self, name: str) -> str:
        """The session of that name, "" for none. Raises InvalidRequest where there are several, IoError."""
        from agent.audit.queries.choosing import sessions_named

        found = sessions_named(self.folder, self._state, name)
        if len(found) > 1:
            raise InvalidRequest(
                f"{len(found):,} sessions are called {name}", hint=f"say which one: {', '.join(found[:6])}"
            )
        return found[0] if found else ""

    def is_there(self, session_id: str) -> bool:
        """Tell whether a session of exactly that id is kept. Raises IoError."""
        if not self._settings.persist:
            return False
        from agent.recording.reader import list_sessions

        return any(session.session_id == session_id for session in list_sessions(self.folder))

    def profile_of(self, session_id: str | None) -> str:
        """The profile of a session that is kept ("goals" where its log, being older, tells none), "" of any other. Raises IoError."""
        if not (session_id and self._settings.persist):
            return ""
        from agent.recording.branching import profile_in
        from agent.recording.reader import list_sessions

        kept = (session for session in list_sessions(self.folder) if session.session_id == session_id)
        return next(map(profile_in, kept), "")

    def bury(self, session_id: str) -> None:
        """Put a tombstone in the place of a session's log. Raises CoreError where it is being written, does not verify, or was an
        interview that its database does not forget.
        """
        from agent.audit.retention import Chosen, prune, survey
        from agent.conversation.persistence.forgetting import forget_interviews
        from agent.recording.reader import list_sessions

        signer = self._signer()
        for session in list_sessions(self.folder):
            if session.session_id == session_id:
                forget_interviews(self._settings.interview_database, self._state, [session.path])
                prune(Chosen(survey(session), "deleted"), self._heads, now=self._clock.now(), signer=signer)

    def left_open(self, besides: str = "") -> LeftOpen | None:
        """The session that a crash ended in the middle of a goal, None where there is none."""
        if not self._settings.persist:
            return None
        from agent.recording.left_open import left_open

        return left_open(self.folder, besides=besides)

    def left_plan(self, cwd: str, besides: str = "") -> str:
        """The session that left a plan before its end which goes on in `cwd`, "" where there is none."""
        if not self._settings.persist:
            return ""
        from agent.recording.left_open import left_plan

        return left_plan(self.folder, cwd, besides=besides)

    def first_offer(self, found: LeftOpen) -> bool:
        """Tell whether nobody was told of it yet; from now on they were."""
        from agent.recording.left_open import Offered

        return Offered(os.path.join(self._state, "offered.json")).first_time(found)

    def open(
        self,
        session_id: str | None,
        cwd: str,
        frontend: str,
        *,
        origin: Origin | None = None,
        profile: str,
        settings: Mapping[str, str],
        redactor: Redactor,
    ) -> tuple[Recorder, Past | None]:
        """The log of `session_id`, or a new one, with its past where it has one. `settings`: what counts at first. Raises CoreError."""
        from agent.version import __version__

        started = SessionStarted(
            session_id="",
            program=f"agent-shell {__version__}",
            frontend=frontend,
            cwd=cwd,
            pid=os.getpid(),
            is_root=self._is_root,
            safety_off=settings["safety"] == "off",
            origin=origin,
            profile=profile,
            settings=dict(settings),
        )
        if not self._settings.persist:
            from agent.recording.envelope import NullRecorder

            return NullRecorder(clock=self._clock, redactor=redactor, session_id=session_id, started=started), None
        recorder = self._recorder(session_id, started, redactor)
        if (session_id is None and origin is None) or recorder.path is None:
            return recorder, None
        from agent.recording.past import past_of

        try:
            return recorder, past_of(recorder.path)
        except BaseException:
            recorder.close("unreadable")
            raise

    def is_sound(self, path: str | None) -> bool:
        """Tell whether nothing but this program wrote the log and those that it was branched from. Reads all of them."""
        from agent.recording.branching import lineage_of
        from agent.recording.integrity.verify import verify_session

        try:
            return path is not None and all(
                verify_session(part.session, self._heads).sound for part in lineage_of(path).parts
            )
        except CoreError:
            return False

    def _signer(self) -> Signer | None:
        if not self._settings.sign_key:
            return None
        from agent.recording.integrity.signing import signer_with

        return signer_with(self._settings.sign_key, self._heads)

    def _recorder(self, session_id: str | None, started: SessionStarted, redactor: Redactor) -> JsonlRecorder:
        from agent.recording.jsonl import open_session

        return open_session(
            self.folder,
            clock=self._clock,
            redactor=redactor,
            session_id=session_id,
            started=started,
            heads=self._heads,
            rotate_bytes=self._settings.rotate_bytes,
            signer=self._signer(),
        )
