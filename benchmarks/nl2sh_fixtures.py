"""The worlds of the tasks. Each builder fills a home folder, and returns nothing; the task starts in the folder of its name."""

from __future__ import annotations

import os
from collections.abc import Callable

from benchmarks.nl2sh_fixture_course import course
from benchmarks.nl2sh_fixture_data import data, logs
from benchmarks.nl2sh_fixture_packed import archives, repo
from benchmarks.nl2sh_fixture_server import server
from benchmarks.nl2sh_maker import Maker, noise

Builder = Callable[[str], None]


def project(home: str) -> None:
    """A small application: sources, tests, web pages, logs, build products, settings."""
    make = Maker(home)
    p = "project"
    make.lines(
        f"{p}/README.md",
        "# Orchard",
        "",
        "A small service that counts apples.",
        "",
        "## Install",
        "",
        "Run `make install`.",
        "TODO: write about Windows",
        "",
        "## Usage",
        "",
        "See docs/guide.md and https://orchard.example/help.",
        when="2024-01-05 10:00",
    )
    make.lines(f"{p}/LICENSE", "MIT License", "", "Copyright (c) 2021 Orchard people", when="2021-06-01 12:00")
    make.lines(f"{p}/Makefile", "install:", "\tpip install .", "test:", "\tpytest", "clean:", "\trm -rf build")
    make.lines(f"{p}/setup.py", "from setuptools import setup", "", "setup(name='orchard', version='1.4.2')")
    make.lines(
        f"{p}/requirements.txt", "requests==2.31", "flask==3.0", "# tests", "pytest", "flask==3.0", "numpy>=1.26"
    )
    make.lines(f"{p}/.gitignore", "build/", "*.pyc", "node_modules/", ".env")
    make.lines(f"{p}/.env", "DB_HOST=localhost", "DB_PORT=5432", "DEBUG=true", mode=0o600)
    make.lines(f"{p}/package.json", '{"name": "orchard-web", "version": "0.9.1", "private": true}')
    _sources(make, p)
    make.lines(
        f"{p}/web/index.html", "<html>", "<head><title>Orchard</title></head>", "<body>Welcome</body>", "</html>"
    )
    make.lines(f"{p}/web/app.js", "// TODO use fetch", "const port = 8080;", "console.log('ready', port);", age=2)
    make.lines(f"{p}/web/style.css", "body { color: #333; }", "h1 { color: green; }")
    make.file(f"{p}/web/img/logo.png", noise(2_000, 3))
    make.file(f"{p}/web/img/banner.jpg", noise(60_000, 4))
    make.lines(f"{p}/docs/guide.md", "# Guide", "", "Start the server, then open port 8080.", "FIXME: screenshots")
    make.lines(f"{p}/docs/api.md", "# API", "", "GET /apples", "POST /apples", "DELETE /apples/ID")
    make.lines(f"{p}/docs/Install Notes.txt", "Use Python 3.11.", "Then run make.")
    make.lines(f"{p}/scripts/deploy.sh", "#!/bin/bash", "set -e", "echo deploying to staging", mode=0o755)
    make.lines(f"{p}/scripts/backup.sh", "#!/bin/sh", "tar czf backup.tgz src")
    make.lines(f"{p}/scripts/clean.sh", "#!/bin/bash", "rm -rf build", mode=0o755)
    make.lines(
        f"{p}/config/settings.ini",
        "[server]",
        "host = localhost",
        "port = 8080",
        "; debug = on",
        "[log]",
        "level = info",
    )
    make.lines(f"{p}/config/app.yaml", "name: orchard", "port: 8080", "workers: 4", "debug: false")
    make.lines(f"{p}/config/database.json", '{"host": "localhost", "port": 5432, "pool": {"min": 1, "max": 8}}')
    _project_logs(make, p)
    make.file(f"{p}/build/output.o", noise(150_000, 5), age=1)
    make.file(f"{p}/build/report.bin", noise(1_300_000, 6), age=1)
    make.files([f"{p}/build/tmp/a.tmp", f"{p}/build/tmp/b.tmp", f"{p}/scratch.tmp"], age=12)
    make.lines(f"{p}/node_modules/left/index.js", "// TODO drop this", "module.exports = 1;")
    make.lines(f"{p}/node_modules/left/package.json", '{"name": "left", "version": "1.0.0"}')
    make.file(f"{p}/src/__pycache__/main.cpython-311.pyc", noise(900, 7))
    make.file(f"{p}/src/api/__pycache__/routes.cpython-311.pyc", noise(700, 8))
    make.folder(f"{p}/drafts")
    make.link(f"{p}/latest", "src/main.py")
    make.link(f"{p}/docs/current", "missing.md")
    make.lines("todo.txt", "call the bank", "water the plants")
    make.done()


def _sources(make: Maker, p: str) -> None:
    make.lines(
        f"{p}/src/main.py",
        "import sys",
        "import utils",
        "",
        "def main():",
        "    print('apples')",
        "    # TODO: read arguments",
        "    return utils.add(1, 2)",
        "",
        "if __name__ == '__main__':",
        "    sys.exit(main())",
        age=3,
    )
    make.lines(
        f"{p}/src/utils.py",
        "import os",
        "",
        "def add(a, b):",
        "    return a + b",
        "",
        "def old_name(x):",
        "    return x",
        "",
        "class Basket:",
        "    pass",
        "# TODO: rename old_name",
    )
    make.lines(
        f"{p}/src/parser.py", "import re", "", "def parse(text):", "    return re.split(',', text)", "", "PORT = 8080"
    )
    make.file(f"{p}/src/models/__init__.py")
    make.lines(f"{p}/src/models/user.py", "class User:", "    def __init__(self, name):", "        self.name = name")
    make.file(f"{p}/src/api/__init__.py")
    make.lines(
        f"{p}/src/api/routes.py",
        "import utils",
        "",
        "def index():",
        "    return 'hello'",
        "",
        "# FIXME: old_name",
        age=20,
    )
    make.lines(f"{p}/src/legacy/old_parser.py", "import string", "print 'old'", when="2019-04-02 08:30")
    make.lines(f"{p}/tests/test_main.py", "import main", "", "def test_main():", "    assert main.main() == 3")
    make.lines(
        f"{p}/tests/test_utils.py",
        "import utils",
        "",
        "def test_add():",
        "    assert utils.add(1, 1) == 2",
        "",
        "def test_old():",
        "    assert utils.old_name(1)",
    )


def _project_logs(make: Maker, p: str) -> None:
    make.lines(
        f"{p}/logs/app.log",
        "2024-05-01 08:00:01 INFO started",
        "2024-05-01 08:00:05 WARNING cache is cold",
        "2024-05-01 08:01:00 ERROR cannot reach db",
        "2024-05-01 08:01:30 INFO retry",
        "2024-05-01 08:02:00 ERROR timeout after 30s",
        "2024-05-01 08:03:00 info slow request",
        "2024-05-02 09:00:00 INFO stopped",
        age=1,
    )
    make.lines(
        f"{p}/logs/error.log", "disk full", "disk full", "timeout", "permission denied", "timeout", "disk full", age=4
    )
    make.lines(f"{p}/logs/app.log.1", "2024-04-30 INFO old run", "2024-04-30 ERROR crashed", age=40)
    make.file(f"{p}/logs/debug.log", "", age=9)


def documents(home: str) -> None:
    """What a person keeps: texts with blanks in their names, photos, invoices by year, copies and leftovers."""
    make = Maker(home)
    d = "documents"
    make.lines(
        f"{d}/Annual Report 2023.txt",
        "Annual report",
        "Sales grew by 12 percent.",
        "Costs fell by 3 percent.",
        "The end.",
    )
    make.lines(
        f"{d}/notes.txt",
        "buy milk",
        "Call Maria about the contract",
        "  meeting on Tuesday  ",
        "",
        "buy bread",
        "call the bank",
        "",
    )
    make.lines(
        f"{d}/Meeting Notes.md", "# Meeting", "- budget approved", "- next meeting in June", "- TODO send minutes"
    )
    make.lines(f"{d}/todo.txt", "[x] pay rent", "[ ] book flight", "[ ] renew passport", "[x] call mum", "[ ] fix bike")
    make.lines(f"{d}/shopping list.txt", "milk", "eggs", "bread", "apples", "milk", "cheese")
    make.lines(f"{d}/letters/aunt.txt", "Dear aunt,", "thank you for the book.", "Yours, Dana", when="2022-12-27 18:00")
    make.lines(
        f"{d}/letters/bank.txt",
        "Dear Sir or Madam,",
        "my contract number is 4711.",
        "Yours, Dana Reed",
        when="2023-02-03 11:00",
    )
    make.lines(f"{d}/letters/draft letter.txt", "Dear ...", when="2023-02-04 11:00")
    for year, count in ((2021, 2), (2022, 3), (2023, 1)):
        for number in range(1, count + 1):
            make.lines(
                f"{d}/invoices/{year}/inv-{year}-{number:03}.txt",
                f"Invoice {number}",
                f"Total: {year - 2000 + number * 10}.50 EUR",
                "Paid: " + ("yes" if number % 2 else "no"),
                when=f"{year}-07-0{number} 10:00",
            )
    make.file(f"{d}/photos/IMG_001.JPG", noise(40_000, 11), when="2023-08-01 10:00")
    make.file(f"{d}/photos/IMG_002.jpg", noise(90_000, 12), when="2023-08-02 10:00")
    make.file(f"{d}/photos/IMG_003.jpg", noise(25_000, 13), when="2023-08-03 10:00")
    make.file(f"{d}/photos/holiday.png", noise(130_000, 14), when="2022-06-03 10:00")
    make.file(f"{d}/photos/copy of IMG_002.jpg", noise(90_000, 12), when="2023-09-02 10:00")
    make.file(f"{d}/photos/raw/IMG_002.raw", noise(700_000, 15), when="2023-08-02 10:00")
    make.file(f"{d}/thesis.pdf", noise(300_000, 16), age=5)
    make.file(f"{d}/contract.pdf", noise(80_000, 17), age=45)
    make.files([f"{d}/old/notes.bak", f"{d}/old/todo.bak", f"{d}/plan.bak"], when="2020-02-02 10:00")
    make.files(
        [f"{d}/music/song one.mp3", f"{d}/music/song two.mp3", f"{d}/music/Jazz/blue.mp3", f"{d}/music/list.m3u"]
    )
    make.lines(f"{d}/recipes/apple pie.txt", "apples", "flour", "butter", "sugar")
    make.lines(f"{d}/recipes/bread.txt", "flour", "water", "salt")
    make.folder(f"{d}/empty folder")
    make.folder(f"{d}/inbox")
    make.file(f"{d}/inbox.txt")
    make.file(f"{d}/.hidden note", "secret\n")
    make.done()


def mixed(home: str) -> None:
    """Permissions, links, empty and hidden files, sizes and ages of all kinds."""
    make = Maker(home)
    m = "mixed"
    make.file(f"{m}/a.txt", "alpha\n", mode=0o644)
    make.file(f"{m}/b.txt", "beta\n", mode=0o600)
    make.file(f"{m}/c.txt", "gamma\n", mode=0o666)
    make.file(f"{m}/d.txt", "delta\n", mode=0o444)
    make.file(f"{m}/run.sh", "#!/bin/sh\necho run\n", mode=0o755)
    make.file(f"{m}/stop.sh", "#!/bin/sh\necho stop\n", mode=0o644)
    make.file(f"{m}/tool", "#!/bin/sh\necho tool\n", mode=0o711)
    make.file(f"{m}/private/key.pem", "KEY\n", mode=0o600)
    make.file(f"{m}/private/readme", "read me\n", mode=0o640)
    make.folder(f"{m}/private", mode=0o700)
    make.file(f"{m}/shared/board.txt", "hello all\n", mode=0o666)
    make.folder(f"{m}/shared", mode=0o777)
    make.file(f"{m}/empty1.txt")
    make.file(f"{m}/empty2.log")
    make.file(f"{m}/sub/empty3.txt")
    make.folder(f"{m}/hollow/inner")
    make.folder(f"{m}/void")
    make.file(f"{m}/.profile", "export A=1\n")
    make.file(f"{m}/.secret/.token", "abc\n", mode=0o600)
    make.file(f"{m}/size/tiny.bin", noise(10, 21))
    make.file(f"{m}/size/small.bin", noise(3_000, 22))
    make.file(f"{m}/size/middle.bin", noise(120_000, 23))
    make.file(f"{m}/size/large.bin", noise(1_200_000, 24))
    make.file(f"{m}/size/exact.bin", noise(1024, 25))
    make.file(f"{m}/age/yesterday.log", "y\n", age=1)
    make.file(f"{m}/age/lastweek.log", "w\n", age=6)
    make.file(f"{m}/age/lastmonth.log", "m\n", age=29)
    make.file(f"{m}/age/quarter.log", "q\n", age=95)
    make.file(f"{m}/age/lastyear.log", "l\n", age=380)
    make.file(f"{m}/age/hour.log", "h\n", age=0)
    make.link(f"{m}/link-a", "a.txt")
    make.link(f"{m}/link-run", "run.sh")
    make.link(f"{m}/sub/up", "../b.txt")
    make.link(f"{m}/dangling", "nowhere.txt")
    make.link(f"{m}/folder-link", "size")
    make.second_name(f"{m}/sub/twin.txt", f"{m}/a.txt")
    make.file(f"{m}/Upper Case.TXT", "Mixed Case\n")
    make.file(f"{m}/UPPER.TXT", "UP\n")
    make.file(f"{m}/deep/one/two/three/bottom.txt", "bottom\n")
    make.file(f"{m}/deep/one/middle.txt", "middle\n")
    make.done()


def nothing(home: str) -> None:
    """An empty folder."""
    os.makedirs(os.path.join(home, "nothing"))


FIXTURES: dict[str, Builder] = {
    builder.__name__: builder
    for builder in (project, documents, mixed, data, logs, archives, repo, server, course, nothing)
}
