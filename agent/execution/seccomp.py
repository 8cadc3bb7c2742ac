"""Build seccomp filters from tests of one system call each, install them, and answer what they ask. Standard library only.

A piece begins and ends with the call's number loaded, so that pieces can stand in any order.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import itertools
import struct
from collections.abc import Iterable, Sequence
from contextlib import suppress

from agent.execution import system_calls
from agent.execution.system_calls import error, number, syscall

SECCOMP_SET_MODE_FILTER = 1
SECCOMP_FILTER_FLAG_NEW_LISTENER = 1 << 3
SECCOMP_RET_ERRNO = 0x00050000
SECCOMP_RET_USER_NOTIF = 0x7FC00000
SECCOMP_RET_ALLOW = 0x7FFF0000
SECCOMP_USER_NOTIF_FLAG_CONTINUE = 1

Instruction = tuple[int, int, int, int]
"""One classic BPF instruction: code, jump if true, jump if false, constant."""
INSTRUCTION_SIZE = 8

LOAD, EQUAL, ANY_BIT, AND, AT_LEAST, RETURN = 0x20, 0x15, 0x45, 0x54, 0x35, 0x06
_NUMBER, _PROCESSOR = 0, 4  # offsets in what the kernel shows a filter; the six arguments follow from 16
_X32 = 0x40000000
ALLOW: Instruction = (RETURN, 0, 0, SECCOMP_RET_ALLOW)
ASK: Instruction = (RETURN, 0, 0, SECCOMP_RET_USER_NOTIF)
"""Whoever listens decides."""


def refuse(code: int) -> Instruction:
    return (RETURN, 0, 0, SECCOMP_RET_ERRNO | code)


def opening(other: list[Instruction] | None = None) -> list[Instruction]:
    """Begin a filter. Raises OSError (ENOSYS) where the numbers of this processor are not known.

    `other`: what answers programs for another processor, for which numbers mean other calls; without it they do not run.
    """
    arch = system_calls.AUDIT_ARCH.get(system_calls.machine())
    if arch is None:
        raise error(errno.ENOSYS, "seccomp")
    no = refuse(errno.ENOSYS)
    other = other or [no]
    here = [(LOAD, 0, 0, _PROCESSOR), (EQUAL, len(other), 0, arch), *other]
    return [*here, (LOAD, 0, 0, _NUMBER), (AT_LEAST, 0, 1, _X32), no]


def low(place: int) -> int:
    """The offset of the lower half of an argument."""
    return 16 + 8 * place


def high(place: int) -> int:
    """The offset of the upper half of an argument."""
    return low(place) + 4


def answered(names: Iterable[str], answer: Instruction) -> list[Instruction]:
    """Calls that are answered whatever their arguments."""
    return one_of([call for call in map(number, names) if call is not None], answer)


def never(names: Iterable[str], code: int) -> list[Instruction]:
    return answered(names, refuse(code))


def with_argument(name: str, place: int, tests: Sequence[Instruction]) -> list[Instruction]:
    """`tests` on the lower half of an argument of one call."""
    call = number(name)
    if call is None:
        return []
    body = [(LOAD, 0, 0, low(place)), *tests, (LOAD, 0, 0, _NUMBER)]
    return [(EQUAL, 0, len(body), call), *body]


def flagged(name: str, place: int, flags: int, answer: Instruction) -> list[Instruction]:
    return with_argument(name, place, [(ANY_BIT, 0, 1, flags), answer])


def any_of(name: str, place: int, values: Iterable[int], answer: Instruction) -> list[Instruction]:
    return with_argument(name, place, one_of(tuple(values), answer))


def one_of(values: Sequence[int], answer: Instruction) -> list[Instruction]:
    """Tests: `answer` where what is loaded is one of these."""
    if not values:
        return []
    *others, last = values
    return [
        *((EQUAL, len(others) - place, 0, value) for place, value in enumerate(others)),
        (EQUAL, 0, 1, last),
        answer,
    ]


def unless(name: str, place: int, value: int, answer: Instruction) -> list[Instruction]:
    return with_argument(name, place, unless_any((value,), answer))


def unless_any(values: Sequence[int], answer: Instruction) -> list[Instruction]:
    """Tests: `answer` unless what is loaded is one of these."""
    return [*((EQUAL, len(values) - place, 0, value) for place, value in enumerate(values)), answer]


def packed(program: list[Instruction]) -> bytes:
    """A filter as the kernel takes it; made before a fork it costs the child nothing."""
    return struct.pack(f"={'HBBI' * len(program)}", *itertools.chain.from_iterable(program))


def seccomp_filter(program: list[Instruction] | bytes, flags: int = 0) -> int:
    """Install a filter; needs no_new_privs or CAP_SYS_ADMIN.

    With SECCOMP_FILTER_FLAG_NEW_LISTENER in `flags` it returns the descriptor on which the kernel asks, else 0.
    """
    code = program if isinstance(program, bytes) else packed(program)
    pointer = ctypes.cast(ctypes.c_char_p(code), ctypes.c_void_p).value
    header = struct.pack("@HP", len(code) // INSTRUCTION_SIZE, pointer)
    return syscall("seccomp", SECCOMP_SET_MODE_FILTER, flags, header)


_NOTICE = struct.Struct("=QIIiIQ6Q")
_ANSWER = struct.Struct("=QqiI")
_RECEIVE, _SEND = 0xC0502100, 0xC0182101


def notice(listener: int) -> tuple[int, int, int, list[int]]:
    """The next call that a filter asks about: its key, the thread's id, the number and the six words of the call."""
    message = bytearray(_NOTICE.size)
    fcntl.ioctl(listener, _RECEIVE, message)
    key, pid, _flags, call, _arch, _at, *words = _NOTICE.unpack(message)
    return key, pid, call, words


def answer(listener: int, key: int, value: int, flags: int = 0) -> None:
    """Let the call return this, an errno where it is negative; with SECCOMP_USER_NOTIF_FLAG_CONTINUE in `flags` the kernel does it."""
    packed_answer = _ANSWER.pack(key, max(value, 0), min(value, 0), flags)
    with suppress(OSError):  # nobody waits for it any more
        fcntl.ioctl(listener, _SEND, bytearray(packed_answer))
