#!/usr/bin/env python3
import os
import sys


def use_own_environment() -> None:
    """Started with a Python that lacks our packages: go on with the one that `make run` has set up beside this file."""
    if sys.prefix != sys.base_prefix or any(finder.find_spec("msgspec", None) for finder in sys.meta_path):
        return
    python = os.path.join(os.path.dirname(os.path.realpath(__file__)), ".venv", "bin", "python")
    if os.access(python, os.X_OK):
        os.execv(python, [python, os.path.realpath(__file__), *sys.argv[1:]])  # noqa: S606  # no shell is wanted
    sys.stderr.write("agent-shell: the packages it needs are not installed for this Python\n  run `make run` once\n")
    sys.exit(3)


if __name__ == "__main__":
    use_own_environment()
    from agent.cli.entry import main

    sys.exit(main())
