"""Keep track of what a held command has made, under whatever name it goes by now: that is its own to change. Standard library only."""

from __future__ import annotations


class OwnPlaces:
    """Paths are absolute and real, as bytes."""

    def __init__(self) -> None:
        self.made: set[bytes] = set()
        self._brought: set[bytes] = set()  # moved below something made, but there before

    def __contains__(self, path: bytes) -> bool:
        """Tell whether it was made by the command, or lies below what was."""
        return _is_among(path, self.made) and not _is_among(path, self._brought)

    def remove(self, path: bytes) -> None:
        self.made.discard(path)
        self._brought.discard(path)

    def move(self, was: bytes, becomes: bytes, *, exchanged: bool) -> None:
        """Follow a renaming that was done."""
        places = {becomes: was in self}
        if exchanged:
            places[was] = becomes in self
        pairs = ((was, becomes), (becomes, was)) if exchanged else ((was, becomes),)
        self.made = {_after(path, pairs) for path in self.made}
        self._brought = {_after(path, pairs) for path in self._brought}
        self._brought |= {place for place, own in places.items() if not own and place in self}


def is_below(path: bytes, folder: bytes) -> bool:
    return path == folder or path.startswith(folder.rstrip(b"/") + b"/")


def _is_among(path: bytes, places: set[bytes]) -> bool:
    return any(is_below(path, place) for place in places)


def _after(path: bytes, pairs: tuple[tuple[bytes, bytes], ...]) -> bytes:
    return next((new + path[len(old) :] for old, new in pairs if is_below(path, old)), path)
