"""What the rehearsal's filter of system calls answers, by running its program here."""

from __future__ import annotations

import errno
import socket

import pytest

from agent.execution import network_watch, system_calls
from tests.support.each import each

pytestmark = pytest.mark.skipif(
    system_calls.machine() not in system_calls.AUDIT_ARCH, reason="no filter for this processor"
)
ALLOW, ASK, REFUSE = system_calls.SECCOMP_RET_ALLOW, system_calls.SECCOMP_RET_USER_NOTIF, system_calls.SECCOMP_RET_ERRNO
I386 = 0x40000003


def answer(
    call: int, argument: int = 0, *, arch: int | None = None, network: bool = False, sockets: bool = True
) -> int:
    """Run the classic BPF program over a call."""
    data = {0: call, 4: system_calls.AUDIT_ARCH[system_calls.machine()] if arch is None else arch, 16: argument}
    code = network_watch.program(network=network, sockets=sockets)
    at = value = 0
    while True:
        operation, yes, no, constant = code[at]
        at += 1
        if operation == 0x20:
            value = data[constant]
        elif operation == 0x15:
            at += yes if value == constant else no
        elif operation == 0x35:
            at += yes if value >= constant else no
        else:
            assert operation == 0x06
            return constant


SOCKET = system_calls.number_of("socket") if system_calls.machine() in system_calls.AUDIT_ARCH else 0


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_internet_sockets_are_asked_about(family: int) -> None:
    assert answer(SOCKET, family) == ASK
    assert answer(SOCKET, family, network=True) == ALLOW


def test_local_sockets_and_routing_tables_are_free_without_the_network() -> None:
    assert answer(SOCKET, socket.AF_UNIX) == ALLOW
    assert answer(SOCKET, socket.AF_UNIX, network=True, sockets=False) == REFUSE | errno.EACCES
    assert answer(SOCKET, 16) == ALLOW


@each("family", [40, 31, 17, 38])  # VM sockets, Bluetooth, raw packets, the kernel's ciphers
def test_every_other_family_is_refused(family: int) -> None:
    assert answer(SOCKET, family) == REFUSE | errno.EAFNOSUPPORT
    assert answer(SOCKET, family, network=True) == REFUSE | errno.EAFNOSUPPORT


def test_other_calls_go_on() -> None:
    for call in (0, 1, 2, 3, 59, 221, 435):
        assert answer(call) == ALLOW


def test_ways_around_are_closed() -> None:
    assert answer(425) == REFUSE | errno.ENOSYS  # io_uring makes sockets, too
    if system_calls.machine() == "x86_64":
        assert answer(0x40000000 | SOCKET, socket.AF_INET) == REFUSE | errno.ENOSYS
        assert answer(359, arch=I386) == REFUSE | errno.ENOSYS
        assert answer(102, arch=I386) == REFUSE | errno.ENOSYS
        assert answer(4, arch=I386) == ALLOW


@pytest.mark.skipif(system_calls.machine() != "x86_64", reason="the numbers of a 32-bit program there")
def test_key_rings_and_handles_are_closed_to_32_bit_programs_too() -> None:
    for call in (286, 287, 288, 342, 357, 336, 374, 283):
        assert answer(call, arch=I386) == REFUSE | errno.EPERM


def test_a_command_line_is_cut_between_words_only() -> None:
    assert network_watch.shortened([b"curl", b"-s", b"http://example.com/"]) == b"curl -s http://example.com/"
    assert (
        network_watch.shortened([b"curl", b"x" * 100, b"secret" * 10, b"more"]) == b"curl " + b"x" * 100 + " …".encode()
    )
    assert network_watch.shortened([b""]) == b""
