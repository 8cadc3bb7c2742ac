"""Classify how far a path reaches: the workspace, home, the system, a device, everything."""

from __future__ import annotations

import posixpath
from fnmatch import fnmatchcase
from functools import lru_cache

from agent.protocol.decisions import RiskContext
from agent.risk.reader.words import UNKNOWN, Word
from agent.text.lazy_pattern import LazyPattern

_BELOW_HOME = (
    ".ssh/id_rsa", ".ssh/id_ed25519", ".ssh/id_ecdsa", ".aws/credentials", ".gnupg/private-keys-v1.d", ".netrc", ".pgpass", ".my.cnf",
    ".git-credentials", ".npmrc", ".pypirc", ".docker/config.json", ".kube/config", ".password-store", ".vault-token",
    ".config/gh/hosts.yml", ".config/gcloud/credentials.db", ".azure/msal_token_cache.json", ".bash_history", ".zsh_history",
)  # fmt: skip
_OF_THE_SYSTEM = ("etc/shadow", "etc/gshadow", "etc/sudoers")
_PUBLIC = (".pub", "known_hosts", "authorized_keys", "/config")
_SHORTEST = 2  # characters besides wildcards: with fewer, a pattern is about everything in the folder


def reaches_secret(path: str, home: str) -> bool:
    """Whether the absolute pattern `path` matches a well-known secret, or a folder that holds one."""
    if path.startswith(f"{home}/"):
        return _matches(path[len(home) + 1 :], _BELOW_HOME)
    users = path.split("/", 3)
    if len(users) == 4 and users[1] in ("home", "Users") and _matches(users[3], _BELOW_HOME):
        return True
    return (path.startswith("/root/") and _matches(path[6:], _BELOW_HOME)) or _matches(path[1:], _OF_THE_SYSTEM)


def _matches(pattern: str, places: tuple[str, ...]) -> bool:
    parts = pattern.rstrip("/").split("/")
    if parts[-1].endswith(_PUBLIC):
        return False
    wild = [part for part in parts if any(sign in part for sign in "*?[")]
    if any(sum(char not in "*?[]!^" for char in part) < _SHORTEST for part in wild[:1]):
        return False
    return any(
        all(fnmatchcase(name, part) for name, part in zip(place.split("/"), parts, strict=False)) for place in places
    )


PSEUDO_HOME = "/home/~"
PSEUDO_CWD = "/home/~/project/~"
_NOWHERE = "\0"  # a folder that no path begins with

_SYSTEM = (
    "bin", "boot", "etc", "lib", "lib32", "lib64", "libx32", "opt", "proc", "root", "run", "sbin", "sys", "usr", "var",
    "system", "library", "applications", "snap", "nix", "efi", "private", "volumes", "cores", "windows",
)  # fmt: skip
_TEMP = ("/tmp", "/var/tmp", "/private/tmp", "/dev/shm", "/run/user", "/var/folders")  # noqa: S108
_HARMLESS_DEVICES = frozenset(
    "/dev/null /dev/stdout /dev/stderr /dev/stdin /dev/tty /dev/zero /dev/full /dev/random /dev/urandom".split()
)
_ACCOUNT = LazyPattern(
    r"authorized_keys|/etc/(?:passwd|shadow|gshadow|group|sudoers)|/etc/sudoers\.d|/etc/pam\.d|/etc/ssh/sshd_config"
)
_SCHEDULE = LazyPattern(
    r"/etc/cron|/var/spool/cron|/etc/(?:rc\.local|profile|init\.d)|/systemd/(?:system|user)/|LaunchAgents|LaunchDaemons|/\.config/autostart"
)
_SECRET = LazyPattern(
    r"(?:^|/)(?:\.ssh(?:/(?!known_hosts|authorized_keys|config$|[^/]*\.pub$).*)?$|id_(?:rsa|dsa|ecdsa|ed25519)(?!\.pub)[\w.-]*$|\.netrc$|\.pgpass$|\.aws(?:/(?:credentials|cli).*)?$"
    r"|\.env(?:\.(?!example|sample|template|dist)[\w.-]+)?$|\.git-credentials$|\.npmrc$|\.pypirc$|\.docker/config\.json$"
    r"|\.kube/config$|\.gnupg(?:/.*)?$|\.password-store(?:/.*)?$|\.vault-token$|\.config/(?:gcloud|gh/hosts|op|rclone)"
    r"|credentials(?:\.json|\.ya?ml|\.csv)?$|secrets?\.(?:ya?ml|json|toml|env)$|[\w.-]+\.(?:pem|p12|pfx|keystore|jks|kdbx|ppk)$"
    r"|\.?(?:bash|zsh|sh|mysql|psql|python|node_repl|sqlite|fish)_history$|\.histfile$|\.my\.cnf$|wallet\.dat$|logins\.json$|Cookies$)"
    r"|^/etc/(?:shadow|gshadow|sudoers|ssh/ssh_host_.*key)(?:-|$|\.d)|/\.azure/|^/proc/[^/]+/environ$|/Keychains/|^/run/secrets"
    r"|^/var/run/secrets|/\.local/share/(?:keyrings|kwalletd)/|/\.gnome2/keyrings|/(?:Login Data|Web Data|Local State)(?: For Account)?$"
    r"|/(?:key[34]\.db|signons\.sqlite|cookies\.sqlite)$|^/etc/NetworkManager/system-connections|\.keytab$|/krb5cc_\w+$|/\.terraform\.d/credentials"
    r"|/\.(?:cargo|gem)/credentials|(?:^|/)terraform\.tfstate(?:\.backup)?$|^/etc/ssl/private|/privkey\d*\.pem$"
    r"|(?:^|/)(?:server|private|priv|tls|ssl|ca|client|wildcard|host|rsa|signing|encryption|master)[\w.-]*\.key$"
    r"|(?:^|/)(?:wp-config\.php|\.s3cfg|\.boto|\.htpasswd|\.dockercfg|\.databrickscfg|\.smbcredentials|\.chef/|\.sops/|auth\.json$|\.vnc/passwd)"
    r"|/sops/age/keys\.txt$|^/etc/(?:security/opasswd|master\.passwd|spwd\.db|wireguard(?:/|$)|openvpn/.*\.key$)|^/var/backups/(?:g?shadow)"
    r"|^/var/lib/(?:sss/db|docker/containers/.*/config|kubelet/pki)|^/proc/[^/]+/(?:mem|maps)$|^/dev/k?mem$|/\.(?:electrum|bitcoin|ethereum)/"
    r"|/\.config/(?:filezilla|doctl|hub$|solana/id|configstore|Bitwarden|1Password)|/\.local/share/(?:fish/fish_history)"
)
# Whatever the pattern finds holds one of these. Compiling it is a tenth of a first rating, and most paths hold none.
_SECRET_MARKS = (
    ".ssh", "id_", ".netrc", ".pgpass", ".aws", ".env", "credentials", ".npmrc", ".pypirc", ".docker", ".kube", ".gnupg",
    ".password-store", ".vault", ".config/", "secret", ".p", ".keystore", ".jks", ".kdbx", "_history", ".hist", ".my.cnf", "wallet",
    "logins.json", "ookies", "shadow", "sudoers", "ssh_host", ".azure", "/proc/", "/Keychains/", "keyrings", "kwalletd", " Data",
    "Local State", "key", "signons", "/etc/", "krb5cc_", "tfstate", "wp-config", ".s3cfg", ".boto", ".htpasswd", ".dockercfg",
    ".databrickscfg", ".smb", ".chef", "sops", "auth.json", ".vnc", "/var/", "mem", ".electrum", ".bitcoin", ".ethereum",
)  # fmt: skip
# What follows is below home, and means there what it means whatever the workspace is.
_CONFIG = LazyPattern(
    r"^\.(?:bashrc|bash_profile|bash_login|bash_logout|bash_aliases|profile|zshrc|zshenv|zprofile|zlogin|zlogout|kshrc|cshrc|tcshrc|login"
    r"|xinitrc|xprofile|xsession|xsessionrc|pam_environment|gitconfig|hgrc|vimrc|vim|exrc|emacs|emacs\.d|nanorc|inputrc|screenrc|gdbinit"
    r"|tmux\.conf|curlrc|wgetrc|psqlrc|sqliterc|irbrc|pythonrc|lesskey|cargo/config|config|local|ssh)\b"
)
_START = LazyPattern(
    r"^(?:\.config/autostart|\.config/systemd/user|\.local/share/systemd/user|Library/LaunchAgents)(?:/|$)"
)
# No project lives here: a working directory below these makes nothing in them the workspace.
_NO_WORKSPACE = LazyPattern(
    r"^/(?:(?:s?bin|boot|etc|lib\w*|proc|sys|dev|run|efi)(?:/|$)|usr(?!(?:/local)?/src/)(?:/|$)|(?:home|Users|var|opt|root|mnt|srv|tmp)?$)"
)
_VCS = LazyPattern(r"(?:^|/)\.(?:git|hg|svn)(?:/|$)")
_IMPORTANT_ALL = (
    "",
    ".",
    "..",
    "*",
    ".*",
    "./*",
    "../*",
    "..*",
    "?*",
    "*.*",
    "./.*",
    "./",
    "**",
    "./**",
    "**/*",
    ".[!.]*",
    ".??*",
)


_SHORT = 256  # characters of a path that is remembered


def is_secret(path: str) -> bool:
    """Whether what is at `path` is usually secret."""
    if not any(mark in path for mark in _SECRET_MARKS):
        return False
    return _is_secret(path) if len(path) < _SHORT else bool(_SECRET.search(path))


@lru_cache(maxsize=1024)
def _is_secret(path: str) -> bool:
    """The same path is asked about several times in one rating: where it is opened, where it is read, and its output."""
    return bool(_SECRET.search(path))


def absolute(path: str, cwd: str) -> str:
    """`path` made absolute and without `.` and `..`; unknown parts stay."""
    if not path.startswith("/"):
        path = f"{cwd}/{path}"
    if "/." in path or "//" in path or path.endswith("/"):
        path = posixpath.normpath(path)
        if path.startswith("//"):
            path = path[1:]
    return path


def names_secret(word: Word, cwd: str) -> bool:
    """Whether a word is known to name what is usually secret."""
    return word.known and is_secret(absolute(word.text, cwd))


class Scopes:
    """Classifies paths for one context."""

    def __init__(self, context: RiskContext) -> None:
        self.home = context.home.rstrip("/") or PSEUDO_HOME
        self.cwd = context.cwd or PSEUDO_CWD
        self.workspace = self._trusted(absolute(context.workspace or context.cwd or PSEUDO_CWD, "/"))
        self.home_known = bool(context.home)
        self.links: dict[str, str] = {}  # links that the command itself makes, and where they lead

    def _trusted(self, workspace: str) -> str:
        """The workspace; a path that nothing lies in where the folder is a part of the system or holds people's homes."""
        if f"{self.home}/".startswith(f"{workspace}/") or workspace in _TEMP:
            return workspace if workspace in (self.home, *_TEMP) else _NOWHERE
        if workspace.startswith((f"{self.home}/", *(f"{temp}/" for temp in _TEMP))):
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
                return "unknown" if text in _IMPORTANT_ALL or text.startswith("..") else "workspace"
            cwd = "/"
        if text in _IMPORTANT_ALL and (text in ("", ".", "..", "./") or word.glob):
            base = absolute(".." if text.startswith("..") else ".", cwd)
            found = self.of_path(base)
            if base == "/":
                return "everything"
            if base == self.home:
                return "home-all"
            if text.startswith(".."):
                return found if found in ("system", "everything", "home-all", "users") else "outside-all"
            return (
                "workspace-all" if found in ("workspace", "workspace-all") else "temp" if found == "temp-all" else found
            )
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
        """Whether an absolute path lies in a folder for temporary files that is nobody's own."""
        return path.startswith(tuple(f"{temp}/" for temp in _TEMP)) and not path.startswith(
            (f"{self.workspace}/", f"{self.home}/")
        )

    def _followed(self, path: str) -> str:
        for link, leads in self.links.items():
            if path == link or path.startswith(f"{link}/"):
                path = absolute(leads + path[len(link) :], "/")
        return path

    def of_path(self, path: str, *, glob: bool = False) -> str:
        """The scope of an absolute, normal path."""
        if self.links:
            path = self._followed(path)
        bare = path.rstrip("*").rstrip("/") if glob else path
        if bare in ("", "/") or (glob and path.count("/") == 1):
            return "everything"
        if path in _HARMLESS_DEVICES or path.startswith("/dev/fd/"):
            return "null"
        if path.startswith(("/dev/tcp/", "/dev/udp/")):
            return "remote"
        if _ACCOUNT.search(path):
            return "account" if not is_secret(path) else "account-secret"
        if self.home in (bare, path):
            return "home-all"
        if path.startswith(f"{self.home}/") and _START.match(path[len(self.home) + 1 :]):
            return "schedule"
        if bare in _TEMP:
            return "temp-all"
        if (path.startswith("/dev/") and not path.startswith("/dev/shm/")) or path == "/dev":  # noqa: S108
            return "device"
        if is_secret(path):
            return "history" if path.endswith(("_history", ".histfile")) else "secrets"
        if _VCS.search(path):
            return "vcs"
        if glob and self._hides_secret(path):
            return "secrets"
        return self._of_place(path, bare)

    def _hides_secret(self, path: str) -> bool:

        return reaches_secret(path, self.home)

    def _of_place(self, path: str, bare: str) -> str:
        """The scope of a path that means nothing special by its name: where it lies."""
        relative = path[len(self.home) + 1 :] if path.startswith(f"{self.home}/") else ""
        within = path.startswith(f"{self.workspace}/")
        if (
            relative
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
        if path.startswith(tuple(f"{temp}/" for temp in _TEMP)):
            return "temp"
        if _SCHEDULE.search(path):
            return "schedule"
        first, _, rest = path[1:].partition("/")
        if first.lower() in ("home", "users"):
            return "users" if not rest or self.home_known or rest.strip("*/") == "" or "/" not in rest else "home"
        if first.lower() in _SYSTEM:
            return "system"
        return "outside"
