"""Modules that child services run in tests."""

from __future__ import annotations

import json
import os
import sys


def main() -> None:
    """Answer with the orders and what there is of the environment; then wait."""
    orders = json.loads(sys.stdin.readline())
    if orders.get("how") == "crash":
        sys.stderr.write("0.1 E loader: \x1b[31mbroken file\n")
        sys.exit(3)
    if orders.get("how") == "wait":
        sys.stdin.read()
        return
    told = {"orders": orders, "environ": sorted(os.environ), "session": os.getsid(0) == os.getpid()}
    print(json.dumps(told), flush=True)
    sys.stdin.read()
