"""The world of somebody who teaches a course: lectures, exercises in C, what was handed in, lists, marks, measurements and texts."""

from __future__ import annotations

from benchmarks.nl2sh_maker import Maker, noise

HELLO = '#include <stdio.h>\n\nint main(void) {\n    puts("hello");\n    return 0;\n}\n'
WORDS = "river colour Apple stone river cloud bridge Zebra colour lamp apple window stone ladder river harbour candle mirror"
ESSAY = """\
On walking

Whoever walks to work sees the town as it is.
The baker opens at six, the school at eight, and between the two
the street belongs to cats.

Some say that walking is slow. It is; that is the point of it.
Nobody has ever noticed a blackbird from the window of a fast train, I think.
The colour of the sky at seven in the morning is a reason of its own.

In winter the lamps are still lit. In summer the sun is long up.
Either way the bridge over the river is the best of it,
and the worst is the crossing behind the harbour.
Walk, then.
"""


def course(home: str) -> None:
    """A term's folder."""
    make = Maker(home)
    c = "course"
    make.lines(f"{c}/README.txt", "Programming for beginners", "Mondays at ten, room 12", "Exam on 12 July")
    _lectures(make, f"{c}/lectures")
    _homework(make, c)
    _lists(make, c)
    _texts(make, c)
    _numbers(make, c)
    make.files([f"{c}/recordings/lecture 1.mp3", f"{c}/recordings/lecture 2.mp3", f"{c}/recordings/intro.ogg"])
    make.file(f"{c}/.timetable", "mon 10\nwed 14\n")
    make.file(f"{c}/essay.txt~", "On walking\n")
    make.file(f"{c}/lectures/week2/notes.md~", "# Loops\n")
    make.done()


def _lectures(make: Maker, d: str) -> None:
    topics = ("Variables", "Loops", "Functions", "Pointers")
    for number, topic in enumerate(topics, 1):
        lines = [f"# {topic}", "", f"Read chapter {number + 2}."]
        lines += ["Likely in the exam!"] if number % 2 else ["Homework: see the sheet."]
        make.lines(f"{d}/week{number}/notes.md", *lines)
        make.file(f"{d}/week{number}/slides{number}.pdf", noise(30_000 + 25_000 * number, 70 + number))
    make.file(f"{d}/week3/handout.pdf", noise(9_000, 75))
    make.lines(f"{d}/week4/memory.dot", "digraph { a -> b }")


def _homework(make: Maker, c: str) -> None:
    h = f"{c}/homework"
    make.file(f"{h}/hw1.c", HELLO)
    make.file(f"{h}/hw2.c", '#include "util.h"\n\nint twice(int n) {\n    return 2 * n; /* FIXME: overflow */\n}\n')
    make.file(f"{h}/util.c", '#include "util.h"\n\nint one(void) { return 1; }\n')
    make.file(f"{h}/util.h", "int one(void);\nint twice(int n);\n")
    make.file(f"{h}/hw3.cpp", "#include <vector>\nint main() { return 0; }\n")
    make.file(f"{h}/Main.java", "class Main {\n}\n")
    make.lines(f"{h}/Makefile", "hw1: hw1.c", "\tcc -o hw1 hw1.c")
    make.file(f"{h}/hw1.o", noise(1_500, 80))
    make.file(f"{h}/util.o", noise(1_100, 81))
    make.file(f"{h}/a.out", noise(8_000, 82), mode=0o755)
    s = f"{c}/submissions"
    make.file(f"{s}/anna/hw1.c", HELLO)
    make.file(f"{s}/anna/hw2.c", "int twice(int n) { return n + n; }\n")
    make.file(f"{s}/ben/HW1.C", HELLO.replace("hello", "hi"))
    make.file(f"{s}/carla gomez/hw1.c", HELLO.replace("hello", "hola"))
    make.file(f"{s}/carla gomez/my notes.txt", "too late?\n")
    make.file(f"{s}/dov/late/hw1.c", "int main(void) { }\n", age=4)
    for place in ("anna", "ben", "dov/late"):
        make.file(f"{s}/{place}/.DS_Store", noise(300, 83))


def _lists(make: Maker, c: str) -> None:
    make.lines(f"{c}/roster.txt", "anna", "ben", "carla", "dov", "emil", "fatima", "greta")
    make.lines(f"{c}/submitted.txt", "anna", "ben", "carla", "dov", "hasan")
    make.lines(f"{c}/ids.txt", "101 anna", "102 ben", "103 carla", "104 dov", "106 fatima")
    make.lines(
        f"{c}/mails.txt", "101 anna@uni.example", "102 ben@uni.example", "104 dov@uni.example", "105 emil@uni.example"
    )
    make.lines(f"{c}/phones.txt", "anna: 555-0101", "ben: 555-0102", "dov: none", "emil: 555-0177", "greta: 444-0190")
    make.lines(
        f"{c}/marks.csv",
        "student,exam,project,bonus",
        "anna,71,88,2",
        "ben,54,61,0",
        "carla,93,90,5",
        "dov,38,70,0",
        "emil,66,45,1",
        "fatima,85,97,3",
        "greta,49,52,0",
    )
    make.file(
        f"{c}/attendance.tsv", "name\tweek1\tweek2\tweek3\nanna\tx\tx\tx\nben\tx\t-\tx\ndov\t-\t-\tx\nemil\tx\tx\t-\n"
    )


def _texts(make: Maker, c: str) -> None:
    make.file(f"{c}/essay.txt", ESSAY)
    make.lines(f"{c}/words.txt", *WORDS.split())
    make.lines(
        f"{c}/dialogue.txt",
        "Q: What is a pointer?",
        "A: An address with a type.",
        "",
        "Q: And a reference?",
        "A: Another name.",
        "",
        "Q: Which one is in the exam?",
        "A: Both.",
    )
    make.lines(
        f"{c}/books.bib",
        "@book{kern,",
        "  title = {The C Language},",
        "  year = {1988}",
        "}",
        "@book{tower,",
        "  title = {Programs as Towers},",
        "  year = {2011}",
        "}",
        "@article{loops,",
        "  title = {Loops Considered},",
        "  year = {1999}",
        "}",
    )


def _numbers(make: Maker, c: str) -> None:
    make.lines(
        f"{c}/temps.csv",
        "date,station,celsius",
        "2024-02-01,north,-3.5",
        "2024-02-01,harbour,1.0",
        "2024-02-02,north,-1.25",
        "2024-02-02,harbour,2.5",
        "2024-02-03,north,0.75",
        "2024-02-03,harbour,4.0",
    )
    make.lines(
        f"{c}/measurements.dat", "run    width   depth", "r1     12.5    3", "r2     9.75    4", "r3     30      11"
    )
    make.lines(f"{c}/matrix.txt", "1 2 3", "4 5 6", "7 8 9")
    for year, months in ((2023, ("jan", "feb", "mar")), (2024, ("jan", "feb"))):
        for number, month in enumerate(months, 1):
            rows = (f"{day},{day * number % 7 + year - 2020}" for day in range(1, 4 + number))
            make.lines(f"{c}/data/{year}/{month}.csv", "day,visitors", *rows)
