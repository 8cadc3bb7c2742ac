"""Do approved changes of files: each at exactly the place that was agreed to, and whole or not at all."""

from __future__ import annotations

import os
import stat
from contextlib import suppress

from agent.execution.overlay.folders import Folders, status_at
from agent.protocol.actions import DeleteFile, RenameFile, WriteFile
from agent.protocol.approvals import ApprovedFileAction
from agent.protocol.errors import IoError

_MODE = 0o666  # the person's mask takes from it


class FilePerformer:
    """Port `Performer`: folders are opened one by one and never through a link, so a swapped one is an error."""

    def perform(self, approved: ApprovedFileAction) -> None:
        """Do it. Raises IoError, and then nothing was changed."""
        action = approved.action
        try:
            with Folders() as folders:
                match action:
                    case WriteFile(path=path, content=content):
                        _write(folders, os.fsencode(path), content.encode())
                    case RenameFile(path=path, target=target):
                        _rename(folders, os.fsencode(path), os.fsencode(target))
                    case DeleteFile(path=path):
                        _delete(folders, os.fsencode(path))
        except UnicodeEncodeError:
            raise IoError(f"cannot write {action.path}: the text is not valid Unicode") from None
        except OSError as error:
            raise IoError(f"cannot change {action.path}: {error.strerror or error}") from None


def _write(folders: Folders, path: bytes, data: bytes) -> None:
    _make_folders(folders, os.path.dirname(path))
    folder, name = folders.parent(path)
    before = status_at(folder, name)
    if before is not None and not stat.S_ISREG(before.st_mode):
        raise OSError(f"{os.fsdecode(path)} is not a regular file")
    beside = b".%s.%d.tmp" % (name[:200], os.getpid())
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(beside, flags, _MODE, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if before is not None:
                os.fchmod(file.fileno(), stat.S_IMODE(before.st_mode))
            file.write(data)
        os.replace(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        with suppress(OSError):
            os.unlink(beside, dir_fd=folder)
        raise


def _make_folders(folders: Folders, path: bytes) -> None:
    """Make the folders that are missing on the way to `path`."""
    missing = []
    while folders.lstat(path) is None and path != b"/":
        missing.append(path)
        path = os.path.dirname(path)
    for each in reversed(missing):
        folder, name = folders.parent(each)
        os.mkdir(name, dir_fd=folder)


def _rename(folders: Folders, path: bytes, target: bytes) -> None:
    (source, name), (folder, new) = folders.parent(path), folders.parent(target)
    # A second name fails where one is there already, in the same moment; renaming would replace it.
    os.link(name, new, src_dir_fd=source, dst_dir_fd=folder, follow_symlinks=False)
    os.unlink(name, dir_fd=source)


def _delete(folders: Folders, path: bytes) -> None:
    folder, name = folders.parent(path)
    os.unlink(name, dir_fd=folder)
