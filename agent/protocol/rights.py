"""What a command may do that runs without anybody having looked at it."""

from __future__ import annotations

from msgspec import Struct


class Rights(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What it may do beside reading and making temporary files of its own; never signals, limits or traces of other processes.

    `write`: absolute paths, with all below them. `repositories`: folders of whose version control it may write the inside, but no hooks
    and no configuration. `private`: folders of programs, in which they may make the data that they begin with.
    `network`: it may use it; `interfaces`: it may only ask the kernel about it. `services`: it may speak with programs of this machine
    (Unix sockets), as `docker ps` does.
    """

    write: tuple[str, ...] = ()
    repositories: tuple[str, ...] = ()
    private: tuple[str, ...] = ()
    network: bool = False
    interfaces: bool = False
    services: bool = False


CANNOT = "nobody would look at it, and it cannot be held to its rating here: "
"""How the reason of a verdict begins that asks for what cannot be held; the reason why follows."""
