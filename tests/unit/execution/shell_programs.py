"""The shells that are installed here, or lie in a folder that SHELL_FOLDER names."""

from __future__ import annotations

import os

from tests.support import needs as programs

PATH = os.pathsep.join(filter(None, (os.environ.get("SHELL_FOLDER"), os.environ["PATH"])))


def needs(name: str) -> None:
    """Skip the test where there is no such shell."""
    programs.needs(name, path=PATH)
