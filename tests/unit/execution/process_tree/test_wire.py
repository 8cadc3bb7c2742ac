"""Messages and descriptors between the processes."""

from __future__ import annotations

import os
import socket
import threading

from hypothesis import given
from hypothesis import strategies as st

from agent.execution.process_tree import wire

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=10,
)


@given(st.dictionaries(st.text(max_size=5), VALUES, max_size=4))
def test_any_message_makes_the_round_trip(message: wire.Message) -> None:
    one, two = socket.socketpair()
    with one, two:
        wire.send(one, message)
        assert wire.receive(two, 4) == (message, [])


def test_descriptors_travel_and_are_not_inherited() -> None:
    one, two = socket.socketpair()
    read_end, write_end = os.pipe()
    with one, two:
        wire.send(one, {"n": 1}, (write_end,))
        wire.send(one, {"n": 2})
        os.close(write_end)
        received = wire.receive(two, 4)
        assert received is not None
        message, [fd] = received
        assert message == {"n": 1}
        assert not os.get_inheritable(fd)
        os.write(fd, b"through")
        os.close(fd)
        assert os.read(read_end, 100) == b"through"
        os.close(read_end)
        assert wire.receive(two, 4) == ({"n": 2}, [])


def test_a_large_message_comes_whole_with_its_descriptor() -> None:
    one, two = socket.socketpair()
    message = {"env": "x" * 3_000_000}
    with one, two, open(os.devnull) as file:
        sender = threading.Thread(target=wire.send, args=(one, message, (file.fileno(),)))
        sender.start()
        received = wire.receive(two, 4)
        sender.join()
    assert received is not None
    assert received[0] == message
    os.close(received[1][0])


def test_the_end_and_a_torn_message_are_none() -> None:
    for data in (b"", b"\0\0", b"\0\0\0\5{", b"\xff\xff\xff\xff"):
        one, two = socket.socketpair()
        with two:
            one.sendall(data)
            one.close()
            assert wire.receive(two) is None
