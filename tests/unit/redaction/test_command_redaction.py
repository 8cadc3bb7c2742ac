"""In a command only a secret's own characters are replaced: what the shell acts on stays as it is, whatever a detector took for a value."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.redaction.redactor import SecretRedactor
from tests.support.each import each
from tests.support.tries import tries

REDACTOR = SecretRedactor({"GIVEN": "tr0ub4dor-and-3"}, key=b"k" * 16)
LABEL = re.compile(r"\[redacted:[\w.-]+:[0-9a-f]{4}\]")

SECRETS = [
    "ghp_9fKq2LmX7RtVbW4sZcY8nH1jPdQ0aEuG3oTi", "AKIA5QZ3XN7RBT2WLKVM", "tr0ub4dor-and-3", "xoxb-123456789012-abcdefABCDEF123456",
    "sk-ant-api03-AbCdEf0123456789xyzAB", "glpat-AbCdEf0123456789xyzA",
]  # fmt: skip
# `{}` is the secret; a name or option before it makes the others one, too.
PLACES = [
    "export TOKEN={}", "PASSWORD='{}' make", 'PASSWORD="{}" make', "curl -H 'Authorization: Bearer {}' https://x.example",
    'curl -H "Authorization: Bearer {}" https://x.example', "curl -u me:{} https://x.example", "mysql -p{} -e 'select 1'",
    "sshpass -p {} ssh host uptime", "curl https://me:{}@x.example/y", "docker login -u me -p {} x.example", "redis-cli -a {} ping",
    "echo {} | sudo -S true", "git config http.token {}", "read -sp 'Password: ' p; echo {}", 'echo "Password: "{}', "echo secret: {}",
    'printf "%s" "{}" > key', "htpasswd -b f me {}", "login x password {}", "cookie: {}", "curl -b session={} https://x.example",
    "x --api-key={} --secret {}", "bash -c 'TOKEN={} make'", "cat <<< {}",
]  # fmt: skip
TAILS = ["", "; rm -rf build", " && curl https://x.example | sh", " | tee log", " > 'a b'", "&", "\nrm -rf build", " # $(date)",
    ' "$p"; eval "$x"',
    "`id`", "$(id)", ")", ";(rm x)", " || { rm y; }", " <in >out 2>&1"]  # fmt: skip


def skeleton(command: str) -> list[str]:
    """What a shell acts on, in order: operators, quotes, blanks, substitutions; and how many words there are between."""
    return re.findall(r"\s+|[;|&<>()'\"`]|\$[({]?|\w*[^\s;|&<>()'\"`$]+", LABEL.sub("x", command))


def operators(command: str) -> list[str]:
    return [piece for piece in skeleton(command) if not re.match(r"[^\s;|&<>()'\"`$]", piece)]


@settings(max_examples=tries(400), deadline=None)
@given(
    st.sampled_from(PLACES),
    st.sampled_from(SECRETS),
    st.sampled_from(TAILS),
    st.sampled_from(["", "cd x && ", "a 'b c'; ", 'echo "k: "; ']),
)
def test_what_the_shell_acts_on_stays(place: str, secret: str, tail: str, lead: str) -> None:
    command = lead + place.replace("{}", secret) + tail
    shown = REDACTOR.redact_command(command)
    assert operators(shown) == operators(command)
    assert secret not in shown
    for before, after in zip(skeleton(command), skeleton(shown), strict=True):
        assert before == after or secret in before
    assert REDACTOR.redact_command(shown) == shown


PARTS = [
    '"', "'", "password", "Password: ", "secret", "token=", " ", "; ", "rm -rf /", "$(", ")", "`", "a1B2c3D4", "|", "\n", "key", ": ", "\\",
]  # fmt: skip


@settings(max_examples=tries(300), deadline=None)
@given(st.lists(st.sampled_from(PARTS), max_size=12))
def test_no_text_loses_what_the_shell_acts_on(parts: list[str]) -> None:
    """Also where quotes are open or stand the wrong way round, as a detector may read them."""
    command = "".join(parts)
    shown = REDACTOR.redact_command(command)
    plain = [piece for piece in re.split(r"\[redacted:[\w.-]+:[0-9a-f]{4}\]", shown) if piece]
    at = 0
    for piece in plain:  # what is not a label stands in the command, in order
        at = command.index(piece, at) + len(piece)
    assert REDACTOR.redact_command(shown) == shown


@each(
    ("command", "shown"),
    [
        ('read -sp "Password: " p; echo "$p" | sudo -S id', 'read -sp "Password: " p; echo "$p" | sudo -S id'),
        ('echo "Password: "hunter2x9;rm -rf /x', 'echo "Password: "[…];rm -rf /x'),
        ("curl -u me:s3cretPass9;rm -rf /", "curl -u me:[…];rm -rf /"),
        ("mysql --password='a b; c1D2' -e x", "mysql --password='[…]' -e x"),
        ("curl -H 'Cookie: a=b1C2d3; c=d4E5'; id", "curl -H 'Cookie: […]'; id"),
        ("echo cookie: a=b1C2d3; rm -rf x", "echo cookie: […]; rm -rf x"),
        ('PASSWORD="ab12$(rm -rf x)cd34" y', 'PASSWORD="[…]$(rm -rf x)cd34" y'),
        ("k=-----BEGIN PRIVATE KEY-----; rm -rf x; echo -----END PRIVATE KEY-----", None),
    ],
)
def test_examples(command: str, shown: str | None) -> None:
    assert LABEL.sub("[…]", REDACTOR.redact_command(command)) == (command if shown is None else shown)


def test_the_lines_of_a_key_go_and_what_stands_between_them_stays() -> None:
    lines = ["MIIEvQIBADANBgkqhkiG9w0BAQEFAASC", "reboot", "BKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"]
    text = "cat > k <<E\n-----BEGIN PRIVATE KEY-----\n" + "\n".join(lines) + "\n-----END PRIVATE KEY-----\nE\n"
    shown = REDACTOR.redact_command(text)
    assert lines[0] not in shown and lines[2] not in shown
    assert shown.count("\n") == text.count("\n") and "reboot" in shown


@each("field", ["command", "proposed", "run"])
def test_fields_of_commands_are_taken_as_commands(field: str) -> None:
    command = 'read -sp "Password: " p; echo "$p"'
    assert REDACTOR.redact_field(field, command) == command != REDACTOR.redact(command)
