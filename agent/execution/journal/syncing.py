"""Writing out ahead of the last sync: the images of a large commit go to disk while they are put in place."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator

from agent.execution.journal import syscalls


@contextlib.contextmanager
def syncing_ahead(folder_fd: int) -> Iterator[None]:
    """While the body runs, the file system of `folder_fd` is synced once by another thread, which holds no lock of Python meanwhile.

    It promises nothing: what counts is the sync that comes at the end, which has less to do then, and tells of failures.
    """
    own = os.dup(folder_fd)
    thread = threading.Thread(target=_sync, args=(own,), name="sync-ahead", daemon=True)
    try:
        thread.start()
    except RuntimeError:  # no more threads to be had
        os.close(own)
        yield
        return
    try:
        yield
    finally:
        thread.join()


def _sync(folder_fd: int) -> None:
    try:
        syscalls.sync_file_system(folder_fd)
    except OSError:
        pass  # the last sync says it
    finally:
        os.close(folder_fd)
