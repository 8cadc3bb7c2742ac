"""Track files that the command itself writes before it reads or runs them: `echo … > a.sh; sh a.sh`, `bash <(echo …)`."""

from __future__ import annotations

from agent.risk.reader.invocation import Output
from agent.risk.reader.words import UNKNOWN, Word, join_taint
from agent.risk.tables.scopes import absolute

_MAX_FILES = 200
_FIRST_DESCRIPTOR = 63
_STANDARD_INPUT = frozenset(("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"))


class Files:
    """Contents by absolute path, as far as they are known."""

    def __init__(self) -> None:
        self._contents: dict[str, Output] = {}
        self._substitutions = 0
        self.option_names: set[str] = set()
        """Absolute paths that the command makes whose names begin with a dash: a wildcard gives them to a program as options."""

    def made(self, words: list[Word], cwd: str) -> None:
        """Remember those of new names that begin with a dash."""
        for word in words:
            path = word.text.rstrip("/")
            if path.rpartition("/")[2].startswith("-") and word.known and len(self.option_names) < _MAX_FILES:
                self.option_names.add(absolute(path, cwd))

    def substitution(self, output: Output) -> str:
        """The name of a process substitution that gives `output`."""
        number = _FIRST_DESCRIPTOR - self._substitutions  # downwards, as bash counts them
        name = f"/dev/fd/{number if number > 2 else 2 * _FIRST_DESCRIPTOR - number}"
        self._substitutions += 1
        self.write(name, "/", output)
        return name

    def write(self, path: str, cwd: str, output: Output, *, append: bool = False) -> None:
        """What was written to `path`; text that is not known makes the file unknown again."""
        if UNKNOWN in path or not path:
            return
        path = absolute(path, cwd)
        text, taint = output
        if append and path in self._contents:
            before, earlier = self._contents[path]
            text = None if before is None or text is None else before + text
            taint = join_taint(earlier, taint)
        if path in self._contents or len(self._contents) < _MAX_FILES:
            self._contents[path] = text, taint

    def written(self) -> dict[str, Output]:
        """Everything that the command has written to files."""
        return self._contents

    def read(self, word: Word, cwd: str) -> Output | None:
        """What the file named `word` holds, where that is known."""
        if not self._contents or UNKNOWN in word.text or word.text in _STANDARD_INPUT:
            return None
        found = self._contents.get(absolute(word.text, cwd))
        if found is None or found[0] or "opaque" in found[1]:
            return found
        return None
