"""Keep pre-images of direct runs (port `Checkpoints`): what a command names is copied before it runs, so that it can be taken back."""

from __future__ import annotations

import fcntl
import os
import stat
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace

from agent.execution.journal import trees
from agent.execution.journal.attributes import Facts, values_at
from agent.execution.journal.copying import Copier
from agent.execution.journal.direct_changes import FILE, NAME, Before, DirectChanges, Kept
from agent.execution.journal.file_states import record_how_files_stand
from agent.execution.journal.journal_folder import Busy, JournalFolder, NoHome, OpenEntry
from agent.execution.journal.post_image import explain
from agent.execution.journal.records import Entry, now, read_file, write_file
from agent.execution.journal.targets import Target, targets_of
from agent.execution.mountinfo import is_within
from agent.execution.overlay.folders import Folders, joined
from agent.protocol.approvals import ApprovedAction
from agent.protocol.decisions import RiskReport
from agent.protocol.errors import IoError
from agent.protocol.rehearsals import Conflict, UndoPlan

ALIVE = b"alive"  # locked by a process, and so until that ends
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
MOST_BYTES = 256 << 20
MOST_FILES = 20_000
_INTERRUPTED = "agent-shell ended while this ran, or could not compare what it changed"
_MOST_TOLD = 3
_SINCE = f"{_INTERRUPTED}: what was changed since counts, too"


@dataclass(frozen=True, slots=True)
class _Measured:
    """Files, the bytes that they take on disk, and those that they hold."""

    files: int = 0
    blocks: int = 0
    size: int = 0


class PreImages:
    """Keeps what direct runs name, up to `most_bytes` and `most_files` for each run. `redact` takes secrets out of the command."""

    def __init__(
        self,
        state_dir: str,
        *,
        redact: Callable[[str], str] = str,
        most_bytes: int = MOST_BYTES,
        most_files: int = MOST_FILES,
    ) -> None:
        self._journal_folder = JournalFolder(state_dir)
        self._redact = redact
        self._most_bytes = most_bytes
        self._most_files = most_files

    def plan(self, report: RiskReport, cwd: str) -> UndoPlan:
        """Plan what would be kept, and say for what it cannot be. Looks at the files, changes nothing."""
        targets, unknown = targets_of(report, cwd)
        kept: dict[str, None] = {}
        not_kept = [Conflict(path=each.path, reason=each.reason) for each in unknown]
        so_far = _Measured()
        with Folders() as folders:
            for target in targets:
                path = os.fsdecode(target.path)
                found = self._measure(folders, target, targets, so_far)
                if isinstance(found, str):
                    not_kept.append(Conflict(path=path, reason=found))
                else:
                    kept[path] = None
                    so_far = found
        return UndoPlan(kept=tuple(kept), size=so_far.size, not_kept=tuple(not_kept))

    def take(self, plan: UndoPlan, command: ApprovedAction, *, cwd: str, session: str = "") -> Taken:
        """Keep it. Raises IoError where that cannot be done; then nothing is left behind."""
        wanted = {os.fsencode(path) for path in plan.kept}
        targets = [each for each in targets_of(command.report, cwd)[0] if each.path in wanted]
        if wanted - {each.path for each in targets}:  # a link in its way leads elsewhere by now, say
            raise IoError(
                "what the command would change cannot be kept: its files are not where they were a moment ago"
            )
        run = Entry("", now(), self._redact(command.command), cwd, kind="direct", phase="running", session=session)
        run.command_id = command.command_id
        run.note = _not_taken_back(plan.not_kept)
        entry: Entry | None = None
        alive = -1
        try:
            with _told("what the command would change cannot be kept"):
                with self._journal_folder.locked():
                    entry = self._journal_folder.new(run)
                    alive = os.open(self._journal_folder.file(entry.undo_id, ALIVE), _NEW, 0o600)
                    fcntl.flock(alive, fcntl.LOCK_EX | fcntl.LOCK_NB)
                with Folders() as folders:
                    before = self._copy(entry, folders, targets)
                write_file(self._journal_folder.file(entry.undo_id, FILE), before.encode())
                self._journal_folder.write(entry)
                return Taken(self._journal_folder, entry, alive)
        except IoError:
            if entry is not None:
                self._journal_folder.forget(entry)
            if alive >= 0:
                os.close(alive)
            raise

    def _measure(self, folders: Folders, target: Target, targets: list[Target], so_far: _Measured) -> _Measured | str:
        """Measure what keeping it takes, with what is kept already; says in words why it cannot be kept."""
        try:
            info = folders.lstat(target.path)
        except OSError as error:
            return explain(error)
        if info is None:
            return so_far
        if stat.S_ISCHR(info.st_mode) or stat.S_ISBLK(info.st_mode):
            return "it is a device"
        if _stays_on_device(target, targets, info.st_dev):
            return replace(so_far, files=so_far.files + 1)
        if not os.access(target.path, os.R_OK, follow_symlinks=False) and not os.path.islink(target.path):
            return "it cannot be read"
        files, blocks, size = so_far.files, so_far.blocks, so_far.size
        try:
            for _, found in trees.walk(*folders.parent(target.path)):
                files += 1
                if stat.S_ISREG(found.st_mode):
                    blocks, size = blocks + found.st_blocks * 512, size + found.st_size
                if files > self._most_files or blocks > self._most_bytes:
                    return "there is more of it than is kept"
        except OSError:
            return "there is more of it than is kept"
        return replace(so_far, files=files) if target.how == "values" else _Measured(files, blocks, size)

    def _copy(self, entry: Entry, folders: Folders, targets: list[Target]) -> Before:
        before = Before()
        homes: dict[bytes, bytes] = {}
        with Copier() as copier:
            for number, target in enumerate(sorted(targets, key=lambda each: each.path)):
                path = _first_missing(target.path)
                if any(_covers(each, path) for each in before.kept):
                    continue
                folder = os.path.dirname(path)
                if folder not in homes:
                    homes[folder] = self._journal_folder.held_for(entry, folder)
                    before.note_folder(folders, folder)
                kept = _kept(folders, target, targets, path=path, slot=homes[folder] + b"/%d" % number, copier=copier)
                before.kept.append(kept)
                for inner, facts in kept.facts.items():
                    if facts.is_folder and kept.slot:
                        before.note_folder(folders, joined(path, inner))
        if copier.losses:
            entry.note = "; ".join(each for each in (entry.note, f"not kept: {'; '.join(copier.losses[:3])}") if each)
        before.journals = list(dict.fromkeys(os.path.dirname(held) for held in homes.values()))
        return before


def _covers(kept: Kept, path: bytes) -> bool:
    """Tell whether what is or comes at `path` is seen by `kept`: of a folder that stays, what is new in it is not."""
    return bool(kept.slot) and is_within(path, kept.path) and (not kept.facts or os.path.lexists(path))


def _kept(folders: Folders, target: Target, targets: list[Target], *, path: bytes, slot: bytes, copier: Copier) -> Kept:
    info = folders.lstat(path)
    if info is None:
        return Kept(path, slot)  # where what is made comes when it is taken back
    if _stays_on_device(target, targets, info.st_dev):
        return Kept(path, b"", {b"": Facts.of(info)}, {b"": values_at(folders, path)})
    facts = {inner: Facts.of(each) for inner, each in trees.walk(*folders.parent(path))}
    if target.how == "values":
        return Kept(path, b"", facts, {inner: values_at(folders, joined(path, inner)) for inner in facts})
    copier.copy(*folders.parent(path), *folders.parent(slot))
    copier.losses.extend(_keep_names(folders, path, slot, facts))
    return Kept(path, slot, facts)


def _not_taken_back(unknown: tuple[Conflict, ...]) -> str:
    """Say in a note what of a run stays where it is taken back; "" for nothing."""
    reasons = dict.fromkeys(f"{each.path}: {each.reason}" if each.path else each.reason for each in unknown)
    more = f"; and {len(reasons) - _MOST_TOLD:,} more" if len(reasons) > _MOST_TOLD else ""
    return f"stays when it is taken back: {'; '.join(list(reasons)[:_MOST_TOLD])}{more}" if reasons else ""


class Taken:
    """A pre-image that was taken (port `Checkpoint`)."""

    def __init__(self, journal_folder: JournalFolder, entry: Entry, alive: int) -> None:
        self._journal_folder = journal_folder
        self._entry = entry
        self._alive = alive

    def finish(self) -> str:
        """The run has ended: keep what it changed; the id that takes it back, "" where it changed nothing. Raises IoError."""
        try:
            with _told("what the command changed cannot be compared"), self._journal_folder.locked():
                return self._entry.undo_id if conclude(self._journal_folder, self._entry) else ""
        finally:
            os.close(self._alive)

    def drop(self) -> None:
        """Nothing ran."""
        self._journal_folder.forget(self._entry)
        os.close(self._alive)


@contextmanager
def _told(failure: str) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, NoHome, Busy) as error:
        raise IoError(f"{failure}: {explain(error) or 'the journals are in use'}") from error


def conclude(journal_folder: JournalFolder, entry: Entry) -> bool:
    """Make an entry of what a direct run changed; False (and no entry) where that is nothing. The lock must be held.

    Raises OSError and ValueError. Nothing is waited for to be on disk: a run that the machine's end cut short is not undone by it.
    """
    try:
        before = Before.decode(read_file(journal_folder.file(entry.undo_id, FILE)))
    except FileNotFoundError:
        journal_folder.forget(entry)  # it ended before the command began
        return False
    with Folders() as folders:
        changes = DirectChanges(before, folders)
        turning = OpenEntry(journal_folder, entry, changes.intent(), folders)
        entry.changes = len(turning.intent.actions)
        if not entry.changes:
            journal_folder.forget(entry)
            return False
        journal_folder.write_intent(entry.undo_id, turning.intent, durable=False)
        turning.settle("committed", "; ".join(each for each in (entry.note, *changes.notes[:3]) if each))
        record_how_files_stand(turning, done=True)
        journal_folder.write(entry)
    for name in (FILE, ALIVE):
        with suppress(OSError):  # they go with the entry
            os.unlink(journal_folder.file(entry.undo_id, name))
    return True


def interrupted(journal_folder: JournalFolder, entry: Entry) -> str:
    """Bring a direct run to an end whose agent-shell is gone or could not do so, in words; "" while it runs. The lock must be held."""
    with ExitStack() as stack:
        with suppress(FileNotFoundError):
            fd = os.open(journal_folder.file(entry.undo_id, ALIVE), os.O_RDWR | os.O_CLOEXEC)
            stack.callback(os.close, fd)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                return ""
        entry.note = "; ".join(each for each in (entry.note, _SINCE) if each)
        changed = conclude(journal_folder, entry)
    return _SINCE if changed else f"{_INTERRUPTED}: nothing was changed"


def _keep_names(folders: Folders, path: bytes, slot: bytes, facts: dict[bytes, Facts]) -> list[str]:
    """A file with other names is kept by one more; in words, what of that cannot be kept."""
    shown = os.fsdecode(path)
    files = [each for each in facts.values() if not each.is_folder]
    if facts[b""].is_folder:
        inside = Counter(each.ino for each in files)
        if any(each.links > inside[each.ino] for each in files):
            return [f"files in {shown} with hard links elsewhere become separate files"]
    elif facts[b""].links > 1:
        fd, name = folders.parent(path)
        slot_fd, slot_name = folders.parent(slot)
        try:
            os.link(name, slot_name + NAME, src_dir_fd=fd, dst_dir_fd=slot_fd, follow_symlinks=False)
        except OSError as error:
            return [f"{shown} as one file with its other names: {explain(error)}"]
    return []


def _stays_on_device(target: Target, targets: list[Target], device: int) -> bool:
    """Tell whether it only goes to a place on the same device, so that it stays the same inode and needs no copy."""
    places = [each.path for each in targets if each.how == "content"]
    return target.how == "place" and bool(places) and all(_device_for(place) == device for place in places)


def _first_missing(path: bytes) -> bytes:
    """The path itself where its folder exists, else the first folder on the way that would be made."""
    while not os.path.lexists(os.path.dirname(path)):
        path = os.path.dirname(path)
    return path


def _device_for(path: bytes) -> int:
    """The device on which something at `path` would lie."""
    while not os.path.isdir(path):
        path = os.path.dirname(path)
    return os.stat(path).st_dev
