"""Tell the files that a program makes for itself the first time it is run, and insists on, from those that set it up.

Standard library only.
"""

from __future__ import annotations

import re

_DATA = {
    # gpg lists no keys where it cannot make an empty key ring; its locks are links to a file of their own.
    b".gnupg": re.compile(rb"\.#lk[^/]+|((pubring\.(kbx|gpg)|trustdb\.gpg|tofu\.db)(\.lock)?)"),
}


def is_data(folder: bytes, inside: bytes) -> bool:
    """Tell whether a path below a program's folder is data that it begins with, empty: nothing by which it is set up, nothing that runs."""
    data = _DATA.get(folder.rpartition(b"/")[2])
    return data is not None and data.fullmatch(inside) is not None
