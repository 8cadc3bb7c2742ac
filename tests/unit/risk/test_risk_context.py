"""Facts of the system: where, as whom, and what is there."""

from __future__ import annotations

from agent.protocol.decisions import RiskContext
from agent.risk.classifier import classify
from agent.risk.paths.scopes import Scopes
from agent.risk.paths.secret_paths import is_secret
from agent.risk.reader.words import Word
from tests.support.each import each

HERE = RiskContext(cwd="/home/me/project/src", home="/home/me", workspace="/home/me/project")


@each(
    ("path", "scope"),
    [
        ("x", "workspace"),
        ("../x", "workspace"),
        ("../../x", "home"),
        ("../..", "home-all"),
        ("/", "everything"),
        ("/etc", "system"),
        ("/etc/passwd", "account"),
        ("/etc/shadow", "account-secret"),
        ("/tmp/x", "temp"),
        ("/tmp", "temp-all"),
        ("/dev/sda", "device"),
        ("/dev/null", "null"),
        ("/home/you/x", "users"),
        ("/home/me", "home-all"),
        ("/home/me/Documents", "home"),
        ("/home/me/.bashrc", "config"),
        ("/home/me/.ssh/id_rsa", "secrets"),
        ("/srv/x", "outside"),
        ("/home/me/project", "workspace-all"),
        ("/home/me/project/.git", "vcs"),
        (".env", "secrets"),
        ("/var/spool/cron/x", "schedule"),
        ("../.git/config", "vcs"),
        ("/home/me/.ssh/authorized_keys", "account"),
        ("/dev/tcp/1.2.3.4/5", "remote"),
        ("/home/me/project/../../me", "home-all"),
        ("//etc//x", "system"),
    ],
)
def test_scopes(path: str, scope: str) -> None:
    assert Scopes(HERE).of(Word(path, 0, 0), HERE.cwd) == scope


@each(
    ("command", "level"),
    [
        ("rm -rf ../build", "medium"),
        ("rm -rf ../../build", "high"),
        ("rm -rf ..", "high"),
        ("rm -rf /home/me/project/build", "medium"),
        ("rm -rf /home/me", "high"),
        ("rm ../../x", "medium"),
        ("rm -rf ../.git", "high"),
        ("cd .. && rm -rf build", "medium"),
        ("cd ../.. && rm -rf other", "high"),
        ("cd /etc; rm -r x", "high"),
        ("(cd /etc); rm -rf build", "medium"),
        ("rm -rf /home/you/x", "high"),
        ("echo x > ../notes", "medium"),
        ("cd /; echo x > etc/hosts", "high"),
    ],
)
def test_the_folder_matters(command: str, level: str) -> None:
    assert classify(command, HERE).level == level


def test_root_is_rated_more_strictly() -> None:
    root = RiskContext(cwd="/root/work", home="/root", workspace="/root/work", is_root=True)
    for command, level in (
        ("mkdir /srv/x", "medium"),
        ("touch /srv/x", "medium"),
        ("mkdir x", "low"),
        ("cp a /usr/lib/x", "high"),
        ("ls /", "low"),
        ("mkdir ~/x", "medium"),
    ):
        assert classify(command, root).level == level, command


@each("fact", ["mount", "dirty", "many"])
def test_facts_raise(fact: str) -> None:
    context = RiskContext(cwd="/w", home="/home/me", workspace="/w", facts={"/w/data": (fact, "dir")})
    assert classify("rm -rf data", RiskContext(cwd="/w", home="/home/me", workspace="/w")).level == "medium"
    assert classify("rm -rf data", context).level == "high"


def test_facts_never_lower() -> None:
    context = RiskContext(cwd="/w", home="/home/me", workspace="/w", facts={"/w/x": ("missing",), "/etc": ("missing",)})
    assert classify("rm -rf x", context).level == "medium"
    assert classify("rm -rf /etc", context).level == "high"


@each(
    "path",
    [
        "/home/a/.ssh/id_rsa",
        "~/.aws/credentials",
        ".env",
        "app/.env.local",
        "/etc/shadow",
        "x/server.key.pem",
        "/home/a/.netrc",
        "/proc/1/environ",
        "id_ed25519",
        "/home/a/.bash_history",
        "~/.kube/config",
        "/run/secrets/x",
        "secrets.yaml",
    ],
)
def test_secret_paths(path: str) -> None:
    assert is_secret(path)


@each(
    "path",
    [
        ".env.example",
        "id_rsa.pub",
        "/home/a/.ssh/config",
        "/home/a/.ssh/known_hosts",
        "environment.yml",
        "/etc/passwd",
        "README.md",
        "secret_santa.py",
    ],
)
def test_paths_that_only_look_secret(path: str) -> None:
    assert not is_secret(path)
