"""Runners of packages: what comes from an address or a stranger's repository is code from elsewhere."""

from __future__ import annotations

import itertools

from agent.protocol.decisions import Level, RiskContext
from agent.risk.classifier import classify
from tests.support.each import each

HERE = RiskContext(cwd="/home/u/w", home="/home/u")
ADDRESSES = ("git+https://h.example/u/x", "https://h.example/x", "git+ssh://git@h.example/u/x", "github:u/x")
RUNNERS = (
    "npx {}", "npx -y {} a", "npx -p {} x", "npm exec --package={} x", "npm x {}",
    "pnpm dlx {}", "yarn dlx {}", "bunx {}", "bun x {}", "pipx run {}",
    "pipx run --spec {} x", "uvx {}", "uvx --from {} x", "uv tool run --from {} x", "uv run --with {} x.py", "nix run {}",
    "nix shell {}", "nix develop {}", "deno run {}", "cookiecutter {}",
)  # fmt: skip


@each(("runner", "address"), list(itertools.product(RUNNERS, ADDRESSES)))
def test_an_address_is_code_from_elsewhere(runner: str, address: str) -> None:
    assert classify(runner.format(address), HERE).level is Level.HIGH


@each("runner", [runner for runner in RUNNERS if "cookie" not in runner])
def test_a_name_of_the_registry_stays_medium(runner: str) -> None:
    assert classify(runner.format("cowsay"), HERE).level is Level.MEDIUM


@each(
    ("command", "expected"),
    [
        ("npx user/x", Level.HIGH),
        ("npx @scope/x", Level.MEDIUM),
        ("npx lighthouse https://example.com", Level.MEDIUM),
        ("go run github.com/u/x@latest", Level.HIGH),
        ("go run golang.org/x/tools/cmd/stringer@latest", Level.MEDIUM),
        ("go run ./cmd/x", Level.MEDIUM),
        ("nix run nixpkgs#hello", Level.MEDIUM),
        ("nix run .#x", Level.MEDIUM),
        ("dagger call -m github.com/u/m build", Level.HIGH),
    ],
)
def test_whose_it_is_counts(command: str, expected: Level) -> None:
    assert classify(command, HERE).level is expected
