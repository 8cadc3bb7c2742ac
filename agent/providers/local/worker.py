"""Run as the process that holds a model: read orders as one JSON line, load the file, say where it listens, end with the input.

It is a process of its own because llama.cpp holds the interpreter while it loads, and because what it reads is anybody's file: a crash
ends this process and nothing else. It listens on 127.0.0.1 only, and answers only to who knows the key of its orders.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any


def main() -> None:
    """Orders: `file`, `name`, `context` (tokens), `threads`, `key`. Answers `{"url"}` or `{"error"}`, one line."""
    _without_core_files()
    orders = json.loads(sys.stdin.readline())
    # Whatever the library prints belongs to nobody's terminal; its last words are read where it fails.
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    try:
        server = _server(orders)
    except ImportError as error:
        return _say(answer, {"error": f"the library cannot be loaded: {error}", "missing": True})
    except Exception as error:  # anything that a native library throws
        return _say(answer, {"error": str(error) or type(error).__name__})
    _say(answer, {"url": f"{server.listening_address}/v1"})
    sys.stdin.read()  # until whoever started us is gone
    os._exit(0)  # without waiting for what is still being computed


def _server(orders: dict[str, Any]) -> Any:
    import importlib

    xllamacpp: Any = importlib.import_module("xllamacpp")  # an extra: not there for everybody

    params = xllamacpp.CommonParams()
    params.model.path = orders["file"]
    params.model_alias = {orders["name"]}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [orders["key"]]
    params.n_ctx = orders["context"]
    params.n_parallel = 1
    params.cpuparams.n_threads = orders["threads"]
    params.cpuparams_batch.n_threads = orders["threads"]
    params.cache_ram_mib = 0
    params.warmup = False
    params.endpoint_slots = False
    params.ui = False
    params.verbosity = 1
    return xllamacpp.Server(params)


def _without_core_files() -> None:
    """A core file would hold what the model was told."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, ValueError, OSError):
        pass


def _say(answer: Any, value: dict[str, Any]) -> None:
    answer.write(json.dumps(value) + "\n")
    answer.flush()


if __name__ == "__main__":
    main()
