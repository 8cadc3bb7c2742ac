"""Read from pieces the set of files that is meant: names, tests, places, depth, content."""

from __future__ import annotations

import re
import shlex

from msgspec import Struct

from agent.planner.offline.grammar.intent import Containing, Files
from agent.planner.offline.grammar.pieces import Piece
from agent.planner.offline.values import Value

_SLOT = re.compile(r"\{([A-Z]+\d?)(?:\.([a-z]+))?\}")
_ARCHIVE = re.compile(r"(?i)\.(tar|tgz|tbz2?|txz|zip|gz|bz2|xz|tar\.\w{1,5})\Z")


def is_archive(name: str) -> bool:
    """Tell whether a name is that of an archive."""
    return _ARCHIVE.search(name) is not None


TYPES = {
    "file": "f", "script": "f", "dir": "d", "subdir": "d", "link": "l", "both": "any", "socket": "s", "pipe": "p",
    "broken": "broken",
}  # fmt: skip
_STARS = re.compile(r"([*?\[\]\\])")
_CLASSES = {
    "digit": "*[0-9]*", "startdigit": "[0-9]*", "enddigit": "*[0-9]", "space": "* *", "upper": "[[:upper:]]*",
    "lower": "[[:lower:]]*", "hasupper": "*[[:upper:]]*", "vowel": "[aeiouAEIOU]*",
}  # fmt: skip


def literal_glob(text: str) -> str:
    """Text as a glob that matches only itself; a person's own stars stay alive."""
    return text if "*" in text else _STARS.sub(r"\\\1", text)


class FilesDraft(Struct, kw_only=True):
    """Files while they are read."""

    roots: list[Value] = []
    type: str = ""
    names: list[str] = []
    tests: list[str] = []
    excluded: list[str] = []
    content: list[Containing] = []
    nocase: bool = False
    word: bool = False
    min_depth: str = ""
    max_depth: str = ""
    subfolders: bool = False
    recursive: bool = False
    several: bool = False

    def finish(self) -> Files:
        """The value."""
        return Files(
            roots=tuple(self.roots),
            type=self.type,
            names=tuple(dict.fromkeys(self.names)),
            tests=tuple(dict.fromkeys(self.tests)),
            excluded=tuple(dict.fromkeys(self.excluded)),
            content=tuple(self.content),
            nocase=self.nocase,
            word=self.word,
            min_depth=self.min_depth,
            max_depth=self.max_depth,
            subfolders=self.subfolders,
        )

    # --- one method for each operation of the rules; True where the piece was understood ---

    def noun(self, kind: str) -> bool:
        """Take up what is looked for; files after folders in one goal are what the folders are searched for."""
        letter = TYPES.get(kind, "")
        if not letter:
            return False
        if kind == "subdir":
            self.subfolders = True
        if letter == "broken":
            self.type = self.type or "l"
            self.tests.append("-xtype l")
            self.type = "broken"
        elif not self.type:
            self.type = letter
        elif self.type != letter:
            return self.type == "any" or letter == "any"
        return True

    def add_root(self, value: Value) -> bool:
        """A folder to look in; a second one is looked in, too."""
        if all(root.text.rstrip("/") != value.text.rstrip("/") for root in self.roots):
            self.roots.append(value)
            return len(self.roots) == 1 or self.several
        return True

    def name(self, shape: str, piece: Piece) -> bool:
        """A condition on the name."""
        values = list(piece.values.values())
        if shape in _CLASSES:
            return self._named(_CLASSES[shape])
        if shape == "onlyupper":
            return self._test("-name '*[[:upper:]]*' -not -name '*[[:lower:]]*'")
        if shape == "digits":
            return self._test("-regextype posix-extended -regex '.*/[0-9]+(\\.[^/]*)?'")
        if shape == "noext":
            return self._test("-not -name '*.*'")
        if shape == "length":
            return self._named("?" * min(int(values[0].text), 200))
        if shape == "longer":
            return self._named("?" * (min(int(values[0].text), 200) + 1) + "*")
        if shape == "regex":
            return self._test(
                f"-regextype posix-extended -regex {shlex.quote('.*/' + values[0].text.removeprefix('^'))}"
            )
        text = values[0].text
        if shape in ("exact", "start", "end", "contain", "ext") and len(values) > 1:
            return self._one_of([_shaped(shape, value.text) for value in values])
        if shape == "both":
            return self._named(f"{literal_glob(text)}*{literal_glob(values[1].text)}")
        return self._named(_shaped(shape, text))

    def notname(self, shape: str, piece: Piece) -> bool:
        """A name that is left out."""
        text = next(iter(piece.values.values())).text
        test = "-iname" if self.nocase else "-name"
        return self._test(f"-not {test} {shlex.quote(_shaped(shape, text))}")

    def _named(self, glob: str) -> bool:
        # Several kinds ("*.py or *.js") are alternatives, a second condition on the name narrows.
        if self.names:
            return self._test(f"{{name}} {shlex.quote(glob)}")
        self.names.append(glob)
        return True

    def _one_of(self, globs: list[str]) -> bool:
        if not self.names:
            self.names += globs
            return True
        return self._test("\\( " + " -o ".join(f"-name {shlex.quote(glob)}" for glob in globs) + " \\)")

    def _test(self, test: str) -> bool:
        self.tests.append(test)
        return True

    def kinds(self, piece: Piece) -> bool:
        """Kinds of files by extension."""
        self.names += [value.text for value in piece.values.values()]
        self.type = self.type if self.type in ("f", "l") else "f"
        return True

    def test(self, param: str, piece: Piece) -> bool:
        """A finished find test."""
        text = param.partition(" ")[2]
        self.tests.append(_SLOT.sub(lambda found: piece.values[found[1]].render(found[2] or ""), text))
        return True

    def exact(self, op: str, piece: Piece) -> bool:
        """An exact size or age."""
        value = next(iter(piece.values.values()))
        if op == "exactsize":
            return self._test(f"-size {value.forms['over'].removeprefix('+')}")
        return self._test(value.fixed["within"].replace(" -", " ", 1) if " -" in value.fixed["within"] else "")

    def hidden(self, param: str) -> bool:
        """Names that begin with a dot, or none such anywhere on the way."""
        if param == "too":
            return True
        return self._named(".*") if param == "yes" else self._test("-not -path '*/.*'")

    def depth(self, param: str, piece: Piece) -> bool:
        """Take up how far down to look."""
        number = piece.values.get("NUM")
        if param == "one":
            self.max_depth = "1"
            for value in piece.values.values():
                self.add_root(value)
        elif number is not None and param in ("max", "exact"):
            self.max_depth = number.text
        if number is not None and param in ("min", "exact"):
            self.min_depth = number.text
        return True

    def exclude(self, piece: Piece) -> bool:
        """Folders that are left out."""
        self.excluded += [value.text.rstrip("/") for value in piece.values.values()]
        return True

    def contain(self, param: str, piece: Piece) -> bool:
        """A condition on the content of a file."""
        texts = tuple(value.text for value in piece.values.values())
        if self.content:
            return False  # a second text does not silently join the first
        self.content += containing(param, texts)
        return True

    def lack(self, piece: Piece) -> bool:
        """Content that must not be there."""
        self.content.append(Containing(texts=tuple(value.text for value in piece.values.values()), negated=True))
        return True


def containing(param: str, texts: tuple[str, ...]) -> list[Containing]:
    """The conditions of a "contain" rule."""
    if param == "both":
        return [Containing(texts=(text,)) for text in texts]
    if param == "but":
        return [Containing(texts=texts[:1]), Containing(texts=texts[1:], negated=True)]
    return [Containing(texts=texts, regex=param == "regex")]


def _shaped(shape: str, text: str) -> str:
    if shape in ("exact", "glob"):
        return text
    if shape == "ext":
        return "*." + text.removeprefix("*").lstrip(".")
    glob = _STARS.sub(r"\\\1", text.strip("*") or text)
    if shape == "end" and re.fullmatch(r"[A-Za-z0-9]{2,4}", text) and text.lower() in _BARE_EXTENSIONS:
        return "*." + text
    return {"start": f"{glob}*", "end": f"*{glob}", "contain": f"*{glob}*"}[shape]


# "files ending in txt" are those with that extension.
_BARE_EXTENSIONS = frozenset([
    "txt", "py", "js", "ts", "sh", "csv", "log", "json", "xml", "html", "css", "md", "java", "cpp", "pdf", "png",
    "jpg", "gif", "zip", "gz", "tar", "yml", "yaml", "conf", "cfg", "ini",
])  # fmt: skip
