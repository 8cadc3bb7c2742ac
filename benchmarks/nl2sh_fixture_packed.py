"""Worlds of archives, and of a repository."""

from __future__ import annotations

import bz2
import gzip
import io
import os
import subprocess
import tarfile
import zipfile

from benchmarks.nl2sh_maker import Maker, noise, stamp

PACKED = {
    "site/index.html": b"<h1>hi</h1>\n",
    "site/css/main.css": b"h1 { color: red }\n",
    "site/js/app.js": b"alert(1)\n",
    "site/README": b"a small site\nwith two lines\n",
}


def archives(home: str) -> None:
    """Archives of the usual kinds, and folders to pack."""
    make = Maker(home)
    a = "archives"
    make.file(f"{a}/site.tar.gz", gzip.compress(_tar(PACKED), mtime=0))
    make.file(f"{a}/site.tar", _tar(PACKED))
    make.file(f"{a}/bundle.tar.bz2", bz2.compress(_tar({"bundle/one.txt": b"one\n", "bundle/two.txt": b"two\n"})))
    make.file(
        f"{a}/photos.zip", _zip({"photos/a.jpg": noise(500, 31), "photos/b.jpg": noise(700, 32), "list.txt": b"a\nb\n"})
    )
    make.file(f"{a}/notes.txt.gz", gzip.compress(b"first note\nsecond note\nthird note\n", mtime=0))
    make.file(f"{a}/table.csv.bz2", bz2.compress(b"a,b\n1,2\n"))
    make.lines(f"{a}/report/january.txt", "cold", "dark")
    make.lines(f"{a}/report/february.txt", "still cold")
    make.lines(f"{a}/report/data/values.csv", "x,y", "1,2")
    make.file(f"{a}/report/.draft", "hidden\n")
    make.lines(f"{a}/big.log", *(f"line {n} of a long log" for n in range(400)))
    make.lines(f"{a}/small.log", "one line", "two lines")
    make.lines(f"{a}/readme.md", "# Archives")
    make.file(f"{a}/pictures/sea.jpg", noise(3000, 33))
    make.file(f"{a}/pictures/hill top.jpg", noise(2000, 34))
    make.folder(f"{a}/out")
    make.done()


def _tar(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size, info.mtime, info.mode = len(content), int(stamp("2023-05-05 05:05")), 0o644
            info.uname = info.gname = "dana"
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def _zip(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name, (2023, 5, 5, 5, 5, 4)), content)
    return buffer.getvalue()


def repo(home: str) -> None:
    """A repository with a short history of two people, branches, tags, and work that is not committed."""
    make = Maker(home)
    r = "repo"
    make.lines(
        ".gitconfig", "[user]", "\tname = Dana Reed", "\temail = dana@example.org", "[init]", "\tdefaultBranch = main"
    )
    top = os.path.join(home, r)
    make.lines(f"{r}/README.md", "# Tool", "A tool.")
    make.lines(f"{r}/app.py", "print('one')")
    make.done()
    git = _Git(top, home)
    git("init", "-q", "-b", "main")
    git("add", "-A")
    git.commit("first version")
    git("tag", "v0.1")
    _change(make, f"{r}/app.py", "print('one')\nprint('two')\n")
    _change(make, f"{r}/lib/math.py", "def double(x):\n    return 2 * x\n")
    git("add", "-A")
    git.commit("add double", "Eli Park <eli@example.org>")
    _change(make, f"{r}/README.md", "# Tool\nA tool that doubles.\n")
    git("add", "-A")
    git.commit("explain what it does")
    git("tag", "-a", "v0.2", "-m", "second release")
    git("branch", "old-idea")
    git("switch", "-q", "-c", "feature/login")
    _change(make, f"{r}/login.py", "def login():\n    return None\n")
    git("add", "-A")
    git.commit("start login", "Eli Park <eli@example.org>")
    git("switch", "-q", "main")
    _change(make, f"{r}/lib/text.py", "def shout(s):\n    return s.upper()\n")
    git("add", "-A")
    git.commit("fix bug in shout #12")
    git("remote", "add", "origin", "https://git.example/dana/tool.git")
    _change(make, f"{r}/app.py", "print('one')\nprint('two')\nprint('work in progress')\n")
    _change(make, f"{r}/lib/math.py", "def double(x):\n    return x + x\n")
    git("add", "lib/math.py")
    _change(make, f"{r}/scratch.txt", "not tracked\n")
    _change(make, f"{r}/notes/idea.txt", "not tracked either\n")


def _change(make: Maker, path: str, content: str) -> None:
    make.file(path, content)


class _Git:
    """git in one folder, with fixed people and times, so that every hash is the same every time."""

    def __init__(self, folder: str, home: str) -> None:
        self._folder = folder
        self._hour = 9
        self._environment = {
            "PATH": os.environ["PATH"],
            "HOME": home,
            "GIT_CONFIG_NOSYSTEM": "1",
            "TZ": "UTC",
            "LC_ALL": "C",
        }

    def __call__(self, *words: str) -> None:
        when = f"2024-02-0{self._hour - 8}T{self._hour:02}:00:00Z"
        environment = {**self._environment, "GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when}
        subprocess.run(["git", *words], cwd=self._folder, env=environment, check=True, capture_output=True)

    def commit(self, message: str, author: str = "Dana Reed <dana@example.org>") -> None:
        self("commit", "-q", "-m", message, "--author", author)
        self._hour += 1
