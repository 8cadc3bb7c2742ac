"""Things in a text that are known by their shape: addresses, dates, years, functions, headings, questions. Each is an expression for grep."""

from __future__ import annotations

import re

from msgspec import Struct

_IP = r"([0-9]{1,3}\.){3}[0-9]{1,3}"


class Shape(Struct, frozen=True, kw_only=True):
    """What it is called (an expression), what it looks like (for `grep -E`), and whether whole lines are such things.

    `endings`: of which files; "" for all.
    """

    called: str
    looks: str
    lines: bool = False
    endings: str = ""

    def is_in(self, text: str) -> bool:
        """Whether a text has one; python reads what grep reads, but for the classes."""
        looks = (
            self.looks.replace("[[:alnum:]", "[A-Za-z0-9")
            .replace("[[:alpha:]]", "[A-Za-z]")
            .replace("[[:space:]]", r"\s")
        )
        return (
            re.search(looks.replace("[:alnum:]", "A-Za-z0-9").replace("[:alpha:]", "A-Za-z"), text, re.MULTILINE)
            is not None
        )


SHAPES = (
    Shape(called=r"(?:ip(?:v4)?|network|host|source|client|remote)(?: ip)? address(?:es)?|ip(?:v4)?s?|ip numbers?|(?:ip)?v?4? ?addresses|address", looks=_IP),
    Shape(called=r"(?:e-?mail|mail)(?: address(?:es)?)?|e-?mails|mail addresses", looks=r"[[:alnum:]._%+-]+@[[:alnum:].-]+\.[[:alpha:]]{2,}"),
    Shape(called=r"urls?|web addresses|web links|hyperlinks|links", looks=r"https?://[^ \"<>)]+"),
    Shape(called=r"years?(?: numbers?)?", looks=r"\b[12][0-9]{3}\b"),
    Shape(called=r"dates?|days", looks=r"[0-9]{4}-[0-9]{2}-[0-9]{2}"),
    Shape(called=r"(?:clock )?times|times of day", looks=r"[0-9]{2}:[0-9]{2}(:[0-9]{2})?"),
    Shape(called=r"hash ?tags?", looks=r"#[[:alnum:]_]+"),
    Shape(called=r"colou?r codes?|hex colou?rs?", looks=r"#[0-9a-fA-F]{6}\b"),
    Shape(called=r"(?:http )?status codes?|response codes?", looks=r'" [1-5][0-9]{2} '),
    Shape(called=r"(?:function|method)s?(?: definitions?| signatures?| headers?)?|definitions of functions", looks=r"^[[:space:]]*(async )?def ", lines=True, endings=".py"),
    Shape(called=r"functions?(?: definitions?)?", looks=r"^[[:space:]]*(export )?(async )?function ", lines=True, endings=".js .ts .jsx .tsx .php"),
    Shape(called=r"functions?(?: definitions?)?", looks=r"^[[:space:]]*(function )?[[:alnum:]_]+ ?\(\) ?\{", lines=True, endings=".sh .bash"),
    Shape(called=r"functions?(?: definitions?)?", looks=r"^func ", lines=True, endings=".go"),
    Shape(called=r"functions?(?: definitions?)?", looks=r"^[[:space:]]*(pub )?fn ", lines=True, endings=".rs"),
    Shape(called=r"class(?:es)?(?: definitions?)?", looks=r"^[[:space:]]*(public |abstract |final |export )*class ", lines=True, endings=".py .js .ts .java .php .rb"),
    Shape(called=r"imports?(?: lines?| statements?)?", looks=r"^[[:space:]]*(import|from) ", lines=True, endings=".py .js .ts .java .go"),
    Shape(called=r"includes?(?: lines?| statements?)?|included headers?", looks=r"^#include", lines=True, endings=".c .h .cpp .hpp .cc"),
    Shape(called=r"comments?|comment lines?|commented lines?", looks=r"^[[:space:]]*#", lines=True, endings=".py .sh .conf .cfg .ini .toml .yml .yaml .env .rb .pl .txt"),
    Shape(called=r"head(?:ings|lines|ers)|section titles?|titles of (?:the )?sections", looks=r"^#+ ", lines=True, endings=".md .markdown"),
    Shape(called=r"sections?(?: names?| headers?| headings?)?", looks=r"^\[.*\]", lines=True, endings=".ini .conf .cfg .toml"),
    Shape(called=r"(?:bullet points?|bullets|list items?)", looks=r"^[[:space:]]*[-*] ", lines=True, endings=".md .txt"),
    Shape(called=r"(?:open|unfinished|undone|unchecked|remaining|outstanding) (?:items?|tasks?|todos?|things|points?|entries|boxes)", looks=r"\[ \]", lines=True, endings=".txt .md"),
    Shape(called=r"(?:done|finished|completed|checked(?: off)?|ticked(?: off)?) (?:items?|tasks?|todos?|things|points?|entries|boxes)|(?:items?|tasks?|things|entries) (?:that )?(?:are )?(?:already )?(?:done|finished|completed|checked off|ticked off)", looks=r"\[[xX]\]", lines=True, endings=".txt .md"),
    Shape(called=r"questions?", looks=r"^Q:", lines=True, endings=".txt .md"),
    Shape(called=r"answers?", looks=r"^A:", lines=True, endings=".txt .md"),
    Shape(called=r"questions?", looks=r"\?[[:space:]]*$", lines=True, endings=".txt .md"),
    Shape(called=r"(?:stack ?traces?|tracebacks?)", looks=r"^Traceback ", lines=True, endings=".log .txt .out"),
)  # fmt: skip


def shape_named(called: str, path: str, text: str) -> Shape | None:
    """The shape that a noun names, where the text of the file has one like it."""
    ending = "." + path.rpartition(".")[2] if "." in path.rpartition("/")[2] else ""
    for shape in SHAPES:
        if shape.endings and ending not in shape.endings.split():
            continue
        if re.fullmatch(shape.called, called, re.IGNORECASE) and shape.is_in(text):
            return shape
    return None
