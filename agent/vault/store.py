"""Keep a person's secrets under names: in the keyring of the operating system, else in a file that a passphrase encrypts.

The names stand in `vault.json` of the config folder, readable without a passphrase; values never do.
"""

from __future__ import annotations

import fcntl
import os
import re
import resource
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Literal

import msgspec
from msgspec import Struct

from agent.config.load import VAULT
from agent.config.paths import make_folder
from agent.config.private_file import replace_file
from agent.protocol.errors import ConfigError, Damaged, InvalidRequest, InvalidState, IoError, NotFound
from agent.struct_types import built
from agent.text.shown import shown_line

MIN_VALUE, MAX_VALUE = 6, 64 * 1024
"""Characters of a value. One that is shorter could not be kept out of logs without blacking out ordinary text."""
_VERSION = 1
_MAX_FILE = 64 << 20
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
# What a shell or the loader of programs heeds by itself.
_HEEDED = re.compile(
    r"(?:LD|DYLD|BASH|GLIBC|MALLOC)_\w+|PATH|HOME|PWD|IFS|ENV|SHELL|SHELLOPTS|BASHOPTS|PS4|CDPATH|TMPDIR|ZDOTDIR|FPATH|TERM|USER"
)
Place = Literal["keyring", "file"]


class _Any(Struct):
    version: int


class _Kept(Struct, forbid_unknown_fields=True):
    """`vault.json`. `sealed`: all values by their names, encrypted. `check`: a hash of the rest, which tells damage."""

    version: int
    place: Place
    names: tuple[str, ...] = ()
    sealed: bytes = b""
    check: str = ""

    def hashed(self) -> str:
        from hashlib import sha256  # loads openssl

        return sha256(msgspec.json.encode((self.place, self.names, self.sealed))).hexdigest()


class Vault:
    """`learn(name, value)` is told of each value before anybody else gets it: from then on logs and planners see a label for it.

    `cost`: of one guess of a new file's passphrase. All methods block, and raise ConfigError and IoError where what is kept cannot be used.
    """

    def __init__(self, folder: str, learn: Callable[[str, str], None], *, cost: int | None = None) -> None:
        self.path = os.path.realpath(os.path.join(folder, VAULT))
        self._tell = learn
        self._cost = cost
        self._passphrase = ""
        self._place: Place | None = None
        self._last: tuple[bytes, dict[str, str]] = (b"", {})

    def _learn(self, name: str, value: str) -> None:
        _keep_no_core()
        self._tell(name, value)

    def names(self) -> tuple[str, ...]:
        """All names, sorted. Needs no passphrase."""
        kept = self._read()
        return kept.names if kept is not None else ()

    @property
    def exists(self) -> bool:
        return self._read() is not None

    @property
    def place(self) -> Place:
        """The place in which values are kept, or would be."""
        kept = self._read()
        if kept is not None:
            return kept.place
        if self._place is None:
            from agent.vault import os_keyring

            self._place = "keyring" if os_keyring.works() else "file"
        return self._place

    @property
    def locked(self) -> bool:
        """Tell whether a passphrase has to be given first."""
        return not self._passphrase and self.place == "file"

    def unlock(self, passphrase: str) -> None:
        """Use it until the process ends; the first one of a file that is not there yet is its own. Raises WrongPassphrase."""
        kept = self._read()
        if kept is not None and kept.sealed:
            for name, value in self._opened(kept, passphrase).items():
                self._learn(name, value)
        self._passphrase = passphrase

    def get(self, name: str) -> str:
        """Raises NotFound, InvalidState where it is locked."""
        kept = self._read()
        if kept is None or name not in kept.names:
            raise _unknown(name, kept.names if kept is not None else ())
        if kept.place == "keyring":
            from agent.vault import os_keyring

            value = os_keyring.get(name)
        else:
            value = self._opened(kept, self._passphrase).get(name)
        if value is None:
            raise ConfigError(f"the value of {name} is lost", hint=f"`:vault delete {name}`, then add it again")
        self._learn(name, value)
        return value

    def put(self, name: str, value: str, *, new: bool) -> None:
        """Keep a `new` one, or another value of one. Raises InvalidRequest, NotFound, InvalidState where it is locked."""
        self.check(name, new=new)
        _check_value(value)
        self._learn(name, value)
        with self._changing() as kept:
            if kept.place == "keyring":
                from agent.vault import os_keyring

                os_keyring.put(name, value)
                self._write(_Kept(_VERSION, "keyring", tuple(sorted({*kept.names, name}))))
            else:
                values = self._opened(kept, self._passphrase) if kept.sealed else {}
                self._write_values({**values, name: value})

    def check(self, name: str, *, new: bool) -> None:
        """Raises InvalidRequest for what can be no name, or is taken; NotFound for one that is not there."""
        if not _NAME.fullmatch(name) or _HEEDED.fullmatch(name):
            raise InvalidRequest(
                f"{shown_line(name, 80)!r} cannot be the name of a secret",
                hint="letters, digits and _, as of a variable that no shell heeds by itself",
            )
        names = self.names()
        if new and name in names:
            raise InvalidRequest(f"{name} is in the vault already", hint=f"`:vault edit {name}` gives it another value")
        if not new and name not in names:
            raise _unknown(name, names)

    def delete(self, name: str) -> None:
        """Raises NotFound, InvalidState where it is locked."""
        with self._changing() as kept:
            if name not in kept.names:
                raise _unknown(name, kept.names)
            names = tuple(each for each in kept.names if each != name)
            if kept.place == "keyring":
                from agent.vault import os_keyring

                os_keyring.delete(name)
                self._write(_Kept(_VERSION, "keyring", names))
            else:
                values = self._opened(kept, self._passphrase)
                self._write_values({each: values[each] for each in names if each in values})

    def change_passphrase(self, passphrase: str) -> None:
        """Encrypt all values under another one. Raises InvalidState where it is locked, or where none is needed."""
        with self._changing() as kept:
            if kept.place != "file":
                raise InvalidState(
                    expected="a vault in a file", found="the keyring", message="a keyring needs no passphrase"
                )
            values, before = self._opened(kept, self._passphrase) if kept.sealed else {}, self._passphrase
            self._passphrase = passphrase
            try:
                self._write_values(values)
            except BaseException:
                self._passphrase = before
                raise

    def _opened(self, kept: _Kept, passphrase: str) -> dict[str, str]:
        from agent.vault.sealing import opened

        if not passphrase:
            raise InvalidState(
                expected="an open vault",
                found="one that is locked",
                message="the vault is locked",
                hint="at a terminal its passphrase is asked for",
            )
        if self._last[0] != kept.sealed or passphrase != self._passphrase:
            try:
                text = opened(kept.sealed, passphrase)
                self._last = (kept.sealed, msgspec.json.decode(text, type=dict[str, str]))
            except (Damaged, msgspec.MsgspecError) as error:
                raise self._damaged(str(error)) from None
        return self._last[1]

    def _write_values(self, values: Mapping[str, str]) -> None:
        from agent.vault.sealing import COST, sealed

        if not self._passphrase:
            raise InvalidState(expected="a passphrase", found="none", message="the vault has no passphrase yet")
        text = sealed(msgspec.json.encode(values), self._passphrase, self._cost or COST)
        self._write(_Kept(_VERSION, "file", tuple(sorted(values)), text))

    def _read(self) -> _Kept | None:
        try:
            descriptor = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
            with os.fdopen(descriptor, "rb") as file:
                if not stat.S_ISREG(os.fstat(descriptor).st_mode):  # a named pipe would hold us
                    raise self._damaged("it is not a regular file")
                text = file.read(_MAX_FILE)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise IoError(f"the vault {self.path} cannot be read: {error.strerror}") from None
        try:
            version = msgspec.json.decode(text, type=built(_Any)).version
            if version != _VERSION:
                raise ConfigError(
                    f"{self.path} was written by another version of agent-shell", hint="it is left as it is"
                )
            kept = msgspec.json.decode(text, type=built(_Kept))
        except msgspec.MsgspecError:
            raise self._damaged("it cannot be read") from None
        if kept.check != kept.hashed():
            raise self._damaged("it is not as it was written")
        return kept

    def _damaged(self, why: str) -> Damaged:
        return Damaged(
            f"the vault {self.path} is damaged: {why}",
            hint="it is left as it is: put a copy of yours in its place, or move it away to begin another",
        )

    @contextmanager
    def _changing(self) -> Iterator[_Kept]:
        """Hold what is kept, while no other process changes it."""
        folder = os.path.dirname(self.path)
        try:
            make_folder(folder)
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise IoError(f"the vault {self.path} cannot be changed: {error.strerror}") from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield self._read() or _Kept(_VERSION, self.place)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _write(self, kept: _Kept) -> None:
        kept.check = kept.hashed()
        try:
            replace_file(self.path, msgspec.json.encode(kept) + b"\n")
        except OSError as error:
            raise IoError(f"the vault {self.path} cannot be written: {error.strerror}") from None


def _keep_no_core() -> None:
    """Have this process leave no core file from now on, with values in it; 1 tells collectors of them, too."""
    _soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (1 if hard else 0, hard))


def _check_value(value: str) -> None:
    """Raises InvalidRequest for what cannot be kept, or not be kept out of logs."""
    if not MIN_VALUE <= len(value.strip()) <= MAX_VALUE or re.search("[\0\ud800-\udfff]|\\[redacted:", value):
        raise InvalidRequest(
            f"a value needs {MIN_VALUE} to {MAX_VALUE:,} characters of text without NUL",
            hint="a shorter one could not be kept out of logs",
        )


def _unknown(name: str, names: tuple[str, ...]) -> NotFound:
    there = f"there are: {', '.join(names)}" if names else "the vault is empty"
    return NotFound("secret", shown_line(name, 80), hint=f"{there}; `:vault add NAME` keeps one")
