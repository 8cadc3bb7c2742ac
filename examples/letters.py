"""Hold a conversation by letters: `python examples/letters.py FOLDER PROVIDER [MODEL]`.

FOLDER/prompt.md is the system prompt. FOLDER/in/*.txt are answered in FOLDER/out; files below FOLDER/work are written, no commands run.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

from agent.app.composition import open_conversation
from agent.protocol.confirmations import Confirmation, ConfirmationRequest, Skipped
from agent.protocol.errors import CoreError
from agent.protocol.ports import Provider
from agent.providers.catalog import build_provider, load_catalog
from agent.providers.scripted import Scripted


class Postman:
    async def confirm(self, request: ConfirmationRequest) -> Confirmation:
        return request.as_shown if request.kind == "write" and request.report.level.value != "high" else Skipped()

    async def ask_word(self, request: ConfirmationRequest) -> None: ...


def provider_of(name: str) -> Provider:
    if name.startswith("scripted:"):
        return Scripted.from_file(name.removeprefix("scripted:"))
    entry = load_catalog().entry(name)
    return build_provider(entry, api_key=os.environ.get(entry.key_variable, ""))


async def letters(folder: Path) -> AsyncIterator[Path]:
    while True:
        for letter in sorted(folder.glob("in/*.txt")):
            if not (folder / "out" / letter.name).exists():
                yield letter
        await asyncio.sleep(0.2)


async def correspond(folder: Path, provider: Provider, model: str) -> None:
    prompt, work = (folder / "prompt.md").read_text(), folder / "work"
    talk = open_conversation(provider, system_prompt=prompt, base_path=str(work), confirmer=Postman(), model=model)
    say, done = talk.start, False
    async for letter in letters(folder):
        try:
            output = await say(letter.read_text())
            say, done, files = talk.respond, output.done, output.files_written or ()
            answer = "\n".join((output.text, *(f"(written: {name})" for name in files)))
        except CoreError as error:
            answer = f"That did not work, please write again: {error.terminal_message()}"
        (folder / "out" / letter.name).write_text(answer + "\n")
        if done:
            await talk.close()
            break


if __name__ == "__main__":
    asyncio.run(correspond(Path(sys.argv[1]), provider_of(sys.argv[2]), "".join(sys.argv[3:])))
