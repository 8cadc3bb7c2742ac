"""Pre-images of direct runs (port `Checkpoints`): what a command names is copied before it runs, so that it can be taken back."""

from __future__ import annotations

import fcntl
import os
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime

from agent.execution.journal import post_image
from agent.execution.journal.before import FILE, NAME, Before, Kept, facts_below, measure, values_below
from agent.execution.journal.copying import Copier
from agent.execution.journal.direct_changes import DirectChanges
from agent.execution.journal.file_states import record_how_files_stand
from agent.execution.journal.journal_folder import Busy, JournalFolder, NoHome
from agent.execution.journal.records import Entry, Run, read_file, write_file
from agent.execution.journal.renamed_paths import is_within
from agent.execution.journal.targets import Target, is_device, targets_of
from agent.execution.overlay.folders import Folders
from agent.protocol.approvals import ApprovedCommand
from agent.protocol.decisions import RiskReport
from agent.protocol.errors import IoError
from agent.protocol.rehearsals import Conflict, UndoPlan

ALIVE = b"alive"
MOST_BYTES = 256 << 20
MOST_FILES = 20_000
_INTERRUPTED = "agent-shell ended while this ran"


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
        """What would be kept, and for what it cannot be. Looks at the files, changes nothing."""
        targets, unknown = targets_of(report, cwd)
        kept: list[str] = []
        not_kept = [Conflict(path=each.path, reason=each.reason) for each in unknown]
        files = size = 0
        with Folders() as folders:
            for target in targets:
                reason, more, bytes_more = self._judge(folders, target, targets, files, size)
                if reason:
                    not_kept.append(Conflict(path=os.fsdecode(target.path), reason=reason))
                else:
                    kept.append(os.fsdecode(target.path))
                    files, size = files + more, size + bytes_more
        return UndoPlan(kept=tuple(dict.fromkeys(kept)), size=size, not_kept=tuple(not_kept))

    def take(self, plan: UndoPlan, command: ApprovedCommand, *, cwd: str, session: str = "") -> Taken:
        """Keep it. Raises IoError where that cannot be done; then nothing is left behind."""
        wanted = {os.fsencode(path) for path in plan.kept}
        targets = [each for each in targets_of(command.report, cwd)[0] if each.path in wanted]
        if wanted - {each.path for each in targets}:  # a link in its way leads elsewhere by now, say
            raise IoError(
                "what the command would change cannot be kept: its files are not where they were a moment ago"
            )
        time = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
        run = Run(self._redact(command.command), cwd, time, session, command.command_id)
        entry: Entry | None = None
        alive = -1
        try:
            with self._journal_folder.locked():
                entry = self._journal_folder.new(run, kind="direct", phase="running")
                alive = _stay_alive(self._journal_folder, entry)
            with Folders() as folders:
                before = self._copy(entry, folders, targets)
            write_file(self._journal_folder.file(entry.undo_id, FILE), before.encode())
            self._journal_folder.write(entry)
            return Taken(self._journal_folder, entry, alive)
        except (OSError, NoHome, Busy) as error:
            if entry is not None:
                _forget(self._journal_folder, entry)
            if alive >= 0:
                os.close(alive)
            reason = (
                post_image.explain(error) if isinstance(error, OSError) else str(error) or "the journals are in use"
            )
            raise IoError(f"what the command would change cannot be kept: {reason}") from error

    def _judge(
        self, folders: Folders, target: Target, targets: list[Target], files: int, size: int
    ) -> tuple[str, int, int]:
        """Why it cannot be kept ("" if it can), and how many files and bytes it takes."""
        try:
            info = folders.lstat(target.path)
        except OSError as error:
            return post_image.explain(error), 0, 0
        if info is None:
            return "", 0, 0
        if is_device(info):
            return "it is a device", 0, 0
        if target.how == "place" and self._stays_on_device(folders, target, targets):
            return "", 1, 0
        if not os.access(target.path, os.R_OK, follow_symlinks=False) and not os.path.islink(target.path):
            return "it cannot be read", 0, 0
        found = measure(target.path, self._most_files - files, self._most_bytes - size)
        if found is None:
            return "there is more of it than is kept", 0, 0
        return "", found[0], 0 if target.how == "values" else found[1]

    def _stays_on_device(self, folders: Folders, target: Target, targets: list[Target]) -> bool:
        """Tell whether it goes to a place on the same device, so that it stays the same inode and needs no copy."""
        info = folders.lstat(target.path)
        places = [each.path for each in targets if each.how == "content"]
        if info is None or not places:
            return False
        return all(_device_for(place) == info.st_dev for place in places)

    def _copy(self, entry: Entry, folders: Folders, targets: list[Target]) -> Before:
        before = Before()
        copier = Copier()
        homes: dict[bytes, bytes] = {}
        try:
            for number, target in enumerate(sorted(targets, key=lambda each: each.path)):
                path = _first_missing(target.path)
                if any(each.slot and is_within(path, each.path) for each in before.kept):
                    continue  # it is in there
                folder = os.path.dirname(path)
                if folder not in homes:
                    homes[folder] = self._journal_folder.held_for(entry, folder)
                    before.note_folder(folders, folder)
                kept = Kept(path, facts=facts_below(folders, path))
                if kept.facts and target.how == "values":
                    kept.values = values_below(folders, path, kept.facts)
                elif kept.facts and not (target.how == "place" and self._stays_on_device(folders, target, targets)):
                    kept.slot = homes[folder] + b"/%d" % number
                    copier.copy(*folders.parent(path), *folders.parent(kept.slot))
                    copier.losses.extend(_keep_names(folders, kept))
                elif not kept.facts:
                    kept.slot = homes[folder] + b"/%d" % number  # where what is made comes when it is taken back
                else:
                    kept.values = values_below(folders, path, {b"": kept.facts[b""]})
                    kept.facts = {b"": kept.facts[b""]}
                before.kept.append(kept)
                for inner, facts in kept.facts.items():
                    if facts.is_folder and kept.slot:
                        before.note_folder(folders, path + b"/" + inner if inner else path)
        finally:
            copier.close()
        if copier.losses:
            entry.note = "not kept: " + "; ".join(copier.losses[:3])
        before.journals = list(dict.fromkeys(os.path.dirname(held) for held in homes.values()))
        return before


class Taken:
    """A pre-image that was taken (port `Checkpoint`)."""

    def __init__(self, journal_folder: JournalFolder, entry: Entry, alive: int) -> None:
        self._journal_folder = journal_folder
        self._entry = entry
        self._alive = alive

    def finish(self) -> str:
        """The run has ended: keep what it changed; the id that takes it back, "" where it changed nothing. Raises IoError."""
        try:
            with self._journal_folder.locked():
                return self._entry.undo_id if conclude(self._journal_folder, self._entry) else ""
        except (OSError, ValueError, Busy) as error:
            reason = (
                post_image.explain(error) if isinstance(error, OSError) else str(error) or "the journals are in use"
            )
            raise IoError(f"what the command changed cannot be compared: {reason}") from error
        finally:
            os.close(self._alive)

    def drop(self) -> None:
        """Nothing ran."""
        _forget(self._journal_folder, self._entry)
        os.close(self._alive)


def conclude(journal_folder: JournalFolder, entry: Entry) -> bool:
    """Make an entry of what a direct run changed; False (and no entry) where that is nothing. The lock must be held.

    Raises OSError and ValueError. Nothing is waited for to be on disk: a run that the machine's end cut short is not undone by it.
    """
    try:
        before = Before.decode(read_file(journal_folder.file(entry.undo_id, FILE)))
    except FileNotFoundError:
        _forget(journal_folder, entry)  # it ended before the command began
        return False
    with Folders() as folders:
        direct_changes = DirectChanges(before, folders)
        intent = direct_changes.intent()
        if not intent.actions:
            _forget(journal_folder, entry)
            return False
        journal_folder.write_intent(entry.undo_id, intent, durable=False)
        entry.changes = len(intent.actions)
        entry.held_bytes = journal_folder.held_bytes(intent)
        entry.state, entry.phase = "committed", ""
        entry.note = "; ".join(each for each in (entry.note, *direct_changes.notes[:3]) if each)
        record_how_files_stand(journal_folder, entry, intent, folders, done=True)
        journal_folder.write(entry)
    for name in (FILE, ALIVE):
        os.unlink(journal_folder.file(entry.undo_id, name))
    return True


def interrupted(journal_folder: JournalFolder, entry: Entry) -> str | None:
    """Bring a direct run to an end whose agent-shell is gone, in words; None while it is still there. The lock must be held."""
    try:
        fd = os.open(journal_folder.file(entry.undo_id, ALIVE), os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        fd = -1
    try:
        if fd >= 0:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                return None
        entry.note = "; ".join(each for each in (entry.note, _INTERRUPTED) if each)
        changed = conclude(journal_folder, entry)
    finally:
        if fd >= 0:
            os.close(fd)
    return _INTERRUPTED if changed else f"{_INTERRUPTED}, and nothing was changed"


def _stay_alive(journal_folder: JournalFolder, entry: Entry) -> int:
    """A lock that ends with this process."""
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    fd = os.open(journal_folder.file(entry.undo_id, ALIVE), flags, 0o600)
    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return fd


def _forget(journal_folder: JournalFolder, entry: Entry) -> None:
    try:
        journal_folder.drop(entry)
    except OSError:
        pass  # the next sweep


def _keep_names(folders: Folders, kept: Kept) -> list[str]:
    """A file with other names is kept by one more; in words, what of that cannot be kept."""
    top = kept.facts[b""]
    if not top.is_folder:
        if top.links > 1:
            fd, name = folders.parent(kept.path)
            slot_fd, slot = folders.parent(kept.slot)
            try:
                os.link(name, slot + NAME, src_dir_fd=fd, dst_dir_fd=slot_fd, follow_symlinks=False)
            except OSError as error:
                return [f"{os.fsdecode(kept.path)} as one file with its other names: {post_image.explain(error)}"]
        return []
    inside = Counter(facts.ino for facts in kept.facts.values() if not facts.is_folder)
    if any(facts.links > inside[facts.ino] for facts in kept.facts.values() if not facts.is_folder):
        return [f"files in {os.fsdecode(kept.path)} that have other names elsewhere become files of their own"]
    return []


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
