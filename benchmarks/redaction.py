"""Redaction: recall for each kind of secret, false positives, and its cost, against detect-secrets in the same run.

`python -m benchmarks.redaction [--no-peers] [--kinds]`. The corpus is the tests' own, with other values in each run of a seed;
detect-secrets is installed into a throw-away environment.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

from agent.redaction.redactor import SecretRedactor
from agent.redaction.streams import StreamRedactor
from benchmarks.figures import Figure
from tests.support.redaction_corpus import Case, secrets, survives
from tests.support.redaction_harmless import harmless

PEER = "detect-secrets"
PEER_VERSION = "1.5.0"
SEEDS = (11, 12, 13)
ADAPTER = Path(__file__).parent / "peers" / "detect_secrets_lines.py"


def outputs(count: int = 400) -> list[str]:
    """Texts of 1 kB as programs print them: each of one kind, without secrets."""
    kinds = defaultdict(list)
    for kind, text in harmless(seed=5, each=120):
        kinds[kind].append(text)
    rng = random.Random(7)
    found = []
    while len(found) < count:
        text = "\n".join(rng.sample(lines := kinds[rng.choice(sorted(kinds))], len(lines)))
        found.append((text + "\n" + text)[:1024])
    return found


def known_values(count: int) -> dict[str, str]:
    """So many secrets as they come from an environment."""
    rng = random.Random(9)
    return {f"SECRET_{n}": rng.randbytes(rng.randint(8, 24)).hex() for n in range(count)}


def cpu(function: Callable[[str], object], text: str, times: int = 5) -> float:
    """Microseconds of CPU of the quickest of some calls."""
    best = float("inf")
    for _ in range(times):
        start = time.process_time_ns()
        function(text)
        best = min(best, (time.process_time_ns() - start) / 1000)
    return best


def hostile() -> list[str]:
    """100 kB of the beginnings of secrets, one text for each."""
    from agent.redaction.detector_table import DETECTORS

    anchors = sorted({anchor for detector in DETECTORS for anchor in detector.anchors})
    units = [
        *anchors,
        "password=",
        "token: ",
        "key is ",
        "\\x41",
        "%41",
        "''a",
        "a\\\n",
        "\x1b[m",
        "://a:",
        "eyJ",
        "AAAA",
        "accountkey=ghp_",
    ]
    return [(unit * (100_000 // len(unit) + 1))[:100_000] for unit in units]


class Peer:
    """detect-secrets in an environment of its own. Raises OSError, CalledProcessError where it cannot be had."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder, with_pip=True)
        self._python = folder / "bin" / "python"
        subprocess.run(
            [self._python, "-m", "pip", "install", "-q", f"{PEER}=={PEER_VERSION}"],
            check=True,
            capture_output=True,
            timeout=300,
        )

    def answers(self, texts: Sequence[str], how: str) -> list[dict[str, object]]:
        """What was found in each text, and the microseconds it took."""
        lines = "".join(json.dumps(text) + "\n" for text in texts)
        done = subprocess.run(
            [self._python, "-I", ADAPTER, how],
            input=lines,
            capture_output=True,
            text=True,
            check=True,
            timeout=600,
            env={"PATH": os.environ["PATH"]},
        )
        return [json.loads(line) for line in done.stdout.splitlines()]


def recall_of_peer(cases: Sequence[Case], answers: Sequence[dict[str, object]]) -> tuple[int, dict[str, list[int]]]:
    """How many secrets the peer named at least half of, and [found, all] for each kind."""
    kinds: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for case, answer in zip(cases, answers, strict=True):
        values = [str(value) for value in answer["found"]]  # type: ignore[attr-defined]
        found = any(
            case.secret in value or (value in case.secret and 2 * len(value) >= len(case.secret)) for value in values
        )
        kinds[case.kind][0] += found
        kinds[case.kind][1] += 1
    return sum(found for found, _ in kinds.values()), kinds


def main(arguments: Sequence[str] = ()) -> list[Figure]:
    """Measure, print the kinds where asked, and return the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--kinds", action="store_true", help="recall of each kind")
    options = parser.parse_args(list(arguments))
    redactor = SecretRedactor({}, key=b"k" * 16)
    with_known = SecretRedactor(known_values(50), key=b"k" * 16)
    cases = [case for seed in SEEDS for case in secrets(seed)]
    lines = [text for seed in SEEDS for _, text in harmless(seed, 120)]
    texts = outputs()
    for text in texts:
        with_known.redact(text)
    kinds: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for case in cases:
        kinds[case.kind][0] += not survives(case.secret, redactor.redact(case.text))
        kinds[case.kind][1] += 1
    recall = 100 * sum(found for found, _ in kinds.values()) / len(cases)
    wrong = 1000 * sum(redactor.redact(line) != line for line in lines) / len(lines)
    plain = statistics.median(cpu(redactor.redact, text) for text in texts)
    known = statistics.median(cpu(with_known.redact, text) for text in texts)
    peer_recall = peer_wrong = peer_cost = 0.0
    if not options.no_peers:
        with contextlib.ExitStack() as stack:
            try:
                peer = Peer(Path(stack.enter_context(tempfile.TemporaryDirectory())))
                for how in ("line", "file"):
                    found, of_kinds = recall_of_peer(cases, peer.answers([case.text for case in cases], how))
                    peer_recall = 100 * found / len(cases)
                    peer_wrong = 1000 * sum(bool(answer["found"]) for answer in peer.answers(lines, how)) / len(lines)
                    peer_cost = statistics.median(float(str(answer["us"])) for answer in peer.answers(texts, how))
                    told = f"recall {peer_recall:.1f} %, {peer_wrong:.1f} false positives in 1,000, {peer_cost:,.0f} µs for 1 kB"
                    print(f"  {PEER} {PEER_VERSION}, a {how} at a time: {told}")
                for kind, (got, total) in of_kinds.items():
                    kinds[kind] += [got, total]
            except (OSError, subprocess.SubprocessError) as error:
                print(f"  {PEER} cannot be had here: {str(error)[:120]}", file=sys.stderr)
    if options.kinds:
        for kind, counts in sorted(kinds.items()):
            beside = f"   {PEER} {100 * counts[2] / counts[3]:5.1f} %" if len(counts) == 4 else ""
            print(f"  {kind:24} {counts[1]:5} cases {100 * counts[0] / counts[1]:6.1f} %{beside}")
    long_line = ("".join(texts).replace("\n", " ") * 30)[:10_000_000]
    start = time.process_time()
    stream = StreamRedactor(with_known)
    for at in range(0, len(long_line), 65536):
        stream.feed(long_line[at : at + 65536])
    stream.close()
    long_seconds = time.process_time() - start
    worst = max(cpu(with_known.redact, text, times=1) for text in hostile()) / 1000
    return [
        Figure(f"recall, {len(cases):,} secrets in context", recall, peer_recall, "%", ">= 99 %", recall >= 99, PEER),
        Figure(
            f"false positives in {len(lines):,} harmless lines",
            wrong,
            peer_wrong,
            "per 1,000",
            "<= 1",
            wrong <= 1,
            PEER,
        ),
        Figure("1 kB of ordinary output, median", plain, peer_cost, "µs CPU", "<= 60", plain <= 60, PEER),
        Figure("1 kB with 50 known values, median", known, 0, "µs CPU", "<= 80", known <= 80),
        Figure("a line of 10 MB, in pieces", long_seconds, 0, "s CPU", "<= 5", long_seconds <= 5),
        Figure("100 kB of nothing but beginnings, worst", worst, 0, "ms CPU", "<= 1500", worst <= 1500),
    ]


if __name__ == "__main__":
    missed = 0
    for figure in main(sys.argv[1:]):
        print(figure)
        missed += not figure.holds
    sys.exit(1 if missed else 0)
