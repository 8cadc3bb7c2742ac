"""Match wildcards with the places where secrets usually lie: `~/.ss*/id_*` names a key as surely as its full path."""

from __future__ import annotations

from fnmatch import fnmatchcase

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
