#!/usr/bin/env python3
"""Rename or move files and folders of a repository, and print what became of each as one JSON object: ok, summary, results.

Operations are pairs of paths, or JSON on standard input: a list of {"from_path", "to_path"}, or an object with `operations`, `overwrite`
and `dry_run`. All are checked before the first is done. Ends with 0, with 1 where something was not done, with 2 where nothing could be
read.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from agent.execution.file_performer import FilePerformer
from agent.execution.processes import HostProcesses
from agent.protocol.actions import FileAction, OpenPullRequest, Performed, RenameFile
from agent.protocol.approvals import ApprovedFileAction, Consent, RatedAction
from agent.protocol.decisions import RiskContext
from agent.protocol.errors import IoError
from agent.protocol.messages import CommandItem
from agent.repo_agent.repository import Repository
from agent.repo_agent.tools.registry import AgentTools
from agent.repo_agent.workplace import Workplace
from agent.risk.file_actions import rate_action


class _AsAsked:
    """Doors of the person who runs this program: what they asked for, they have agreed to."""

    def __init__(self, workspace: str) -> None:
        self._context = RiskContext(cwd=workspace, workspace=workspace, home=os.path.expanduser("~"))
        self._performer = FilePerformer()

    async def perform(self, action: FileAction | OpenPullRequest) -> Performed:
        assert isinstance(action, RenameFile)
        try:
            seen = self._performer.look(action).seen
            rated = RatedAction(action=action, report=rate_action(action, self._context), seen=seen)
            consent = Consent(by="person", word_typed=True)
            self._performer.perform(ApprovedFileAction(command_id="1", rated=rated, consent=consent))
        except IoError as error:
            return Performed(outcome="failed", remark=error.message)
        return Performed(outcome="ran")

    async def run(self, command: str, *, reason: str = "", grant: str = "") -> CommandItem:
        raise NotImplementedError("a rename runs no command")


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repo", default=".", metavar="DIR", help="the repository (this folder)")
    parser.add_argument("--overwrite", action="store_true", help="replace files and folders that are there already")
    parser.add_argument("--dry-run", action="store_true", help="check and tell, change nothing")
    parser.add_argument("paths", nargs="*", metavar="FROM TO", help="pairs of paths; without them JSON is read")
    options = parser.parse_args(argv)
    if len(options.paths) % 2:
        parser.error("each FROM needs a TO")
    pairs = zip(options.paths[::2], options.paths[1::2], strict=True)
    asked: Any = [{"from_path": source, "to_path": target} for source, target in pairs]
    try:
        asked = asked or json.load(sys.stdin)
    except ValueError as error:
        parser.error(f"standard input is no JSON: {error}")
    arguments = asked if isinstance(asked, dict) else {"operations": asked}
    arguments |= {"overwrite": True} if options.overwrite else {}
    arguments |= {"dry_run": True} if options.dry_run else {}
    root = os.path.realpath(options.repo)
    tools = AgentTools(Workplace(task=0, repository=Repository(HostProcesses(), root)), _AsAsked(root))
    result = asyncio.run(tools.call("rename_files", **arguments))
    if not result.content.startswith("{"):
        parser.error(result.content)
    print(result.content)
    return int(result.is_error)


if __name__ == "__main__":
    sys.exit(main())
