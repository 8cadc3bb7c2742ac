"""The kept corpus of secrets that must go and of harmless text that must stay. A miss becomes a line here first.

Secrets are put together from two halves, so that this file itself holds none.
"""

from __future__ import annotations

import pytest

from agent.recording.redaction import SecretRedactor, secrets_in

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

HARMLESS = """
commit 3f9a1c0e7b2d4f6a8b5c9d0e1f2a3b4c5d6e7f80
Merge: 3f9a1c0 7b2d4f6
index 3f9a1c0..7b2d4f6 100644
550e8400-e29b-41d4-a716-446655440000
sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08  image
d41d8cd98f00b204e9800998ecf8427e  empty.txt
drwxr-xr-x 2 user user 4096 Jan  1 00:00 /home/user/.local/share/token-cache
/usr/lib/x86_64-linux-gnu/libsecret-1.so.0.0.0
the password is wrong
Enter password:
Password:
password: required
passwd: password updated successfully
sudo: a password is required
Sorry, try again. Wrong password for user bob
you need a token to do this; see https://example.com/docs/token
error: token expired
SyntaxError: unexpected token '}'
Unexpected token: EOF
token = get_token()
token = tokens[i]
self.token = self.next_token
password = os.environ["DB_PASSWORD"]
password = getpass.getpass()
password=$PASSWORD
password=${DB_PASSWORD:-}
--password "$PASS"
export TOKEN=$(cat token.txt)
max_tokens=4096
total_tokens: 128000
tokenizer=gpt2-xl-1558M
"tokenizer": "bert-base-uncased-2024"
primary_key=customer_id_2024
cache_key: build-v12-linux-x64
public_key = 8f3a9c2e11aa
sort_key=created_at_2024
keyboard: us-intl-2024
monkey=banana12345
secret_name: my-app-v2
token_file=/run/secrets/token2
api_key_path: ~/.config/key1
password_policy=min8chars1digit
secretKeyRef: db-credentials-v2
ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC7 user@host
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ user@host
-----BEGIN CERTIFICATE-----
-----BEGIN PUBLIC KEY-----
https://example.com/path?query=1#frag
https://user@example.com/repo.git
http://localhost:8080/health
git@github.com:owner/repo.git
ssh://git@github.com:22/owner/repo.git
postgres://localhost:5432/db
2026-11-21T22:10:00.123456Z
task-runner sk-learn ask-me-about-it disk-usage-report-for-november
risk-assessment-of-the-new-database-backend
find . -name '*.py' -print0 | xargs -0 grep -n "password"
grep -rn "api_key" src/
SELECT password FROM users WHERE id = 1
curl -u bob https://x
mysql -u root -p
mysql -h db.example.com -P 3306 mydb
docker login --password-stdin
kubectl get secret my-secret -o yaml
chmod 600 ~/.ssh/id_rsa
AKIA is the prefix of a key id
ghp_ tokens are 40 characters
Bearer authentication is required
Authorization: see section 4 of the manual
The session: it was long
basic auth is off
Cookie jar saved to cookies.txt
pass 1 of 3: ok
12 passed, 3 failed in 4.56s
PASS: test_login_2024
bypass: enabled
compass: north-west-2024
aGVsbG8gd29ybGQ=
0x7f3a9c2e11aa
1234567890
192.168.1.1:8080
eyJ is how a base64 JSON object begins
npm_config_registry=https://registry.npmjs.org/
npm_package_name=my-package
AUTH_METHOD=password
credentials: same-origin
type Token struct {
func (t *Token) String() string {
<input type="password" name="pw">
"password": null,
"password": "",
"token": true,
secret: !vault |
hf_hub_download
"""


@pytest.mark.parametrize(("secret", "text"), [row[1:] for row in SECRETS], ids=[row[0] for row in SECRETS])
def test_secrets_go(secret: str, text: str) -> None:
    whole = text.format(secret)
    redacted = REDACTOR.redact(whole)
    for line in secret.split("\n"):
        assert line not in redacted.replace("[redacted:", "").replace("password:", ""), redacted
    assert "[redacted:" in redacted
    assert REDACTOR.redact(redacted) == redacted
    assert secret not in REDACTOR.redact(f"before\n{whole}\nafter")


@pytest.mark.parametrize("line", [line for line in HARMLESS.split("\n") if line])
def test_harmless_lines_stay(line: str) -> None:
    assert REDACTOR.redact(line) == line


def test_harmless_lines_stay_together() -> None:
    assert REDACTOR.redact(HARMLESS) == HARMLESS


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
