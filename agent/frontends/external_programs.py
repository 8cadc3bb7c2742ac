"""Start programs that a person uses beside the prompt: editor, pager, clipboard."""

from __future__ import annotations

import base64
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from agent.protocol.execution import Processes

if TYPE_CHECKING:
    from agent.frontends.screen import Screen

_READ = (0, 129, 130, 131, 143)  # the pager showed it, and was left, or ended with us
_MAX_EDITED = 1_000_000
_MAX_OSC52 = 74_000  # what terminals take in one escape sequence
_CLIPBOARD_TOOLS = {"WAYLAND_DISPLAY": "wl-copy", "DISPLAY": "xclip -selection clipboard"}


def editor_words(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The person's editor as words; empty where none can be found."""
    for name in ("VISUAL", "EDITOR"):
        try:
            words = shlex.split(environ.get(name, ""))
        except ValueError:
            continue
        if words:
            return tuple(words)
    return next(((found,) for name in ("nano", "vim", "vi") if (found := shutil.which(name))), ())


async def edit_text(text: str, processes: Processes, environ: Mapping[str, str], *, name: str) -> tuple[str, str]:
    """`text` after the person edited it, and "" or why it is unchanged."""
    words = editor_words(environ)
    if not words:
        return text, "no editor found; set EDITOR"
    with private_file(text, name) as path:
        try:
            code = await processes.run_attached((*words, *_careful(words[0]), path))
            if code != 0:
                return text, f"the editor ended with exit code {code}; nothing was changed"
            edited = _read_back(path)
        except OSError as error:
            return text, f"the editor could not be used: {error.strerror or error}"
    if edited is None:
        return text, "what came back is larger than 1 MB; nothing was changed"
    return edited if text.endswith("\n") else edited.removesuffix("\n"), ""


def _careful(program: str) -> tuple[str, ...]:
    """The text is a stranger's: vim must not take settings from it, under whatever name it is installed."""
    names = {os.path.basename(program), os.path.basename(os.path.realpath(shutil.which(program) or program))}
    is_vim = any(name.startswith(("vim", "nvim", "gvim")) for name in names)
    return ("--cmd", "set nomodeline modelines=0") if is_vim else ()


def _read_back(path: str) -> str | None:
    if os.stat(path).st_size > _MAX_EDITED:
        return None
    with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
        return file.read()


async def edit_file(path: str, processes: Processes, environ: Mapping[str, str]) -> str:
    """Open an existing or new file in the person's editor; "" or what went wrong."""
    words = editor_words(environ)
    if not words:
        return "no editor found; set EDITOR"
    try:
        code = await processes.run_attached((*words, path))
    except OSError as error:
        return f"the editor could not be started: {error.strerror or error}"
    return f"the editor ended with exit code {code}" if code else ""


async def show_long(
    text: str, screen: Screen, processes: Processes, environ: Mapping[str, str], *, title: str = ""
) -> None:
    """Print `text` (made visible before), through the pager where it does not fit on the screen. `title`: what it is, as `:help`."""
    lines = text.split("\n")
    rows = sum(max(1, -(-len(line) // screen.columns)) for line in lines)
    words = pager_words(environ)
    if rows < screen.rows - 2 or screen.dumb or not screen.is_terminal or not words:
        screen.say(text)
        return
    with private_file(text + "\n", "text") as path:  # a pager that only prints must not leave the cursor in a line
        try:
            code = await processes.run_attached((*_titled(words, title), path))
        except OSError:
            code = 127
    if code not in _READ:
        screen.say(text)


def _titled(words: tuple[str, ...], title: str) -> tuple[str, ...]:
    """Less with a title in the place of a temporary file's name; it starts and writes nothing: the text may be a stranger's."""
    program = os.path.basename(os.path.realpath(shutil.which(words[0]) or words[0]))
    env = shutil.which("env")
    if program != "less" or env is None:
        return words
    named = re.sub(r"([?:.%\\])", r"\\\1", f"agent-shell {title}".strip())
    return (env, "LESSSECURE=1", *words, *(f"-P{kind}{named}  ?e(end):%pB\\%.  q\\: back" for kind in "smM="))


def pager_words(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The person's pager as words; empty where none can be found, or where it would only print."""
    try:
        words = shlex.split(environ.get("PAGER", ""))
    except ValueError:
        words = []
    if words and shutil.which(words[0]):
        return () if words == ["cat"] else tuple(words)
    less = shutil.which("less")
    return (less, "-R") if less else ()


async def copy_text(text: str, screen: Screen, processes: Processes, environ: Mapping[str, str]) -> str:
    """Put `text` on the clipboard by the terminal (OSC 52) and by a clipboard tool; what was done, in words."""
    data = text.encode("utf-8", "replace")
    ways = []
    if screen.is_terminal and not screen.dumb and len(data) * 4 // 3 < _MAX_OSC52:
        screen.output.write_raw(f"\x1b]52;c;{base64.b64encode(data).decode('ascii')}\x07")
        screen.output.flush()
        ways.append("the terminal")
    tool = _clipboard_tool(environ)
    if tool:
        with private_file(text, "copy") as path:
            # The tool may stay in the background to serve the clipboard, so it must not hold our pipe.
            script = f'exec {tool} < "$1" > /dev/null 2>&1'
            code, _ = await processes.capture(("/bin/sh", "-c", script, "sh", path), timeout=2.0)
        if code == 0:
            ways.append(tool.split()[0])
    if not ways:
        return "not copied: no clipboard was found"
    return f"copied {len(text):,} characters by {' and '.join(ways)}"


async def open_page(url: str, processes: Processes, environ: Mapping[str, str]) -> None:
    """Show a page in the person's browser where there is a desktop; its address stands on the screen in any case."""
    has_desktop = sys.platform == "darwin" or any(environ.get(name) for name in _CLIPBOARD_TOOLS)
    opener = shutil.which("open" if sys.platform == "darwin" else "xdg-open")
    if has_desktop and opener:
        # The browser may be what it starts, and stay.
        await processes.capture(("/bin/sh", "-c", '"$@" > /dev/null 2>&1 &', "sh", opener, url), timeout=2.0)


def _clipboard_tool(environ: Mapping[str, str]) -> str:
    for variable, tool in _CLIPBOARD_TOOLS.items():
        if environ.get(variable) and shutil.which(tool.split()[0]):
            return tool
    return "pbcopy" if shutil.which("pbcopy") else ""


@contextmanager
def private_file(text: str, name: str) -> Iterator[str]:
    """The path of a 0600 file called `name` with `text` in it, in a 0700 folder of its own."""
    folder = tempfile.mkdtemp(prefix="agent-shell-")
    path = os.path.join(folder, name)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode("utf-8", "surrogateescape" if _escapable(text) else "replace"))
        yield path
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _escapable(text: str) -> bool:
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return True
