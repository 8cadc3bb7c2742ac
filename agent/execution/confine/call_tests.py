"""Make tests of one system call each, as pieces of a seccomp filter. Standard library only.

A piece begins and ends with the call's number loaded, so that pieces can stand in any order.
"""

from __future__ import annotations

import errno
from collections.abc import Iterable, Sequence

from agent.execution import kernel
from agent.execution.kernel import Instruction

LOAD, EQUAL, ANY_BIT, AND, AT_LEAST, RETURN = 0x20, 0x15, 0x45, 0x54, 0x35, 0x06
_NUMBER, _PROCESSOR = 0, 4  # offsets in what the kernel shows a filter; the six arguments follow from 16
_X32 = 0x40000000
ALLOW: Instruction = (RETURN, 0, 0, kernel.SECCOMP_RET_ALLOW)
ASK: Instruction = (RETURN, 0, 0, kernel.SECCOMP_RET_USER_NOTIF)
"""Whoever listens decides."""


def refuse(code: int) -> Instruction:
    return (RETURN, 0, 0, kernel.SECCOMP_RET_ERRNO | code)


def opening(other: list[Instruction] | None = None) -> list[Instruction]:
    """How every filter begins. Raises OSError (ENOSYS) where the numbers of this processor are not known.

    `other`: what answers programs for another processor, for which numbers mean other calls; without it they do not run.
    """
    arch = kernel.AUDIT_ARCH.get(kernel.machine())
    if arch is None:
        raise kernel.error(errno.ENOSYS, "seccomp")
    no = refuse(errno.ENOSYS)
    other = other or [no]
    here = [(LOAD, 0, 0, _PROCESSOR), (EQUAL, len(other), 0, arch), *other]
    return [*here, (LOAD, 0, 0, _NUMBER), (AT_LEAST, 0, 1, _X32), no]


def low(place: int) -> int:
    """Where the lower half of an argument is."""
    return 16 + 8 * place


def high(place: int) -> int:
    """Where the upper half of an argument is."""
    return low(place) + 4


def answered(names: Iterable[str], answer: Instruction) -> list[Instruction]:
    """Calls that are answered whatever their arguments."""
    calls = [call for call in map(kernel.number, names) if call is not None]
    return [line for call in calls for line in ((EQUAL, 0, 1, call), answer)]


def never(names: Iterable[str], code: int) -> list[Instruction]:
    return answered(names, refuse(code))


def with_argument(name: str, place: int, tests: Sequence[Instruction]) -> list[Instruction]:
    """`tests` on the lower half of an argument of one call."""
    call = kernel.number(name)
    if call is None:
        return []
    body = [(LOAD, 0, 0, low(place)), *tests, (LOAD, 0, 0, _NUMBER)]
    return [(EQUAL, 0, len(body), call), *body]


def flagged(name: str, place: int, flags: int, answer: Instruction) -> list[Instruction]:
    return with_argument(name, place, [(ANY_BIT, 0, 1, flags), answer])


def any_of(name: str, place: int, values: Iterable[int], answer: Instruction) -> list[Instruction]:
    return with_argument(name, place, [line for value in values for line in ((EQUAL, 0, 1, value), answer)])


def unless(name: str, place: int, value: int, answer: Instruction) -> list[Instruction]:
    return with_argument(name, place, unless_any((value,), answer))


def unless_any(values: Sequence[int], answer: Instruction) -> list[Instruction]:
    """Tests: `answer` unless what is loaded is one of these."""
    return [*((EQUAL, len(values) - place, 0, value) for place, value in enumerate(values)), answer]
