"""Define every error of the product, in one place.

    CoreError
    ├── InvalidRequest      the caller asked for something malformed
    │   └── WrongPassphrase  the vault is as it was
    ├── InvalidState        right request, wrong moment (`expected`, `found`)
    ├── NotFound            `what` called `name` does not exist
    ├── ConfigError         a setting or file cannot be used
    │   └── Damaged         it is not as it was written, and left so
    ├── Cancelled           somebody stopped it; success for people, 130 for scripts
    ├── PolicyDenied        policy refused
    ├── BudgetExceeded      steps, time or tokens are used up
    ├── PlannerError        empty, invalid or repeating replies
    │   └── Echoed          only the instructions again
    ├── ProviderError       the model's server: transport, status, protocol
    │   └── Unauthorized    no key, wrong key, no credit
    ├── ToolError           a tool failed for good
    ├── RecordingError      the session log cannot be written; nothing runs without it
    ├── EmitterError        an emitter failed (wraps EmitError); never ends a run
    ├── RehearsalUnavailable  a rehearsal cannot be done here, and why
    ├── RehearsalConflict   files changed since the rehearsal; nothing was committed
    ├── CommitFailed        a commit could not be finished; it was rolled back, or can be resumed
    ├── UndoConflict        files changed since the run; nothing was put back
    ├── UndoFailed          an undo could not be finished; it can be resumed
    ├── IoError             files, pipes, terminals
    └── OtherError          anything unexpected
    EmitError
    ├── ClientDisconnected
    └── WriteFailed

What nobody chose is an exception; refused, declined, non-zero and interrupted are outcomes.
"""

from __future__ import annotations

from msgspec import Struct

from agent.protocol.outcomes import ExitCode
from agent.protocol.rehearsals import Conflict, Undone


class ErrorInfo(Struct, frozen=True, kw_only=True):
    """An error as it stands in an event."""

    code: str
    message: str
    hint: str = ""
    retryable: bool = False


class CoreError(Exception):
    """Base. `message` says what happened, lower-case start; `hint` what to do next."""

    code = "error"
    http_status = 500
    exit_code = ExitCode.FAILED
    default_hint = ""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint or self.default_hint

    @property
    def is_retryable(self) -> bool:
        """Tell whether the same request may succeed later, unchanged."""
        return False

    def terminal_message(self) -> str:
        """One or two lines for a person."""
        return f"{self.message}\n  {self.hint}" if self.hint else self.message

    def info(self) -> ErrorInfo:
        return ErrorInfo(code=self.code, message=self.message, hint=self.hint, retryable=self.is_retryable)


class InvalidRequest(CoreError):
    code = "invalid_request"
    http_status = 400
    exit_code = ExitCode.USAGE


class WrongPassphrase(InvalidRequest):
    """The vault is as it was."""


class InvalidState(CoreError):
    code = "invalid_state"
    http_status = 409
    exit_code = ExitCode.USAGE

    def __init__(self, *, expected: str, found: str, hint: str = "", message: str = "") -> None:
        """`message`: where it can be said more shortly."""
        super().__init__(message or f"this needs {expected}, but found {found}", hint=hint)
        self.expected = expected
        self.found = found


class NotFound(CoreError):
    code = "not_found"
    http_status = 404
    exit_code = ExitCode.USAGE

    def __init__(self, what: str, name: str, *, hint: str = "") -> None:
        super().__init__(f"no {what} called {name!r}", hint=hint)
        self.what = what
        self.name = name


class ConfigError(CoreError):
    code = "config"
    exit_code = ExitCode.CONFIGURATION


class Damaged(ConfigError):
    """A file is not as it was written. It is left as it is."""


class Cancelled(CoreError):
    code = "cancelled"
    http_status = 499
    exit_code = ExitCode.CANCELLED

    def __init__(self, message: str = "cancelled") -> None:
        super().__init__(message)

    def terminal_message(self) -> str:
        """Nothing: whoever pressed Ctrl-C knows."""
        return ""


class PolicyDenied(CoreError):
    code = "policy_denied"
    http_status = 403
    exit_code = ExitCode.REFUSED


class BudgetExceeded(CoreError):
    code = "budget"
    http_status = 429


class PlannerError(CoreError):
    code = "planner"
    http_status = 502
    exit_code = ExitCode.PLANNER


class Echoed(PlannerError):
    """A model said nothing but what it had been told, also when it was asked again."""


class ProviderError(CoreError):
    """`status` is the HTTP status, None for transport faults; `retry_after` in seconds where the server said so."""

    code = "provider"
    http_status = 502
    exit_code = ExitCode.PLANNER

    def __init__(
        self,
        provider: str,
        message: str,
        *,
        status: int | None = None,
        transport: bool = False,
        retry_after: float | None = None,
        hint: str = "",
    ) -> None:
        super().__init__(f"{provider}: {message}", hint=hint)
        self.provider = provider
        self.status = status
        self.transport = transport
        self.retry_after = retry_after

    @property
    def is_retryable(self) -> bool:
        """Transport faults, 408, 409, 429 and 5xx only."""
        if self.status is None:
            return self.transport
        return self.status in (408, 409, 429) or 500 <= self.status < 600


class Unauthorized(ProviderError):
    code = "unauthorized"
    http_status = 401

    @property
    def is_retryable(self) -> bool:
        return False


class ToolError(CoreError):
    code = "tool"

    def __init__(self, tool: str, message: str, *, hint: str = "") -> None:
        super().__init__(f"{tool}: {message}", hint=hint)
        self.tool = tool


class RecordingError(CoreError):
    code = "recording"
    default_hint = "nothing runs unrecorded; choose another --session-dir, or use --no-persist"


class RehearsalUnavailable(CoreError):
    """`lasting`: this system does not allow it, so that trying it again is of no use."""

    code = "rehearsal_unavailable"
    http_status = 501

    def __init__(self, message: str, *, hint: str = "", lasting: bool = False) -> None:
        super().__init__(message, hint=hint)
        self.lasting = lasting


class RehearsalConflict(CoreError):
    """`conflicts` names the paths and what happened to them. `resumed`: of other runs, what was brought to an end first; to be recorded."""

    code = "rehearsal_conflict"
    http_status = 409
    default_hint = "nothing was changed; rehearse it again"
    resumed: tuple[Undone, ...] = ()

    def __init__(self, message: str, *, conflicts: tuple[Conflict, ...] = ()) -> None:
        super().__init__(message)
        self.conflicts = conflicts


class CommitFailed(CoreError):
    """`resumed` as in RehearsalConflict."""

    code = "commit_failed"
    resumed: tuple[Undone, ...] = ()


class UndoConflict(CoreError):
    """`conflicts` names the paths that were changed since, and how."""

    code = "undo_conflict"
    http_status = 409

    def __init__(self, message: str, *, conflicts: tuple[Conflict, ...] = (), hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.conflicts = conflicts


class UndoFailed(CoreError):
    code = "undo_failed"


class IoError(CoreError):
    code = "io"


class OtherError(CoreError):
    code = "other"


def words_of(error: BaseException) -> str:
    """Say what went wrong in one line, whoever raised it."""
    return error.message if isinstance(error, CoreError) else f"{type(error).__name__}: {error}"


def from_info(info: ErrorInfo) -> CoreError:
    """An error of the class that `info.code` names, with its message and hint; CoreError itself for unknown codes."""
    kinds: list[type[CoreError]] = [CoreError]
    for kind in kinds:
        kinds.extend(kind.__subclasses__())
    kind = next((kind for kind in kinds if kind.code == info.code), CoreError)
    error = kind.__new__(kind)
    CoreError.__init__(error, info.message, hint=info.hint)
    return error


class EmitError(Exception):
    """An emitter could not deliver."""


class ClientDisconnected(EmitError):
    """Nobody listens any more."""


class WriteFailed(EmitError):
    """The write itself failed; the cause is chained."""


class EmitterError(CoreError):
    code = "emitter"

    def __init__(self, cause: EmitError) -> None:
        super().__init__(f"output could not be delivered: {cause or type(cause).__name__}")
        self.cause = cause
