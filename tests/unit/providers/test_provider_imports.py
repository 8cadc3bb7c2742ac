"""Nothing heavy is loaded before a model is really asked."""

from __future__ import annotations

import subprocess
import sys

MODULES = "catalog discover openai_chat anthropic scripted http"


def test_modules_load_neither_the_http_library_nor_tls() -> None:
    code = (
        "import sys, importlib\n"
        f"for name in {MODULES.split()!r}: importlib.import_module('agent.providers.' + name)\n"
        "from agent.providers.catalog import build_provider, load_catalog\n"
        "build_provider(load_catalog().entry('openrouter'), api_key='k')\n"
        "print(sorted({'httpx', 'httpcore', 'h11', 'anyio', 'certifi', 'email', 'rich', 'click'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
