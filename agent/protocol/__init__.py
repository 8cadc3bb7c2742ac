"""Plain frozen data and ports: the words that all other rooms speak."""

import sys

if not {"msgspec", "typing_extensions"} & sys.modules.keys():
    # All that msgspec asks typing_extensions for is in the typing of Python 3.11; loading that costs a third of msgspec's import.
    sys.modules["typing_extensions"] = None  # type: ignore[assignment]
    try:
        import msgspec  # noqa: F401
    finally:
        del sys.modules["typing_extensions"]
