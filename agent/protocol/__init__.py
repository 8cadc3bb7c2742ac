"""Plain frozen data and ports: the words that all other rooms speak.

msgspec is loaded here, before anything else asks for it, in half of the time: modules that it or what it loads takes up, and that
few processes need, are loaded when something of them is asked for.
"""

import os
import sys
from importlib import import_module
from typing import Any


class _Later:
    """Stand for a module with who takes it up now, and load it when something of it is asked for."""

    def __init__(self, name: str, **known: Any) -> None:
        vars(self).update(known, _name=name)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # who imports looks for them
            raise AttributeError(name)
        loaded: Any = sys.modules.get(self._name)
        if loaded is self:
            del sys.modules[self._name]
        return getattr(import_module(self._name), name)


if "msgspec" not in sys.modules:
    _later: dict[str, Any] = {
        "platform": _Later("platform", system=lambda: os.uname().sysname),  # for uuid
        "textwrap": _Later("textwrap"),
        "msgspec.inspect": _Later("msgspec.inspect"),
        "datetime": import_module("_datetime"),  # without the classes of Python that it stands in for
        "typing_extensions": None,  # all that msgspec asks it for is in the typing of Python 3.11
    }
    _later = {name: module for name, module in _later.items() if name not in sys.modules}
    sys.modules.update(_later)
    try:
        import msgspec  # noqa: F401
    finally:
        for _name, _module in _later.items():
            if sys.modules.get(_name, _later) is _module:
                del sys.modules[_name]
