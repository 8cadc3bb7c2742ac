"""The kept corpus of secrets that must go and of harmless text that must stay. A miss becomes a line here first.

Secrets are put together from two halves, so that this file itself holds none.
"""

from __future__ import annotations

import random

from agent.redaction.redactor import SecretRedactor, secrets_in
from tests.support.each import each
from tests.support.redaction_corpus import secrets, survives
from tests.support.redaction_harmless import harmless

REDACTOR = SecretRedactor({}, key=b"k")
LETTERS = "9fKq2LmX7RtVbW4sZcY8nH1jPdQ0aEuG3oTi5xCv6BgNhMkJ"
HEX = "3f9a1c0e7b2d4f6a8b5c9d0e1f2a3b4c5d6e7f80"

# a name for the test, the secret, the text with {} in its place
SECRETS = [
    ("aws key id", "AKIA" + "5QZ3XN7RBT2WLKVM", "key {} and"),
    ("aws session key id", "ASIA" + "5QZ3XN7RBT2WLKVM", '"AccessKeyId": "{}"'),
    ("aws secret", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzz9LKEY", "AWS_SECRET_ACCESS_KEY={}"),
    ("aws secret in credentials", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzz9LKEY", "aws_secret_access_key = {}\n"),
    ("github classic", "ghp_" + LETTERS[:36], "{}"),
    ("github server", "ghs_" + LETTERS[:36], "https://x-access-token:{}@github.com/o/r.git"),
    ("github fine-grained", "github_pat_" + "11ABCDEFG0" + LETTERS, "export GH={};"),
    ("gitlab", "glpat-" + LETTERS[:20], "PRIVATE-TOKEN: {}"),
    ("slack bot", "xoxb-" + "123456789012-" + LETTERS[:24], "{}\n"),
    ("slack app", "xapp-" + "1-A012345-" + LETTERS[:24], "{}"),
    ("slack webhook", "T00000000/B00000000/" + LETTERS[:24], "https://hooks.slack.com/services/{}"),
    ("discord webhook", "1234567890/" + LETTERS, "https://discord.com/api/webhooks/{}"),
    ("telegram", "123456789:AA" + LETTERS[:33], "bot{}/getMe".replace("bot{}", "bot {} ")),
    ("openai legacy", "sk-" + LETTERS, "OPENAI={}"),
    ("openai project", "sk-proj-" + LETTERS, "{}"),
    ("anthropic", "sk-ant-api03-" + LETTERS, "x-api-key: {}"),
    ("openrouter", "sk-or-v1-" + HEX * 2, "OPENROUTER_API_KEY={}"),
    ("stripe", "sk_live_" + LETTERS[:24], "{}"),
    ("stripe restricted", "rk_test_" + LETTERS[:24], "'{}'"),
    ("google api", "AIza" + LETTERS[:35], "?key={}&x=1"),
    ("google oauth", "ya29." + LETTERS, "{}"),
    ("npm", "npm_" + LETTERS[:36], "//registry.npmjs.org/:_authToken={}"),
    ("pypi", "pypi-" + "AgEIcHlwaS5vcmc" + LETTERS, "password = {}"),
    ("hugging face", "hf_" + "abcdefghijKLMNOPqrstUVWXyzabcdefgh", "{}"),
    ("groq", "gsk_" + LETTERS, "{}"),
    ("digitalocean", "dop_v1_" + HEX + HEX[:24], "{}"),
    ("docker", "dckr_pat_" + LETTERS[:27], "{}"),
    ("vault", "hvs." + LETTERS, "{}"),
    ("sendgrid", "SG." + LETTERS[:22] + "." + LETTERS[:43], "{}"),
    ("mailgun", "key-" + HEX[:32], "{}"),
    ("twilio", "SK" + HEX[:32], "{}"),
    ("shopify", "shpat_" + HEX[:32], "{}"),
    ("databricks", "dapi" + HEX[:32], "{}"),
    ("tailscale", "tskey-auth-" + LETTERS[:30], "{}"),
    ("linear", "lin_api_" + LETTERS[:40], "{}"),
    ("jwt", "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0NTY3ODkwIn0." + LETTERS, "jwt {} end"),
    ("private key", "MIIEpAIBAAKCAQEA\n" + LETTERS, "-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----"),
    ("openssh key", "b3BlbnNzaC1rZXktdjEA\n" + LETTERS, "-----BEGIN OPENSSH PRIVATE KEY-----\n{}\n-----END OPENSSH PRIVATE KEY-----\n"),
    ("unfinished key", "MIIEpAIBAAKCAQEA\n" + LETTERS, "-----BEGIN PRIVATE KEY-----\n{}"),
    ("basic-auth url", "hunter2", "postgres://app:{}@db.internal:5432/x"),
    ("url password without a user", "pw1", "redis://:{}@h/0 "),
    ("token url", LETTERS[:40], "git clone https://{}@github.com/o/r"),
    ("bearer header", "abcdefghijklmnop", "curl -H 'Authorization: Bearer {}' https://x"),
    ("basic header", "dXNlcjpwYXNz", "Authorization: Basic {}\r\n"),
    ("json header", LETTERS[:30], '{{"Authorization": "Bearer {}"}}'),
    ("bare bearer", LETTERS[:30], "--oauth2-bearer {}".replace("--oauth2-bearer", "bearer")),
    ("cookie", "session=" + LETTERS[:20], "Set-Cookie: {}"),
    ("assignment", "hunter2", "password={}"),
    ("assignment with spaces", "hunter2", "db_password = {}\n"),
    ("quoted", "it is long", "password='{}'"),
    ("yaml", "hunter2", "  password: {}\n"),
    ("yaml quoted", "correct horse", 'password: "{}"'),
    ("json", "hunter2!", '{{"user": "bob", "password": "{}"}}'),
    ("escaped json", "hunter2!", '{{\\"password\\": \\"{}\\"}}'),
    ("env file", "s3cr3t", "export DB_PASS={}"),
    ("env upper", "s3cr3t", "POSTGRES_PASSWORD={}"),
    ("pgpassword", "s3cr3t", "PGPASSWORD={} psql -h x"),
    ("option", "hunter2", "tool --password {} --user bob"),
    ("option with =", "hunter2", "tool --password={}"),
    ("token option", LETTERS[:20], "tool --api-key {}"),
    ("token json", "abcd1234efgh5678", '{{"access_token": "{}"}}'),
    ("client secret", "Zx9~abcdefgh", "client_secret={}&grant_type=x"),
    ("secret after context", HEX, "api_key: {}"),
    ("azure storage", LETTERS + "==", "AccountName=x;AccountKey={};EndpointSuffix=y"),
    ("mysql -p", "secret12", "mysql -u root -p{} db"),
    ("curl -u", "hunter2", "curl -s -u bob:{} https://x"),
    ("curl --user", "hunter2", "curl --user bob:{} https://x"),
    ("sshpass", "hunter2", "sshpass -p {} ssh h"),
    ("netrc", "hunter2", "machine h login bob password {}"),
    ("docker config", "Ym9iOmh1bnRlcjI=", '"auth": "{}"'),
    ("shadow", "$6$salt1234$" + LETTERS, "root:{}:19000:0:99999:7:::"),
    ("glued to a word", "ghp_" + LETTERS[:36], "token{}"),
    ("after an escaped newline", "AKIA" + "5QZ3XN7RBT2WLKVM", 'text\\n{}\\n'),
    ("in colour", "AKIA" + "5QZ3XN7RBT2WLKVM", "\x1b[01;31m\x1b[K{}\x1b[m"),
    ("presigned url", HEX + HEX[:24], "https://b.s3.amazonaws.com/k?X-Amz-Signature={}"),
]  # fmt: skip


@each(("secret", "text"), [row[1:] for row in SECRETS], ids=[row[0] for row in SECRETS])
def test_secrets_go(secret: str, text: str) -> None:
    whole = text.format(secret)
    redacted = REDACTOR.redact(whole)
    for line in secret.split("\n"):
        assert line not in redacted.replace("[redacted:", "").replace("password:", ""), redacted
    assert "[redacted:" in redacted
    assert REDACTOR.redact(redacted) == redacted
    assert secret not in REDACTOR.redact(f"before\n{whole}\nafter")


def test_the_kept_corpus_is_found_whole() -> None:
    missed = [
        case.text for seed in (1, 2) for case in secrets(seed) if survives(case.secret, REDACTOR.redact(case.text))
    ]
    assert missed == []


def test_harmless_lines_stay() -> None:
    assert [text for _, text in harmless(each=40) if REDACTOR.redact(text) != text] == []


def test_harmless_lines_stay_together() -> None:
    lines = [text for _, text in harmless(seed=2, each=10)]
    random.Random(3).shuffle(lines)
    assert REDACTOR.redact("\n".join(lines)) == "\n".join(lines)


def test_what_stands_around_a_secret_stays() -> None:
    text = "curl -H 'Authorization: Bearer abcdefghijklmnop' -u bob:hunter2 https://h/x | jq .a"
    redacted = REDACTOR.redact(text)
    assert redacted.startswith("curl -H 'Authorization: Bearer [redacted:authorization:")
    assert "]' -u bob:[redacted:" in redacted
    assert redacted.endswith("] https://h/x | jq .a")


def test_variables_that_hold_secrets_are_found_by_name() -> None:
    environment = {
        "OPENROUTER_API_KEY": "sk-or-v1-abcdef", "PATH": "/usr/bin:/bin", "HOME": "/root", "DB_PASSWORD": "hunter2",
        "GITHUB_TOKEN": "ghp_abcdef123456", "SSH_AUTH_SOCK": "/tmp/agent.1", "TOKEN_FILE": "/run/token",
        "MAX_TOKENS": "4096", "PASSWORD": "x", "KEYBOARD": "us-12345678",
    }  # fmt: skip
    assert sorted(secrets_in(environment)) == ["DB_PASSWORD", "GITHUB_TOKEN", "OPENROUTER_API_KEY"]
