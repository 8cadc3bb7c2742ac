"""The shells that are installed here, or lie in a folder that SHELL_FOLDER names."""

from __future__ import annotations

import os
import shutil

import pytest

PATH = os.pathsep.join(filter(None, (os.environ.get("SHELL_FOLDER"), os.environ["PATH"])))


def needs(name: str) -> None:
    """Skip the test where there is no such shell."""
    if shutil.which(name, path=PATH) is None:
        pytest.skip(f"{name} is not installed")
