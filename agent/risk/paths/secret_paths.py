"""Recognise paths at which secrets usually are, by name, by place, and where a wildcard may match one. Pure."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import lru_cache

from agent.risk.paths.absolute import absolute
from agent.risk.reader.words import Word
from agent.text.lazy_pattern import LazyPattern

_BELOW_HOME = (
    ".ssh/id_rsa", ".ssh/id_ed25519", ".ssh/id_ecdsa", ".aws/credentials", ".gnupg/private-keys-v1.d", ".netrc", ".pgpass", ".my.cnf",
    ".git-credentials", ".npmrc", ".pypirc", ".docker/config.json", ".kube/config", ".password-store", ".vault-token",
    ".config/gh/hosts.yml", ".config/gcloud/credentials.db", ".azure/msal_token_cache.json", ".bash_history", ".zsh_history",
)  # fmt: skip
_OF_THE_SYSTEM = ("etc/shadow", "etc/gshadow", "etc/sudoers")
_PUBLIC = (".pub", "known_hosts", "authorized_keys", "/config")
_SHORTEST = 2  # characters besides wildcards: with fewer, a pattern is about everything in the folder
_SECRET = LazyPattern(
    r"(?:^|/)(?:\.ssh(?:/(?!known_hosts|authorized_keys|config$|[^/]*\.pub$).*)?$|id_(?:rsa|dsa|ecdsa|ed25519)(?!\.pub)[\w.-]*$|\.netrc$|\.pgpass$|\.aws(?:/(?:credentials|cli).*)?$"
    r"|\.env(?:\.(?!example|sample|template|dist)[\w.-]+)?$|\.git-credentials$|\.npmrc$|\.pypirc$|\.docker/config\.json$"
    r"|\.kube(?:/config)?$|\.gnupg(?:/.*)?$|\.password-store(?:/.*)?$|\.vault-token$|\.config/(?:gcloud|gh/hosts|op|rclone)"
    r"|credentials(?:\.json|\.ya?ml|\.csv)?$|secrets?\.(?:ya?ml|json|toml|env)$|[\w.-]+\.(?:pem|p12|pfx|keystore|jks|kdbx|ppk)$"
    r"|\.?(?:bash|zsh|sh|mysql|psql|python|node_repl|sqlite|fish)_history$|\.histfile$|\.my\.cnf$|wallet\.dat$|logins\.json$|Cookies$)"
    r"|^/etc/(?:shadow|gshadow|sudoers|ssh/ssh_host_.*key)(?:-|$|\.d)|/\.azure/|^/proc/(?:[^/]+/(?:environ|mem)|kcore)$|/Keychains/|^/run/secrets"
    r"|/\.(?:mozilla|thunderbird)(?:/firefox)?(?:/[^/]*\.default[^/]*)?$|/\.config/(?:google-chrome|chromium|BraveSoftware|vivaldi|microsoft-edge)(?:/Default)?$"
    r"|^/var/run/secrets|/\.local/share/(?:keyrings|kwalletd)/|/\.gnome2/keyrings|/(?:Login Data|Web Data|Local State)(?: For Account)?$"
    r"|/(?:key[34]\.db|signons\.sqlite|cookies\.sqlite)$|^/etc/NetworkManager/system-connections|\.keytab$|/krb5cc_\w+$|/\.terraform\.d/credentials"
    r"|/\.(?:cargo|gem)/credentials|(?:^|/)terraform\.tfstate(?:\.backup)?$|^/etc/ssl/private|/privkey\d*\.pem$"
    r"|(?:^|/)(?:server|private|priv|tls|ssl|ca|client|wildcard|host|rsa|signing|encryption|master)[\w.-]*\.key$"
    r"|(?:^|/)(?:wp-config\.php|\.s3cfg|\.boto|\.htpasswd|\.dockercfg|\.databrickscfg|\.smbcredentials|\.chef/|\.sops/|auth\.json$|\.vnc/passwd)"
    r"|/sops/age/keys\.txt$|^/etc/(?:security/opasswd|master\.passwd|spwd\.db|wireguard(?:/|$)|openvpn/.*\.key$)|^/var/backups/(?:g?shadow)"
    r"|^/var/lib/(?:sss/db|docker/containers/.*/config|kubelet/pki)|^/proc/[^/]+/(?:mem|maps)$|^/dev/k?mem$|/\.(?:electrum|bitcoin|ethereum)/"
    r"|/\.config/(?:filezilla|doctl|hub$|solana/id|configstore|Bitwarden|1Password|agent-shell/vault\.json$)|/\.local/share/(?:fish/fish_history)"
)
# Whatever the pattern finds holds one of these. Compiling it is a tenth of a first rating, and most paths hold none.
_SECRET_MARKS = (
    "/.mozilla", "/.thunderbird",
    ".ssh", "id_", ".netrc", ".pgpass", ".aws", ".env", "credentials", ".npmrc", ".pypirc", ".docker", ".kube", ".gnupg",
    ".password-store", ".vault", ".config/", "secret", ".p", ".keystore", ".jks", ".kdbx", "_history", ".hist", ".my.cnf", "wallet",
    "logins.json", "ookies", "shadow", "sudoers", "ssh_host", ".azure", "/proc/", "/Keychains/", "keyrings", "kwalletd", " Data",
    "Local State", "key", "signons", "/etc/", "krb5cc_", "tfstate", "wp-config", ".s3cfg", ".boto", ".htpasswd", ".dockercfg",
    ".databrickscfg", ".smb", ".chef", "sops", "auth.json", ".vnc", "/var/", "mem", ".electrum", ".bitcoin", ".ethereum",
)  # fmt: skip


def reaches_secret(path: str, home: str) -> bool:
    """Tell whether the absolute pattern `path` matches a well-known secret, or a folder that holds one."""
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


_SHORT = 256  # characters of a path that is remembered


def is_secret(path: str) -> bool:
    """Tell whether what is at `path` is usually secret."""
    return _is_secret(path) if len(path) < _SHORT else _matches_secret(path)


def _matches_secret(path: str) -> bool:
    ways = (path, path.lower()) if not path.islower() else (path,)  # on some disks letters count as the same
    return any(mark in way for way in ways for mark in _SECRET_MARKS) and any(_SECRET.search(way) for way in ways)


# The same path is asked about several times in one rating: where it is opened, where it is read, and its output.
_is_secret = lru_cache(maxsize=1024)(_matches_secret)


def names_secret(word: Word, cwd: str) -> bool:
    """Tell whether a word is known to name what is usually secret."""
    return word.known and is_secret(absolute(word.text, cwd))
