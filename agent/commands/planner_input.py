"""`:file`, `:prompt`, `:empty`, `:compress`: choose what the planner gets beside a goal, and keeps of what it was told."""

from __future__ import annotations

import asyncio
import base64
import os
import shlex
import stat

from agent.commands.context import Change, CommandContext, DispatchOutcome
from agent.commands.definition import Definition, only
from agent.protocol.commands import CompressSession, EmptySession, IncludeFiles, UsePrompt
from agent.protocol.errors import InvalidRequest, InvalidState, IoError, NotFound
from agent.protocol.messages import FileInput, MediaInput, UserInput
from agent.text.sizes import counted

_MAX_FILE_BYTES = 256 * 1024
_MAX_IMAGE_BYTES = 3_750_000  # five million characters of base64: what the strictest of the large providers takes
_MAX_IMAGES = 8


async def include_files(context: CommandContext, arguments: IncludeFiles) -> DispatchOutcome:
    """Raises NotFound, IoError, InvalidRequest."""
    cwd = context.session.cwd
    files, media = await asyncio.to_thread(read_files, arguments.paths, cwd)
    if len(media) + len(context.session.pending_media) > _MAX_IMAGES:
        raise InvalidRequest(f"a goal comes with {_MAX_IMAGES} images at most")
    names, data = ", ".join(arguments.paths), {"files": list(arguments.paths)}
    if arguments.trailing_text:
        given = UserInput(text=arguments.trailing_text, files=files, media=media)
        return DispatchOutcome(f"with {names}", data, inject_input=given)
    pending = [*context.session.pending_files, *files]
    images = [*context.session.pending_media, *media]
    values = {"pending_files": pending, "pending_media": images}
    paths = (*(file.path for file in pending), *(image.path for image in images))
    attached = Change("files", ", ".join(paths), values)
    return DispatchOutcome(f"the next goal comes with {names}", data, changes=(attached,))


def read_files(paths: tuple[str, ...], cwd: str) -> tuple[tuple[FileInput, ...], tuple[MediaInput, ...]]:
    """Texts and images for the planner. Raises NotFound, IoError, InvalidRequest."""
    read = [_read(path, cwd) for path in paths]
    files = tuple(each for each in read if isinstance(each, FileInput))
    return files, tuple(each for each in read if isinstance(each, MediaInput))


def _read(path: str, cwd: str) -> FileInput | MediaInput:
    """A text file, capped; or an image, by its content."""
    from agent.text.images import image_type

    full = os.path.join(cwd or os.getcwd(), os.path.expanduser(path))
    try:
        if not stat.S_ISREG(os.stat(full).st_mode):
            raise IoError(f"{path} is not a regular file")
        with open(full, "rb") as file:
            data = file.read(_MAX_FILE_BYTES + 1)
            if (media_type := image_type(data)) is not None:
                return _image(path, media_type, data + file.read(_MAX_IMAGE_BYTES + 1 - len(data)))
    except (FileNotFoundError, NotADirectoryError):
        raise NotFound("file", path) from None
    except (OSError, ValueError) as error:
        raise IoError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None
    text = data[:_MAX_FILE_BYTES].decode("utf-8", "replace")
    if len(data) > _MAX_FILE_BYTES:
        from agent.redaction.streams import end_of_kept

        text = text[: end_of_kept(text)]  # half a secret would not be known for one
        text += f"\n[… only the first {_MAX_FILE_BYTES // 1024} KiB are shown …]"
    return FileInput(path=path, content=text)


def _image(path: str, media_type: str, data: bytes) -> MediaInput:
    """Raises InvalidRequest for what no model takes."""
    if not media_type:
        raise InvalidRequest(
            f"{path} is an image of another type than PNG, JPEG, GIF and WebP", hint="convert it first"
        )
    if len(data) > _MAX_IMAGE_BYTES:
        words = f"{path} is larger than {_MAX_IMAGE_BYTES / 1e6:.2f} MB, which is the most that an image may have"
        raise InvalidRequest(words, hint="make it smaller first")
    return MediaInput(path=path, media_type=media_type, data=base64.b64encode(data).decode())


def _paths(rest: str) -> IncludeFiles:
    """`a.txt 'b c.txt' -- question`: paths as shell words, then an optional question."""
    try:
        words = shlex.split(rest)
    except ValueError as error:
        raise InvalidRequest(f"cannot read the file names: {error}") from None
    if "--" in words:
        cut = words.index("--")
        return IncludeFiles(tuple(words[:cut]), " ".join(words[cut + 1 :]) or None)
    if not words:
        raise InvalidRequest("name the files, as in `:file notes.txt -- what is this about?`")
    return IncludeFiles(tuple(words))


async def prompt(context: CommandContext, arguments: UsePrompt) -> DispatchOutcome:
    return DispatchOutcome(inject_input=UserInput.from_text(arguments.text))


def _text(rest: str) -> UsePrompt:
    if not rest:
        raise InvalidRequest("give the text to send")
    return UsePrompt(rest)


async def empty(context: CommandContext, arguments: EmptySession) -> DispatchOutcome:
    count = len(context.session.history)
    emptied = Change("history", "", {"history": []}, before=f"{count} items")
    return DispatchOutcome("the planner starts afresh; the log stays", {"forgotten": count}, changes=(emptied,))


async def compress(context: CommandContext, arguments: CompressSession) -> DispatchOutcome:
    """Raises InvalidState, Cancelled, RecordingError."""
    saved = await context.compress()
    if saved is None:
        raise InvalidState(
            expected="goals before the last one",
            found="none",
            message="there is nothing to compress: the last goal stays",
        )
    text = f"the planner is told less: {counted(saved, 'token')} saved; the log stays"
    return DispatchOutcome(text, {"tokens_saved": saved}, compressed=True)


COMMANDS = (
    Definition(
        names=("file",),
        arguments="PATH... [-- GOAL]",
        help="show files and images to the planner",
        examples=(":file notes.txt", ":file notes.txt -- what is this about?"),
        read=_paths,
        core=(IncludeFiles,),
        handle=include_files,
    ),
    Definition(
        names=("prompt",),
        arguments="TEXT",
        help="send TEXT as a goal, whatever it looks like",
        examples=(":prompt :q means what in vi?",),
        read=_text,
        core=(UsePrompt,),
        handle=prompt,
    ),
    Definition(
        names=("empty",),
        help="forget what the planner was told so far",
        examples=(":empty",),
        read=only(make=EmptySession),
        core=(EmptySession,),
        handle=empty,
        line=(":empty, :compress, :forget", "drop, shorten history; drop commands; :copy one"),
    ),
    Definition(
        names=("compress",),
        arguments="[session]",
        help="shorten what the planner was told to a summary and the newest goals",
        examples=(":compress",),
        read=only("session", make=CompressSession, message=":compress takes no argument"),
        core=(CompressSession,),
        handle=compress,
        choices=("session",),
    ),
)
