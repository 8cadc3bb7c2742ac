"""Keep a process of our own code beside us as long as it is wanted: one line of orders in, one line of answer out.

It has a session of its own (Ctrl-C at the prompt is not for it), little of our environment (no keys), and ends when we do: its input
is then at an end, which it waits for.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import suppress

_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
_BOOT = "import sys; sys.path.append(sys.argv[1]); import importlib; importlib.import_module(sys.argv[2]).main()"
_KEPT = (
    "PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT", "VIRTUAL_ENV",
)  # fmt: skip
_KEPT_PREFIXES = ("CUDA_", "HIP_", "ROCR_", "GGML_", "VK_")
_MOST_ANSWER = 64 * 1024
_MOST_LAST_WORDS = 4_000
_GRACE = 1.0


class ChildService:
    """One such process; `module` has a function `main`. Not for several event loops at once."""

    def __init__(self, module: str) -> None:
        self._module = module
        self._process: asyncio.subprocess.Process | None = None
        self._drain: asyncio.Task[None] | None = None
        self._last_words = b""

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None else None

    @property
    def is_running(self) -> bool:
        """Tell whether it has not ended; asked of the system, because the event loop hears of an end only later."""
        if self._process is None or self._process.returncode is not None:
            return False
        if not hasattr(os, "waitid"):
            return True
        try:
            return os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
        except ChildProcessError:  # the event loop has heard of it
            return False

    @property
    def last_words(self) -> str:
        """The end of what it wrote to stderr: anybody's text."""
        return self._last_words.decode("utf-8", "replace")

    async def start(self, orders: bytes) -> bytes:
        """Start it, give it its orders (one line), and return its answer: b"" where it ended without one. Raises OSError.

        Who cancels this ends it.
        """
        environ = {
            name: value for name, value in os.environ.items() if name in _KEPT or name.startswith(_KEPT_PREFIXES)
        }
        self._process = process = await asyncio.create_subprocess_exec(
            sys.executable, "-P", "-c", _BOOT, _ROOT, self._module,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
            env=environ, start_new_session=True, limit=_MOST_ANSWER, cwd="/",
        )  # fmt: skip
        try:
            assert process.stdin is not None and process.stdout is not None
            self._drain = asyncio.ensure_future(self._keep_last_words())
            with suppress(ConnectionError):  # it ended already, and its last words say why
                process.stdin.write(orders + b"\n")
                await process.stdin.drain()
            try:
                return await process.stdout.readline()
            except ValueError:  # longer than any answer
                return b""
        except BaseException:
            await self.end()
            raise

    async def end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        if process.stdin is not None:
            process.stdin.close()
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            with suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), _GRACE)
        if self._drain is not None:
            await asyncio.wait((self._drain,), timeout=_GRACE)

    async def _keep_last_words(self) -> None:
        assert self._process is not None and self._process.stderr is not None
        stderr = self._process.stderr
        while piece := await stderr.read(8192):
            self._last_words = (self._last_words + piece)[-_MOST_LAST_WORDS:]
