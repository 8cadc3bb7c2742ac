"""Classify how far a path reaches: the workspace, home, the system, a device, everything."""

from __future__ import annotations

import re

from agent.protocol.decisions import RiskContext
from agent.risk.paths.absolute import absolute
from agent.risk.paths.secret_paths import is_secret, reaches_secret
from agent.risk.reader.words import UNKNOWN, Word
from agent.text.lazy_pattern import LazyPattern

PSEUDO_HOME = "/home/~"
PSEUDO_CWD = "/home/~/project/~"
_NOWHERE = "\0"  # a folder that no path begins with

_SYSTEM = (
    "bin", "boot", "etc", "lib", "lib32", "lib64", "libx32", "opt", "proc", "root", "run", "sbin", "sys", "usr", "var",
    "system", "library", "applications", "snap", "nix", "efi", "private", "volumes", "cores", "windows",
)  # fmt: skip
_TEMP = ("/tmp", "/var/tmp", "/private/tmp", "/dev/shm", "/run/user", "/var/folders")  # noqa: S108
_IN_TEMP = tuple(f"{temp}/" for temp in _TEMP)
_HARMLESS_DEVICES = frozenset(
    "/dev/null /dev/stdout /dev/stderr /dev/stdin /dev/tty /dev/zero /dev/full /dev/random /dev/urandom".split()
)
_ACCOUNT = LazyPattern(
    r"authorized_keys|/etc/(?:passwd|shadow|gshadow|group|sudoers)|/etc/sudoers\.d|/etc/pam\.d|/etc/ssh/sshd_config"
    r"|/\.config/agent-shell(?:/(?:config\.toml|policy[^/]*|\.env)?)?$|^/etc/agent-shell"  # what may run unasked is said there
)
# Whatever the pattern finds holds one of these, which most paths do not.
_ACCOUNT_MARKS = ("/etc/", "authorized_keys", "/.config/agent-shell")
_SCHEDULE = LazyPattern(
    r"/etc/cron|/var/spool/cron|/etc/(?:rc\.local|profile|init\.d)|/systemd/(?:system|user)/|LaunchAgents|LaunchDaemons|/\.config/autostart"
)
# What follows is below home, and means there what it means whatever the workspace is.
_CONFIG = LazyPattern(
    r"^\.(?:bashrc|bash_profile|bash_login|bash_logout|bash_aliases|profile|zshrc|zshenv|zprofile|zlogin|zlogout|kshrc|cshrc|tcshrc|login"
    r"|xinitrc|xprofile|xsession|xsessionrc|pam_environment|gitconfig|hgrc|vimrc|vim|exrc|emacs|emacs\.d|nanorc|inputrc|screenrc|gdbinit"
    r"|tmux\.conf|curlrc|wgetrc|psqlrc|sqliterc|irbrc|pythonrc|lesskey|cargo/config|config|local(?!/state/[\w.-]+-worktrees/)|ssh)\b",
    re.I,  # on some disks letters count as the same
)
_START = LazyPattern(
    r"^(?:\.config/autostart|\.config/systemd/user|\.local/share/systemd/user|Library/LaunchAgents)(?:/|$)", re.I
)
# No project lives here: a working directory below these makes nothing in them the workspace.
_NO_WORKSPACE = LazyPattern(
    r"^/(?:(?:s?bin|boot|etc|lib\w*|proc|sys|dev|run|efi)(?:/|$)|usr(?!(?:/local)?/src/)(?:/|$)|(?:home|Users|var|opt|root|mnt|srv|tmp)?$)"
)
_VCS = LazyPattern(r"(?:^|/)\.(?:git|hg|svn)(?:/|$)", re.I)
_ITSELF = ("", ".", "..", "./")
# Parts without anything that a name would have to have: `[!q]*`, `?*`, `*/`. Each can be read in one way only.
_PART = r"\.{0,2}(?:[*?]|\[(?=[!^]|[^]/]*a-z)[^]/]*\])*"
_WILD = LazyPattern(rf"(?=.*\*)(?:(?:\.{{1,2}}/)*\*\.\*|{_PART}(?:/{_PART})*)")


class Scopes:
    """Classifies paths for one context."""

    def __init__(self, context: RiskContext) -> None:
        self.home = context.home.rstrip("/") or PSEUDO_HOME
        self.cwd = context.cwd or PSEUDO_CWD
        self.workspace = self._trusted(absolute(context.workspace or context.cwd or PSEUDO_CWD, "/"))
        self.home_known = bool(context.home)
        self.links: dict[str, str] = {}  # links that the command itself makes, and where they lead
        self.mounts: dict[str, str] = {}  # folders that the command mounts something on, and what lies in them then

    def _trusted(self, workspace: str) -> str:
        """The workspace; a path that nothing lies in where the folder is a part of the system or holds people's homes."""
        if f"{self.home}/".startswith(f"{workspace}/") or workspace in _TEMP:
            return workspace if workspace in (self.home, *_TEMP) else _NOWHERE
        if workspace.startswith((f"{self.home}/", *_IN_TEMP)):
            return workspace
        return _NOWHERE if _NO_WORKSPACE.match(workspace) else workspace

    def of(self, word: Word, cwd: str, *, recursive: bool = False) -> str:
        """The scope of a path argument: a word of docs/risk.md."""
        text = word.text
        if UNKNOWN in text:
            return self.of_unknown(word, cwd, recursive=recursive)
        if text in _HARMLESS_DEVICES or text.startswith("/dev/fd/"):
            return "null"
        if not cwd or UNKNOWN in cwd:
            if not text.startswith("/"):
                return "unknown" if text in _ITSELF or _WILD.fullmatch(text) or text.startswith("..") else "workspace"
            cwd = "/"
        if text in _ITSELF or (word.glob and text[:1] != "/" and _WILD.fullmatch(text)):
            base = absolute(".." if text.startswith("..") else ".", cwd)
            found = self.of_path(base)
            if base == "/":
                return "everything"
            if base == self.home:
                return "home-all"
            if text.startswith(".."):
                return found if found in ("system", "everything", "home-all", "users") else "outside-all"
            return "workspace-all" if found == "workspace" else found
        return self.of_path(absolute(text, cwd), glob=word.glob)

    def of_unknown(self, word: Word, cwd: str, *, recursive: bool) -> str:
        """A path with unknown parts: judged by what is known before them."""
        head = word.text[: word.text.index(UNKNOWN)]
        if "found" in word.taint:  # names that find printed lie below its roots
            if head == "/":
                return "everything"
            return self.of_path(absolute(head + "x", cwd or PSEUDO_CWD))
        folder = head.rpartition("/")[0] if "/" in head else ""
        if head.startswith("/") and not folder:
            return "unknown" if len(head) > 1 else "everything" if recursive else "unknown"
        if not head:
            return "unknown"
        if not folder and "/" not in head:
            return "workspace"  # "name-$x"
        scope = self.of_path(absolute(folder or ".", cwd or PSEUDO_CWD))
        if scope == "temp-all" and head.rpartition("/")[2]:
            return "temp"
        return "workspace-all" if scope == "workspace" and folder in (".", "") and head.endswith("/") else scope

    def public(self, path: str) -> bool:
        """Tell whether an absolute path lies in a folder for temporary files that is nobody's own."""
        return path.startswith(_IN_TEMP) and not path.startswith((f"{self.workspace}/", f"{self.home}/"))

    def is_temp(self, path: str) -> bool:
        """Tell whether an absolute path is a folder for everybody's temporary files itself."""
        return path in _TEMP

    def _followed(self, path: str) -> str:
        for link, leads in (*self.mounts.items(), *self.links.items()):
            if path == link or path.startswith(f"{link}/"):
                path = absolute(leads + path[len(link) :], "/")
        return path

    def of_path(self, path: str, *, glob: bool = False) -> str:
        """The scope of an absolute, normal path."""
        if self.links or self.mounts:
            path = self._followed(path)
        bare = path.rstrip("*").rstrip("/") if glob else path
        if bare in ("", "/") or (glob and path.count("/") == 1):
            return "everything"
        if path in _HARMLESS_DEVICES or path.startswith("/dev/fd/"):
            return "null"
        if path.startswith(("/dev/tcp/", "/dev/udp/")):
            return "remote"
        if any(map(path.__contains__, _ACCOUNT_MARKS)) and _ACCOUNT.search(path):
            return "account" if not is_secret(path) else "account-secret"
        if self.home in (bare, path):
            return "home-all"
        if path.startswith((f"{self.home}/.", f"{self.home}/L", f"{self.home}/l")) and _START.match(
            path[len(self.home) + 1 :]
        ):
            return "schedule"
        if bare in _TEMP:
            return "temp-all"
        if (path.startswith("/dev/") and not path.startswith("/dev/shm/")) or path == "/dev":  # noqa: S108
            return "device"
        if is_secret(path):
            return "history" if path.endswith(("_history", ".histfile")) else "secrets"
        if "." in path and _VCS.search(path):
            return "vcs"
        if glob and reaches_secret(path, self.home):
            return "secrets"
        return self._of_place(path, bare)

    def _of_place(self, path: str, bare: str) -> str:
        """The scope of a path that means nothing special by its name: where it lies."""
        relative = path[len(self.home) + 1 :] if path.startswith(f"{self.home}/") else ""
        within = path.startswith(f"{self.workspace}/")
        if (
            relative[:1] == "."
            and _CONFIG.match(relative)
            and (self.workspace == self.home or not (within or bare == self.workspace))
        ):
            return "config"
        if bare == self.workspace:
            return "workspace-all"
        if within:
            return "workspace"
        if relative:
            return "schedule" if _SCHEDULE.search(path) else "home"
        if path.startswith(_IN_TEMP):
            return "temp"
        if _SCHEDULE.search(path):
            return "schedule"
        first, _, rest = path[1:].partition("/")
        if first.lower() in ("home", "users"):
            return "users" if not rest or self.home_known or rest.strip("*/") == "" or "/" not in rest else "home"
        if first.lower() in _SYSTEM:
            return "system"
        return "outside"
