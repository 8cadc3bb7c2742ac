"""safecmd: an allow-list, so a command is either on it or not; what is not is asked for, which is medium here."""

import os
import sys

os.environ["PATH"] = os.path.dirname(sys.executable) + ":" + os.environ.get("PATH", "")

from safecmd.core import DisallowedError, validate  # its parser is a program beside the interpreter


def rate(command):
    try:
        validate(command)
    except DisallowedError:
        return "medium"
    return "low"
