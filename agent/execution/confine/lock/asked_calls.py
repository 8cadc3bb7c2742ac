"""Answer what a held process asks the kernel for: do it where its rights allow that, else refuse it, or end the command.

One thread of the guardian listens; should it be gone, the kernel answers ENOSYS by itself, so nothing ever hangs and nothing slips through.
Standard library only.
"""

from __future__ import annotations

import _thread
import errno
import fcntl
import os
import select
import signal
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from agent.config.private_file import closing
from agent.execution import kernel, system_calls
from agent.execution.confine.lock.asked_changes import CHANGES, as_number
from agent.execution.confine.lock.asked_descriptors import AskedDescriptors, OwnDescriptors
from agent.execution.confine.lock.asked_files import AskedFiles
from agent.execution.confine.lock.asked_sockets import AskedSockets
from agent.execution.confine.lock.caller import CURRENT, Caller, Later, Refused
from agent.execution.confine.lock.plan import decoded

_HANDING = struct.Struct("=QIIII")
_HAND_OVER = 0x40182103
_SAME_PROCESSOR = 0x40082104  # SECCOMP_IOCTL_NOTIF_SET_FLAGS: who asks is woken where we are
_IS_VALID = 0x40082102  # SECCOMP_IOCTL_NOTIF_ID_VALID
_HAND_AND_ANSWER = 2  # SECCOMP_ADDFD_FLAG_SEND
_MOST = 20
_PAUSE = 0.01
_TURN = 0.0005  # seconds after which the guardian's other thread gives way to an answer
_INTERRUPT = signal.SIGURG  # which does nothing where nobody has asked for it
_SLOW = ("ioctl", "flock")  # which may take as long as the other end does
_ALL_SIGNALS = signal.valid_signals()
_SIGNALS = ("kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo")
_WRITES = os.O_WRONLY | os.O_CREAT | os.O_TRUNC


class _Waiting:
    """A thread that waits in a call, which a signal interrupts: only as long as it is there, for to signal one that is not is fatal."""

    def __init__(self) -> None:
        self._thread = threading.get_ident()
        self._lock = threading.Lock()
        self.over = False

    def interrupt(self) -> bool:
        with self._lock:
            if not self.over:
                signal.pthread_kill(self._thread, _INTERRUPT)
            return not self.over

    def interruptibly(self, act: Callable[[], int]) -> int:
        """For the thread itself: wait."""
        signal.pthread_sigmask(signal.SIG_UNBLOCK, (_INTERRUPT,))
        try:
            return act()
        finally:
            signal.pthread_sigmask(signal.SIG_BLOCK, (_INTERRUPT,))

    def end(self) -> None:
        with self._lock:
            self.over = True


class AskedCalls:
    """Made before the fork: `sandbox` is what a launch request says, and gets the socket on which the child sends what we listen on.

    `streams`: what the command begins with; `ended`: called once, from the thread, when it has to end. Raises KeyError, ValueError.
    """

    def __init__(self, sandbox: dict[str, Any], streams: list[int], ended: Callable[[], None]) -> None:
        plan, descriptors = decoded(sandbox), OwnDescriptors(streams)
        self._channel, theirs = socket.socketpair()
        sandbox["channel"] = self._theirs = theirs.detach()
        self._listener = -1
        self._ended = ended
        self._guardian = os.getpid()
        self.know_shell = descriptors.know_shell
        self._files = AskedFiles(plan, descriptors)
        self._sockets = AskedSockets(plan)
        self._by_number = AskedDescriptors(descriptors, self._files.may_change)
        self.refused: list[str] = []
        """Things it wanted and did not get, in words of the command."""
        self.broken = False
        """True where one of them ends it."""

    def start(self) -> None:
        """Answer as soon as the child has sent where, until nobody is under the filter any more. Only from the main thread."""
        os.close(self._theirs)
        with self._channel:
            _data, listeners, _flags, _address = socket.recv_fds(self._channel, 1, 1)
        if not listeners:
            return  # it has failed before, and says so elsewhere
        (self._listener,) = listeners
        os.set_inheritable(self._listener, False)
        self._send = partial(system_calls.answer, self._listener)
        signal.signal(_INTERRUPT, lambda *_: None)
        sys.setswitchinterval(_TURN)
        _thread.start_new_thread(self._listen, ())  # `Thread.start` would wait until it runs

    def _listen(self) -> None:
        # A signal while a descriptor is handed over would answer without one. Threads that we start have what we block.
        signal.pthread_sigmask(signal.SIG_BLOCK, _ALL_SIGNALS)
        with suppress(OSError):  # before Linux 6.6 it only takes a little longer
            fcntl.ioctl(self._listener, _SAME_PROCESSOR, 1)
        poll = select.poll()
        poll.register(self._listener, select.POLLIN)
        with closing(self._listener):  # however this ends: then nobody waits for an answer
            while all(events & select.POLLIN for _fd, events in poll.poll()):
                self._answer()

    def _answer(self) -> None:
        try:
            key, pid, number, words = system_calls.notice(self._listener)
        except OSError:
            return  # it has ended meanwhile
        name, act = _CALLS.get(number, ("", None))
        caller = Caller(pid, partial(self._waits, key))
        if name in _SLOW:
            self._beside(key, partial(self._do, key, name, act, caller, words))
        else:
            self._do(key, name, act, caller, words)

    def _beside(self, key: int, act: Callable[[], None], give_up: Callable[[], None] = lambda: None) -> None:
        """Do what may take as long as others like, while more is asked."""
        try:
            _thread.start_new_thread(act, ())
        except RuntimeError:  # no thread is to be had
            give_up()
            self._send(key, -errno.ENOMEM)

    def _waits(self, key: int) -> bool:
        try:
            fcntl.ioctl(self._listener, _IS_VALID, struct.pack("=Q", key))
        except OSError:
            return False
        return True

    def _open_later(self, key: int, name: str, later: Later, caller: Caller, words: list[int]) -> None:
        """Wait for somebody to read a pipe, as long as it is waited for."""
        waiting = _Waiting()
        try:
            self._beside(key, partial(self._interrupt_when_left, key, caller, waiting))
            while self._waits(key):
                try:
                    opened = waiting.interruptibly(later.wait)
                except InterruptedError:
                    continue
                except OSError as error:
                    self._send(key, -(error.errno or errno.EACCES))
                else:
                    waiting.end()
                    self._give(key, name, opened, words)
        finally:
            waiting.end()
            later.give_up()

    def _interrupt_when_left(self, key: int, caller: Caller, waiting: _Waiting) -> None:
        """Have a thread stop what nobody waits for any more: at once where the process has ended, for then the next one may come."""
        ended = select.poll()
        try:
            process = kernel.pidfd_open(caller.process())
        except OSError:  # it has ended already
            while waiting.interrupt():
                time.sleep(_PAUSE / 10)
            return
        with closing(process):
            ended.register(process, select.POLLIN)
            while not waiting.over:
                if (ended.poll(_PAUSE * 1000) or not self._waits(key)) and waiting.interrupt():
                    time.sleep(_PAUSE / 10)

    def _do(self, key: int, name: str, act: Any, caller: Caller, words: list[int]) -> None:
        try:
            if act is None:
                raise Refused("make a system call that is not known")
            value = act(self, caller, words)
            if callable(value):  # judged, and slow
                self._beside(key, partial(self._do, key, name, lambda *_: value(), caller, words))
                return
        except Refused as refusal:
            self._refuse(key, refusal)
        except Later as later:
            self._beside(key, partial(self._open_later, key, name, later, caller, words), later.give_up)
        except OSError as error:
            self._send(key, -(error.errno or errno.EACCES))
        except Exception:  # whatever it is, it is not done
            self._send(key, -errno.EACCES)
        else:
            self._give(key, name, value, words)

    def _give(self, key: int, name: str, value: int | None, words: list[int]) -> None:
        """Answer what was done; None: the kernel may do it itself."""
        if value is None:
            self._send(key, 0, system_calls.SECCOMP_USER_NOTIF_FLAG_CONTINUE)
        elif name in ("open", "openat", "creat"):
            flags = {"open": words[1], "openat": words[2]}.get(name, 0)
            try:
                fcntl.ioctl(
                    self._listener, _HAND_OVER, _HANDING.pack(key, _HAND_AND_ANSWER, value, 0, flags & os.O_CLOEXEC)
                )
            except OSError as error:
                self._send(key, -(error.errno or errno.EACCES))
            finally:
                os.close(value)
        else:
            self._send(key, value)

    def _refuse(self, key: int, refusal: Refused) -> None:
        if str(refusal) not in self.refused and len(self.refused) < _MOST:
            self.refused.append(str(refusal))
        if refusal.needless or self.broken:
            self._send(key, -refusal.code)
            return
        # No answer: until it is ended it does nothing more.
        self.broken = True
        self._ended()

    # --- the calls ---

    def _change(self, caller: Caller, words: list[int], *, name: str) -> int:
        place, act = CHANGES[name]
        folder, address, follow = place(words)
        path = caller.name(folder, address)
        return self._files.change(caller, path, partial(act, caller, words), follow=follow)

    def _signal(self, caller: Caller, words: list[int], *, name: str) -> None:
        """Signals reach what the command has started, and nothing else; 0 only asks whether somebody is there."""
        target = words[0] - (1 << 32) if words[0] & 0x80000000 else words[0]
        number = words[2] if name in ("tgkill", "rt_tgsigqueueinfo") else words[1]
        if number == 0 or target == 0 or (target != -1 and self._is_own(abs(target))):
            return
        raise Refused(f"send a signal to {'everybody' if target == -1 else f'process {abs(target)}'}", code=errno.EPERM)

    def _is_own(self, pid: int) -> bool:
        """Tell whether a process descends from the guardian, to which orphans of the command are handed."""
        for _ in range(1000):
            parent = Caller(pid).status("PPid") if pid > 1 else ""
            if not parent:
                return False
            pid = int(parent)
            if pid == self._guardian:
                return True
        return False


def _trace(_calls: AskedCalls, _caller: Caller, _words: list[int]) -> int:
    raise Refused("trace a process", code=errno.EPERM)


def _table() -> dict[int, tuple[str, Any]]:
    acts: dict[str, Any] = {
        "open": lambda a, c, w: a._files.open(c, CURRENT, w[0], w[1], w[2]),
        "openat": lambda a, c, w: a._files.open(c, as_number(w[0]), w[1], w[2], w[3]),
        "creat": lambda a, c, w: a._files.open(c, CURRENT, w[0], _WRITES, w[1]),
        "mkdir": lambda a, c, w: a._files.make_folder(c, CURRENT, w[0], w[1]),
        "mkdirat": lambda a, c, w: a._files.make_folder(c, as_number(w[0]), w[1], w[2]),
        "mknod": lambda a, c, w: a._files.make_node(c, CURRENT, w[0], w[1]),
        "mknodat": lambda a, c, w: a._files.make_node(c, as_number(w[0]), w[1], w[2]),
        "symlink": lambda a, c, w: a._files.make_link(c, w[0], CURRENT, w[1]),
        "symlinkat": lambda a, c, w: a._files.make_link(c, w[0], as_number(w[1]), w[2]),
        "unlink": lambda a, c, w: a._files.remove(c, CURRENT, w[0], 0),
        "unlinkat": lambda a, c, w: a._files.remove(c, as_number(w[0]), w[1], w[2]),
        "rmdir": lambda a, c, w: a._files.remove(c, CURRENT, w[0], 0x200),
        "rename": lambda a, c, w: a._files.rename(c, (CURRENT, w[0]), (CURRENT, w[1]), 0),
        "renameat": lambda a, c, w: a._files.rename(c, (as_number(w[0]), w[1]), (as_number(w[2]), w[3]), 0),
        "renameat2": lambda a, c, w: a._files.rename(c, (as_number(w[0]), w[1]), (as_number(w[2]), w[3]), w[4]),
        "link": lambda a, c, w: a._files.link(c, (CURRENT, w[0]), (CURRENT, w[1]), 0),
        "linkat": lambda a, c, w: a._files.link(c, (as_number(w[0]), w[1]), (as_number(w[2]), w[3]), w[4]),
        "socket": lambda a, c, w: a._sockets.make(w[0], w[1]),
        "connect": lambda a, c, w: a._sockets.connect(c, w[0], w[1], w[2]),
        "bind": lambda a, c, w: a._sockets.bind(c, w[0], w[1], w[2]),
        "ioctl": lambda a, c, w: a._by_number.terminal(c, w[0], w[1], w[2]),
        "flock": lambda a, c, w: a._by_number.lock(c, w[0], w[1]),
        "ptrace": _trace,
    }
    acts |= {name: partial(AskedCalls._change, name=name) for name in CHANGES}
    acts |= {name: partial(AskedCalls._signal, name=name) for name in _SIGNALS}
    return {number: (name, act) for name, act in acts.items() if (number := system_calls.number(name)) is not None}


_CALLS = _table()
"""By number: the name of a call, and what does it from those who answer, a caller and six words. Made before the helper forks."""
