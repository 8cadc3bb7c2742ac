"""Make folders that are ours alone."""

from __future__ import annotations

import os
from typing import AnyStr

PRIVATE_FOLDER = 0o700


def make_folder(path: AnyStr) -> None:
    """Make the folder with mode 0700, and each of its parents that is missing: `os.makedirs` would leave those open.

    What is there already stays as it is. Raises OSError.
    """
    missing: list[AnyStr] = []
    while not os.path.isdir(path):
        missing.append(path)
        parent = os.path.dirname(path)
        if parent == path or not parent:
            break
        path = parent
    for each in reversed(missing):
        try:
            os.mkdir(each, PRIVATE_FOLDER)
        except FileExistsError:
            if not os.path.isdir(each):
                raise
            continue  # another process was quicker
        os.chmod(each, PRIVATE_FOLDER)  # a strict umask may have taken our own rights
