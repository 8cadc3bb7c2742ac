"""Sources of manual pages become text in which an option and what explains it can be told apart."""

from __future__ import annotations

from time import process_time

import pytest

from agent.retrieval.roff import plain
from tests.support.each import each

MAN = r""".\" a comment
.de Sp
.if t .sp .3
..
.ds = \-\^\-
.TH PACK 1
.SH NAME
pack \- packs
.SH OPTIONS
.SS "Names of files"
.TP
.BI \*=strip= num
Strips
.I num
parts.
.TP
\fB\-f\fR, \fB\-\-file\fR=\fIARCHIVE\fR
Use it\(emalways.
.ie n \{\
.RS 4
never seen
.\}
.PP
\fB\-\-amend\fR
.RS 4
Replace the tip
.RE
.nf
pack -x \e
  now
.fi
"""

MDOC = r""".Dd May 1
.Dt BOX 1
.Sh NAME
.Nm box
.Nd keeps things
.Sh SYNOPSIS
.Nm box
.Op Fl 46Aa
.Op Fl b Ar address
.Sh DESCRIPTION
.Bl -tag -width Ds
.It Fl b Ar address Ns Op : Ns Ar port
Use
.Dq it .
.It Fl -long | Fl q
Says
.Xr cat 1 .
.El
"""


def test_the_man_macros() -> None:
    assert plain(MAN).split("\n") == [
        "NAME",
        "       pack - packs",
        "",
        "OPTIONS",
        "   Names of files",
        "       --strip=num",
        "              Strips num parts.",
        "       -f, --file=ARCHIVE",
        "              Use it—always.",
        "",
        "       --amend",
        "           Replace the tip",
        "       pack -x \\",
        "       now",
    ]


def test_the_mdoc_macros() -> None:
    assert plain(MDOC).split("\n") == [
        "NAME",
        "       box - keeps things",
        "",
        "SYNOPSIS",
        "       box [-46Aa] [-b address]",
        "",
        "DESCRIPTION",
        "       -b address[:port]",
        '              Use "it".',
        "       --long | -q",
        "              Says cat 1.",
    ]


@each(
    "text",
    ["", ".", "'", ".TP", ".It", ".Fl", "\\", "\\f", "\\f[", ".IP\n.RE\n.El\n.El", ".ds x\n\\*x", "\\N'99999999'"],
)
def test_what_is_no_page_does_no_harm(text: str) -> None:
    assert len(plain(text)) <= len(text) + 8


@pytest.mark.thorough
def test_a_hostile_page_is_read_soon_and_stays_small() -> None:
    strings = "".join(f".ds {chr(65 + at)} " + f"\\*{chr(66 + at)}" * 4 + "\n" for at in range(20))
    assert len(plain(f"{strings}\\*A\n")) < 20_000_000
    began = process_time()
    for text in (".de\n" * 200_000, "\\f[" * 200_000, ".Op Fl a " + "." * 400_000 + "x"):
        plain(text)
    assert process_time() - began < 30  # each took minutes where it was read again from every place


def test_a_definition_without_an_end_hides_nothing() -> None:
    assert "-x" in plain(".de A\n..\n.de B\n.SH OPTIONS\n.TP\n-x\nmeans it\n")
