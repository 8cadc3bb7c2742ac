"""Write a log's proof beside the chain: its head and its signatures. A fault there stops no log, but is said."""

from __future__ import annotations

from collections.abc import Callable

from agent.recording.chained_lines import Link, hash_of_record
from agent.recording.disk import REAL_DISK, Disk
from agent.recording.integrity.heads import HeadWriter
from agent.recording.naming import segment_paths

Signer = Callable[[str, str, Link, str], None]
"""`(session id, hash of the first record, link, time)`: sign that place in the chain and keep the signature. Raises CoreError, OSError."""


class LogProof:
    """Head and signatures of one log that is written. Never raises: `take_trouble` says once what went wrong."""

    def __init__(
        self, heads: str | None, session_id: str, folder: str, *, disk: Disk = REAL_DISK, signer: Signer | None = None
    ) -> None:
        self._session_id = session_id
        self._writer = HeadWriter(heads, session_id, folder, disk) if heads else None
        self._signer = signer
        self._log = ""
        self._trouble = ""

    def adopt(self, log: str, end: Link, *, trailing: bool, first: str) -> tuple[str, str]:
        """Go on with an existing log, whose first file is `first`: (which records a power cut took, what is wrong), in words."""
        self._log = log
        told: list[tuple[str, str]] = []

        def hash_at(seq: int) -> str | None:
            return hash_of_record(segment_paths(first), seq)

        self._try(lambda writer: told.append(writer.adopt(log, end, trailing=trailing, hash_at=hash_at)))
        return told[0] if told else ("", "")

    def before(self, link: Link) -> None:
        """That record is about to be written."""
        if link.seq == 1:
            self._log = link.hash
            self._try(lambda writer: writer.begin(link))
        else:
            self._try(lambda writer: writer.pending(link))

    def after(self, link: Link, time: str, *, synced: bool, lasting: bool, closed: bool) -> None:
        """It is written; `synced` to the disk. `lasting`: a goal or a session ended with it, so it is signed; `closed`: the session did."""
        self._try(lambda writer: writer.keep(link, synced=synced, lasting=lasting, closed=closed))
        if self._signer is not None and lasting:
            self._sign(link, time)

    def take_trouble(self) -> str:
        """Say what went wrong, in words, once."""
        trouble, self._trouble = self._trouble, ""
        return trouble

    def close(self) -> None:
        """Never raises."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _try(self, what: Callable[[HeadWriter], None]) -> None:
        if self._writer is None:
            return
        try:
            what(self._writer)
        except OSError as error:
            self.close()
            self._trouble = f"the head of this log cannot be kept ({error.strerror or error}): it will not verify"

    def _sign(self, link: Link, time: str) -> None:
        from agent.protocol.errors import CoreError

        assert self._signer is not None
        try:
            self._signer(self._session_id, self._log, link, time)
        except (CoreError, OSError, ValueError) as error:
            self._signer = None
            reason = error.message if isinstance(error, CoreError) else str(error)
            self._trouble = f"this log cannot be signed: {reason}"
