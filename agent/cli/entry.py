"""argv to front end. Nothing is imported before it is known to be needed: this module is the start-up time."""

from __future__ import annotations

import os
import sys

# Names of later versions are reserved, so that no goal comes to depend on them.
RESERVED = ("serve", "mcp", "guard", "init")

_MANY = 100_000
"""Objects after which garbage is looked for: all that is loaded until the first frame stays, and is not gone through once."""


def main(argv: list[str] | None = None) -> int:
    """Run the program with `argv` (without the program's name); the exit code."""
    arguments = sys.argv[1:] if argv is None else argv
    if None in (sys.stdin, sys.stdout, sys.stderr):
        _fill_closed_streams()
    try:
        code = _guarded(arguments)
        sys.stdout.flush()  # here, where a full disk can still be reported
        return code
    except BrokenPipeError:
        _drop_output()  # whoever read our output has gone
        return 141
    except Exception as error:  # nobody chose this, so it is one line, and a traceback for those who ask for it
        if "--debug" in arguments:
            raise
        _drop_output()
        what = error.strerror.lower() if isinstance(error, OSError) and error.strerror else repr(error)
        if isinstance(error, OSError) and error.filename is not None:
            what += f": {error.filename!r}"
        sys.stderr.write(f"agent-shell: {what}\n  run again with --debug for details\n")
        return 1


def _guarded(arguments: list[str]) -> int:
    """The exit code, for every way out that somebody chose."""
    if arguments in (["--version"], ["-V"]):
        from agent.version import __version__

        sys.stdout.write(f"agent-shell {__version__}\n")
        return 0
    import gc

    gc.set_threshold(_MANY)
    try:
        return _main(arguments)
    except SystemExit as error:  # argparse, after it has said why
        return error.code if isinstance(error.code, int) else 2
    except KeyboardInterrupt:
        return 130


def _fill_closed_streams() -> None:
    """Standard streams that our caller closed become /dev/null: else the next file we open takes their place."""

    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, os.O_RDWR)  # the lowest free number, so the right one
            os.set_inheritable(descriptor, descriptor == number)
            stream = open(descriptor, "w" if number else "r", encoding="utf-8", errors="replace")  # noqa: SIM115  # for good
            setattr(sys, name, stream)


def _drop_output() -> None:
    """Python would complain once more when it flushes standard output at exit."""

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _main(arguments: list[str]) -> int:
    from agent.cli.arguments import meant, split
    from agent.cli.sub_commands import GOAL, SUB_COMMANDS

    if arguments == ["version"]:
        return main(["--version"])
    if arguments[:1] == ["help"] and (len(arguments) == 1 or (arguments[1] in SUB_COMMANDS and not arguments[2:])):
        return main([*arguments[1:], "--help"])
    before, sub, words = split(arguments, {*SUB_COMMANDS, *RESERVED})
    if sub in RESERVED:
        sys.stderr.write(
            f"agent-shell: {sub!r} is not part of this version; for a goal with this word, put it in quotes\n"
        )
        return 2
    if not sub and words and (near := meant(words, SUB_COMMANDS)):
        sys.stderr.write(f"agent-shell: there is no {words[0]!r}; did you mean {near}? A goal takes more words.\n")
        return 2
    from agent.cli.arguments import parse

    options = parse(sub, words, before)
    if getattr(options, "version", False):
        return main(["--version"])
    from agent.protocol.errors import ClientDisconnected, CoreError, EmitError

    try:
        return (SUB_COMMANDS[sub] if sub else GOAL).run(options)
    except CoreError as error:
        if getattr(options, "debug", None):
            raise
        from agent.emitters.console import complain_about

        complain_about(error)
        return error.exit_code
    except ClientDisconnected:
        raise BrokenPipeError from None
    except EmitError as error:
        sys.stderr.write(f"agent-shell: the answer cannot be written: {str(error).lower()}\n")
        return 1
