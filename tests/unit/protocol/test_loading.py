"""msgspec is loaded without modules that few processes need, and who needs one finds it as ever."""

from __future__ import annotations

import subprocess
import sys

from tests.support.each import each

_LATER = ("platform", "textwrap", "msgspec.inspect", "datetime", "typing_extensions")


def said(script: str) -> str:
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout


def test_what_few_processes_need_is_not_loaded() -> None:
    assert said(f"import sys, agent.protocol; print(*sys.modules.keys() & {set(_LATER)})") == "\n"


@each(
    "use",
    [
        "platform.system()",
        "textwrap.dedent(' a')",
        "msgspec.inspect.type_info(Row).fields[0].name",
        "msgspec.json.schema(Row)",
        "msgspec.convert('2026-11-28T11:20:19Z', datetime.datetime)",
        "msgspec.convert('12:00:00', datetime.time)",
        "msgspec.json.encode([uuid.UUID(int=1), decimal.Decimal('1.5'), datetime.timedelta(1), datetime.timezone.utc.utcoffset(None)])",
    ],
)
def test_what_needs_them_is_as_without_us(use: str) -> None:
    there = "import datetime, decimal, msgspec, msgspec.inspect, platform, textwrap, uuid\n"
    row = 'class Row(msgspec.Struct):\n    """Said."""\n\n    name: str\n'
    assert said(f"import agent.protocol\n{there}{row}print({use})") == said(f"{there}{row}print({use})")


def test_what_is_there_already_stays() -> None:
    first = "import sys, platform, textwrap, datetime\nwas = dict(sys.modules)\n"
    script = f"{first}import agent.protocol\nprint(was.items() <= sys.modules.items())"
    assert said(script) == "True\n"


def test_threads_that_ask_at_once_find_the_same_module() -> None:
    script = (
        "import agent.protocol, msgspec\nfrom concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor(8) as pool:\n"
        "    found = list(pool.map(lambda _: msgspec.inspect.type_info, range(8)))\n"
        "import msgspec.inspect\nprint({*found} == {msgspec.inspect.type_info})"
    )
    assert said(script) == "True\n"
