"""`agent-shell sessions import`: a database for other programs, made from the logs and brought up to date."""

from __future__ import annotations

import glob
import os
import sys
from typing import TYPE_CHECKING

import msgspec

from agent.audit.importing.project import Imported, import_sessions
from agent.audit.importing.store import open_store
from agent.audit.sql.sources import Source, find_sources, sessions_of
from agent.config.paths import make_folder, state_dir
from agent.emitters.console import complain, print_rows, say
from agent.emitters.streams import sink_of
from agent.frontends.session_naming import session_folder
from agent.protocol.errors import InvalidRequest
from agent.text.shown import shown_line
from agent.text.sizes import counted

if TYPE_CHECKING:
    import argparse

    from agent.frontends.services import Services

DATABASE = "audit.sqlite3"
"""In the state folder. It is not the search index, which lies beside the logs."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="log files, folders or quoted patterns; default: your own logs"
    )
    parser.add_argument(
        "--to",
        metavar="URL",
        help=f"a file, sqlite:///PATH or postgresql://HOST/NAME (default: {DATABASE} in the state folder)",
    )
    parser.add_argument(
        "--to-env", metavar="NAME", help="the variable that holds the URL: arguments can be seen by others"
    )
    parser.add_argument("--rebuild", action="store_true", help="rebuild the tables")


async def run(services: Services, options: argparse.Namespace) -> int:
    """Import; 0. Raises CoreError, EmitError."""
    target = _target(services, options)
    sources = find_sources(options.paths, default=session_folder(services), here=os.uname().nodename)
    sessions = sessions_of(sources)
    folders = _whole_folders(services, options.paths, sources)
    store = open_store(target)
    try:
        done = import_sessions(store, sessions, folders, rebuild=options.rebuild)
    finally:
        store.close()
    _tell(done, store.shown, json=services.settings.json)
    return 0


def _target(services: Services, options: argparse.Namespace) -> str:
    if options.to and options.to_env:
        raise InvalidRequest("--to and --to-env both name the database; give one")
    if options.to_env:
        if not services.loaded.environ.get(options.to_env):
            raise InvalidRequest(f"there is no variable {shown_line(options.to_env, 80)}")
        return services.loaded.environ[options.to_env]
    if options.to:
        return str(options.to)
    folder = state_dir(services.loaded.environ)
    make_folder(folder)
    return os.path.join(folder, DATABASE)


def _whole_folders(services: Services, paths: list[str], sources: list[Source]) -> list[str]:
    """Folders that are imported whole: what is gone from them goes from the database, too. Those of single files are not."""
    if not paths:
        paths = [session_folder(services)]
    named = [
        match
        for each in paths
        for path in [os.path.abspath(os.path.expanduser(each))]
        for match in glob.glob(path) or [path]
    ]
    files = {path for path in named if os.path.isfile(path)}
    folders = {os.path.dirname(source.path) for source in sources if source.path not in files}
    return sorted(folders | {path for path in named if os.path.isdir(path)})


def _tell(done: Imported, target: str, *, json: bool) -> None:
    if json:
        print_rows([{"database": target, **msgspec.to_builtins(done)}], json=True, out=sink_of(sys.stdout))
        return
    say(
        f"{counted(done.sessions, 'session')}: {done.new:,} new, {done.changed:,} changed, {done.removed:,} gone; "
        f"{counted(done.events, 'event')} into {shown_line(target)}"
    )
    if done.unreadable:
        lines = (
            "1 line is no event and was"
            if done.unreadable == 1
            else f"{done.unreadable:,} lines are no events and were"
        )
        complain(f"agent-shell: {lines} left out", style="yellow")
