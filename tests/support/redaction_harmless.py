"""Harmless text of many kinds that looks like secrets to a careless eye; made at test time, the same for the same seed."""

# ruff: noqa: E501  (one kind a line)

from __future__ import annotations

import base64
import random
import uuid
from collections.abc import Callable

from tests.support.redaction_corpus import FOLDER, WORDS, made

Maker = Callable[[random.Random], str]


def _hex(rng: random.Random, size: int) -> str:
    return f"{rng.getrandbits(size * 4):0{size}x}"


def _b64(rng: random.Random, size: int, *, url: bool = False) -> str:
    encode = base64.urlsafe_b64encode if url else base64.b64encode
    return encode(rng.randbytes(size)).decode()


def _words(rng: random.Random, count: int) -> str:
    return " ".join(rng.choices(WORDS, k=count))


def _name(rng: random.Random) -> str:
    return f"{rng.choice(WORDS)}{rng.choice(['-', '_', '.', ''])}{rng.choice(WORDS)}"


def _time(rng: random.Random) -> str:
    return f"2026-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}T{rng.randint(0, 23):02d}:{rng.randint(0, 59):02d}:{rng.randint(0, 59):02d}"


def _package(rng: random.Random) -> str:
    return f"{_name(rng)} {rng.randint(0, 30)}.{rng.randint(0, 30)}.{rng.randint(0, 99)}"


def _code(rng: random.Random) -> str:
    key = rng.choice(["token", "password", "secret", "api_key", "key", "credentials", "apiKey", "accessToken"])
    return rng.choice(
        [
            f"    {key} = get_{key}(request)", f"    self.{key} = {key}", f"if not {key}:", f"{key}: str | None = None",
            f"def set_{key}(self, {key}: str) -> None:", f"const {key} = process.env.{key.upper()};", f"let {key} = await fetch{key}();",
            f"    raise ValueError('{key} is missing')", f"return {{ {key}: this.{key} }};", f"{key}={{props.{key}}}",
            f"    parser.add_argument('--{key}', help='the {key} to use')", f"{key} = config['{key}']", f"type {key} struct {{",
            f"    {key}=os.environ.get('{key.upper()}'),", f"# the {key} is read from the environment", f"assert {key} == other.{key}",
            f"--{key} <{key}>   the {key} of the service", f"{key}: ${{{{ secrets.{key.upper()} }}}}", f"{key}=$(cat /run/secrets/{key})",
            f"    \"{key}\": \"string\",", f"  {key}:\n    description: the {key}", f"{key.upper()}=", f"{key} := r.Header.Get(\"{key}\")",
            f"$table->string('{key}');", f"<label for=\"{key}\">{key}</label>", f"printf(\"{key}: %s\\n\", {key});",
            f"        {key}_count += 1", f"{key}s = [t for t in tokens if t.type == TokenType.{key.upper()}]",
        ]
    )  # fmt: skip


def _prose(rng: random.Random) -> str:
    word = rng.choice(["password", "token", "secret", "key", "API key", "credentials", "passphrase"])
    rest = rng.choice(
        [
            f"is stored in {_name(rng)}", "must have at least 12 characters", f"expired on {_time(rng)}", "was rejected by the server",
            f"is required for {_name(rng)}", "has been rotated", "does not match", "is invalid or expired (error 401)",
            f"for {_name(rng)} not found", "will expire in 24 hours", "authentication failed", f"is in section {rng.randint(1, 9)}.{rng.randint(1, 9)}",
            f": see {_name(rng)}.md", "is never written to disk", f"of user {rng.choice(WORDS)}{rng.randint(1, 99)} changed",
        ]
    )  # fmt: skip
    return f"{rng.choice(['The', 'Your', 'the', 'This', 'error: the', 'warning:'])} {word} {rest}"


KINDS: dict[str, Maker] = {
    "git log": lambda r: r.choice([f"commit {_hex(r, 40)}", f"{_hex(r, 7)} {_words(r, 5)}", f"Merge: {_hex(r, 7)} {_hex(r, 7)}"]),
    "git diff": lambda r: r.choice([f"index {_hex(r, 7)}..{_hex(r, 7)} 100644", f"diff --git a/{_name(r)}.py b/{_name(r)}.py", "+" + _code(r)]),
    "git ls-remote": lambda r: f"{_hex(r, 40)}\trefs/heads/{_name(r)}",
    "uuid": lambda r: f"id={uuid.UUID(int=r.getrandbits(128))} {_words(r, 2)}",
    "checksums": lambda r: f"{_hex(r, r.choice([32, 40, 64, 128]))}  {_name(r)}.tar.gz",
    "npm lock": lambda r: f'      "integrity": "sha512-{_b64(r, 64)}",',
    "yarn lock": lambda r: f'  resolved "https://registry.yarnpkg.com/{_name(r)}/-/{_name(r)}-1.2.3.tgz#{_hex(r, 40)}"',
    "cargo lock": lambda r: f'checksum = "{_hex(r, 64)}"',
    "poetry lock": lambda r: f'    {{file = "{_name(r)}-1.0-py3-none-any.whl", hash = "sha256:{_hex(r, 64)}"}},',
    "go sum": lambda r: f"github.com/{_name(r)}/{_name(r)} v1.2.3 h1:{_b64(r, 32)}",
    "pip hashes": lambda r: f"    --hash=sha256:{_hex(r, 64)} \\",
    "docker images": lambda r: f"{_name(r)}  latest  {_hex(r, 12)}  2 weeks ago  {r.randint(10, 900)}MB",
    "docker digest": lambda r: f"{_name(r)}@sha256:{_hex(r, 64)}",
    "docker build": lambda r: f"#{r.randint(1, 30)} sha256:{_hex(r, 64)} {r.randint(1, 90)}.{r.randint(10, 99)}MB / 91.20MB {r.randint(1, 9)}.1s",
    "ssh public key": lambda r: f"ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAB{_b64(r, 258)} {r.choice(WORDS)}@host",
    "ssh ed25519": lambda r: f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{_b64(r, 30)} {r.choice(WORDS)}@host",
    "ssh fingerprint": lambda r: f"256 SHA256:{_b64(r, 32)[:43]} {r.choice(WORDS)}@host (ED25519)",
    "ssh log": lambda r: f"debug1: Offering public key: /home/u/.ssh/id_ed25519 ED25519 SHA256:{_b64(r, 32)[:43]} agent",
    "known hosts": lambda r: f"|1|{_b64(r, 20)}|{_b64(r, 20)} ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{_b64(r, 30)}",
    "gpg": lambda r: r.choice([f"pub   rsa4096/0x{_hex(r, 16).upper()} 2026-01-02 [SC]", f"Primary key fingerprint: {_hex(r, 40).upper()}",
                               f"gpg: Signature made with RSA key {_hex(r, 40).upper()}", f"gpg: using EDDSA key {_hex(r, 40).upper()}"]),
    "certificate": lambda r: _b64(r, 48),
    "picture": lambda r: f'<img src="data:image/png;base64,iVBORw0KGgo{_b64(r, 300)}">',
    "css picture": lambda r: f".a{{background:url(data:image/svg+xml;base64,PHN2Zy{_b64(r, 90)})}}",
    "hexdump": lambda r: f"{r.randint(0, 4000) * 16:08x}  {' '.join(_hex(r, 2) for _ in range(8))}  {' '.join(_hex(r, 2) for _ in range(8))}  |................|",
    "xxd": lambda r: f"{r.randint(0, 4000) * 16:08x}: {' '.join(_hex(r, 4) for _ in range(8))}  {r.choice(WORDS)}..........",
    "ls -l": lambda r: f"-rw-r--r-- 1 {r.choice(WORDS)} users {r.randint(1, 9999999):>9} Jan {r.randint(1, 28):>2} 12:{r.randint(10, 59)} {_name(r)}-{_hex(r, 8)}.txt",
    "ls secrets": lambda r: f"drwx------ 2 u u 4096 Mar  1 2026 {r.choice(['token', 'secret', 'password', 'key', 'credentials'])}-{_name(r)}-{r.randint(1, 99)}",
    "journal": lambda r: f"Jan {r.randint(1, 28):>2} 12:00:{r.randint(10, 59)} host {r.choice(WORDS)}[{r.randint(1, 99999)}]: {_words(r, 6)} (boot {_hex(r, 32)})",
    "systemd": lambda r: f"   Invocation: {_hex(r, 32)}",
    "ps": lambda r: f"{r.choice(WORDS):<8} {r.randint(1, 99999):>7}  0.{r.randint(0, 9)}  1.{r.randint(0, 9)} {r.randint(1, 999999)} ?  Ssl  12:0{r.randint(0, 9)}  0:00 /usr/bin/{_name(r)} --{_name(r)}={r.randint(1, 99)}",
    "kubernetes": lambda r: f"{_name(r)}-{_hex(r, 10)}-{made('{low:5}', r)}   1/1   Running   0   {r.randint(1, 99)}d",
    "aws": lambda r: r.choice([f"arn:aws:iam::{r.randint(10**11, 10**12 - 1)}:role/{_name(r)}", f"i-0{_hex(r, 16)}", f"sg-{_hex(r, 17)} vpc-{_hex(r, 17)} subnet-{_hex(r, 17)}"]),
    "nix": lambda r: f"/nix/store/{made('{low:32}', r)}-{_name(r)}-1.2.3/bin",
    "etag": lambda r: r.choice([f'< ETag: "{_hex(r, 32)}-{r.randint(1, 9)}"', f"< X-Request-Id: {uuid.UUID(int=r.getrandbits(128))}", f"< CF-RAY: {_hex(r, 16)}-FRA"]),
    "trace": lambda r: f'{{"level":"info","traceId":"{_hex(r, 32)}","spanId":"{_hex(r, 16)}","msg":"{_words(r, 3)}","ts":{r.randint(10**12, 2 * 10**12)}}}',
    "message id": lambda r: f"Message-ID: <{_b64(r, 24, url=True)}@mail.example.com>",
    "minified": lambda r: ";".join(f"var {chr(97 + r.randint(0, 25))}={chr(97 + r.randint(0, 25))}.{r.choice(WORDS)}({r.randint(0, 999)},\"{r.choice(WORDS)}\")" for _ in range(12)),
    "webpack": lambda r: f"assets/{_name(r)}.{_hex(r, 8)}.chunk.js   {r.randint(1, 900)} kB │ gzip: {r.randint(1, 99)}.{r.randint(10, 99)} kB",
    "source map": lambda r: f'"mappings":"{";".join(made("{an:4}", r) + "," + made("{an:5}", r) for _ in range(40))}"',
    "urls": lambda r: f"https://{r.choice(WORDS)}.example.com/{_name(r)}/{_name(r)}?page={r.randint(1, 99)}&id={_hex(r, 12)}#L{r.randint(1, 999)}",
    "packages": lambda r: f"ii  {_name(r)}:amd64  {r.randint(0, 9)}.{r.randint(0, 99)}-{r.randint(1, 9)}ubuntu{r.randint(1, 9)}  amd64  {_words(r, 5)}",
    "pip": lambda r: f"Collecting {_name(r)}>={r.randint(1, 9)}.{r.randint(0, 9)} Downloading {_name(r)}-{r.randint(1, 9)}.{r.randint(0, 9)}-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
    "tests": lambda r: f"tests/{_name(r)}.py::test_{r.choice(['token', 'password', 'secret', 'key'])}_{r.choice(WORDS)}[{_hex(r, 6)}] PASSED [ {r.randint(1, 99)}%]",
    "traceback": lambda r: f'  File "/usr/lib/python3/{_name(r)}/{r.choice(["token", "secret", "auth", "passwd"])}.py", line {r.randint(1, 999)}, in {_name(r)}',
    "code": _code,
    "prose": _prose,
    "dmesg": lambda r: f"[{r.randint(0, 99999):>5}.{r.randint(0, 999999):06d}] {r.choice(WORDS)}: 0x{_hex(r, 16)} 0x{_hex(r, 16)} {_words(r, 3)}",
    "mac": lambda r: f"    link/ether {':'.join(_hex(r, 2) for _ in range(6))} brd ff:ff:ff:ff:ff:ff  inet6 fe80::{_hex(r, 4)}:{_hex(r, 4)}/64",
    "csv": lambda r: ",".join([str(r.randint(1, 10**9)), _name(r), f"{r.random():.6f}", _time(r), _hex(r, 8)]),
    "numbers": lambda r: " ".join(f"{r.random() * 10 ** r.randint(0, 9):.{r.randint(0, 9)}f}" for _ in range(8)),
    "terraform": lambda r: f'  + {r.choice(["id", "arn", "key_name", "kms_key_id", "public_key", "etag"])} = (known after apply)',
    "licence keys of code": lambda r: f"SPDX-License-Identifier: MIT  key-{_name(r)} sk-{_name(r)} pk_{_name(r)}",
}  # fmt: skip


def harmless(seed: int = 1, each: int = 60) -> list[tuple[str, str]]:
    """(kind, text) of all kinds, and the kept lines that were once taken for secrets."""
    rng = random.Random(seed)
    made_up = [(kind, maker(rng)) for kind, maker in KINDS.items() for _ in range(each)]
    kept = [("kept", line) for line in (FOLDER / "harmless.txt").read_text().split("\n") if line]
    return made_up + kept
