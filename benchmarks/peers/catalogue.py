"""The peers: which package, which version, which interpreter, and how its verdict maps onto low, medium and high."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

ADAPTERS = Path(__file__).parent / "adapters"


@dataclass(frozen=True)
class Peer:
    """One public classifier. `oldest`: the lowest Python minor version of 3 it runs on; `alone`: install without dependencies."""

    name: str
    package: str
    version: str
    adapter: str
    verdicts: str
    how: str
    ecosystem: str = "pypi"
    oldest: int = 11
    alone: bool = False
    environment: dict[str, str] = field(default_factory=dict)


PEERS = (
    Peer("sh-guard", "sh-guard", "0.1.10", "sh_guard.py", "safe / caution / danger, critical", "Rust, syntax tree"),
    Peer(
        "bash-classify",
        "bash-classify",
        "0.14.1",
        "bash_classify.py",
        "LOW / MEDIUM / HIGH",
        "tree-sitter, tables",
        oldest=12,
    ),
    Peer("nah", "nah", "0.11.0", "nah.py", "allow / context, ask / block", "own splitter, action types"),
    Peer("safecmd", "safecmd", "0.1.16", "safecmd.py", "allowed / not allowed / -", "shfmt, allow-list"),
    Peer("seatbelt", "seatbelt-guard", "0.1.5", "seatbelt.py", "allow / ask / deny", "own parser, rules"),
    Peer("whatisit", "whatisit", "0.5.0", "whatisit.py", "- / CAUTION / DANGER", "tokens, rules", alone=True),
    Peer(
        "OpenHands SDK",
        "openhands-sdk",
        "1.58.0",
        "openhands.py",
        "LOW / MEDIUM, UNKNOWN / HIGH",
        "patterns and rails",
        oldest=12,
    ),
    Peer(
        "cc-safety-net strict",
        "cc-safety-net",
        "2.4.5",
        "cc_safety_net.mjs",
        "allow / - / deny",
        "own parser, rules",
        ecosystem="npm",
        environment={"CC_SAFETY_NET_LEVEL": "strict", "CC_SAFETY_NET_STRICT": "1"},
    ),
    Peer(
        "claude-safety-guard",
        "claude-safety-guard",
        "0.2.0",
        "claude_safety_guard.py",
        "allow / warn / block",
        "patterns",
    ),
    Peer("cmd-risk", "cmd-risk", "0.4.0", "cmd_risk.py", "safe / moderate / high, critical", "patterns"),
)
