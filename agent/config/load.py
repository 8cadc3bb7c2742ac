"""Load settings from flags, environment, files; the working folder may only tighten."""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from agent.config import paths
from agent.config.settings import Settings, parse_value, shown_value
from agent.config.table import BY_NAME, SETTINGS, Setting
from agent.protocol.errors import ConfigError
from agent.struct_types import built

PROJECT_FILE = ".agent-shell.toml"
VAULT = "vault.json"
_MAX_FILE = 1_000_000


class Loaded(Struct, frozen=True, kw_only=True):
    """Settings with where each came from, the secrets of `.env` files (never exported), and warnings for the person."""

    settings: Settings
    origins: dict[str, str]
    secrets: dict[str, str]
    warnings: tuple[str, ...] = ()
    environ: dict[str, str] = {}

    @property
    def config_path(self) -> str:
        """The person's settings file, there or not."""
        return self.settings.config or os.path.join(paths.config_dir(self.environ), "config.toml")

    @property
    def session_dir(self) -> str:
        """The folder that logs are in."""
        return self.settings.session_dir or paths.default_session_dir(self.environ)

    def given(self, variable: str) -> str:
        """The value of a key in the environment or a `.env` file, "" for none."""
        return (self.environ.get(variable) or self.secrets.get(variable, "")).strip()

    def has_key(self, variable: str) -> bool:
        """Tell whether there is one, in the vault too, which need not be open for that."""
        return bool(self.given(variable)) or variable in vault_names(self.environ)

    def rows(self) -> list[dict[str, Any]]:
        """Each setting with its value, without credentials inside URLs, and where that is from."""
        found = ((name, shown_value(name, getattr(self.settings, name))) for name in BY_NAME)
        return [{"setting": name, "value": value, "from": self.origins.get(name, "default")} for name, value in found]


class _Names(Struct):
    names: tuple[str, ...] = ()


def vault_names(environ: dict[str, str]) -> tuple[str, ...]:
    """The names in the vault's file; none where it cannot be read, which is said when it is used."""
    path = os.path.join(paths.config_dir(environ), VAULT)
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # a named pipe would hold us
            return ()
        with open(path, "rb") as file:
            return msgspec.json.decode(file.read(), type=built(_Names)).names
    except (OSError, msgspec.MsgspecError, ValueError):
        return ()


def load_settings(
    flags: Mapping[str, Any], environ: Mapping[str, str], *, cwd: str, checkout: str | None = None
) -> Loaded:
    """Merge all sources: flag > environment > own `.env` > user file > project file and folder's `.env` > default, which of the theme is
    what the terminal says of its background.

    `flags` maps setting names to values given on the command line. Raises ConfigError for what cannot be used.
    """
    env = dict(environ)
    merge = _Merge()
    config_dir = paths.config_dir(env)
    root = checkout if checkout is not None else paths.checkout_root()
    own_env_files = [os.path.join(folder, ".env") for folder in (root, config_dir) if folder]
    work = str(flags.get("cwd") or env.get("AGENT_CWD") or cwd)

    if _is_light(env.get("COLORFGBG", "")):
        merge.user({"theme": "light"}, "COLORFGBG")
    merge.project(_read_toml(os.path.join(work, PROJECT_FILE), trusted=False, warn=merge.warn), PROJECT_FILE)
    if os.path.join(work, ".env") not in own_env_files:
        merge.project(_settings_of_env(_read_env(os.path.join(work, ".env"), trusted=False, warn=merge.warn)), ".env")

    user_file = str(flags.get("config") or env.get("AGENT_CONFIG") or os.path.join(config_dir, "config.toml"))
    explicit = bool(flags.get("config") or env.get("AGENT_CONFIG"))
    if explicit and not os.path.exists(user_file):
        raise ConfigError(f"settings file {user_file} does not exist")
    merge.user(_read_toml(user_file, trusted=True, warn=merge.warn), user_file)

    secrets: dict[str, str] = {}
    for path in reversed(own_env_files):  # the checkout's file is read last and so wins
        values = _read_env(path, trusted=True, warn=merge.warn)
        secrets.update({key: value for key, value in values.items() if not key.startswith("AGENT_")})
        merge.user(_settings_of_env(values, warn=merge.warn), path)
    merge.user(_settings_of_env(env), "environment", variable=True)
    merge.user({name: value for name, value in flags.items() if value is not None}, "command line")
    return Loaded(
        settings=msgspec.convert(merge.values, built(Settings)),
        origins=merge.origins,
        secrets=secrets,
        warnings=tuple(merge.warnings),
        environ=env,
    )


def trouble_in(path: str) -> str:
    """Say what is wrong with a person's settings file, in words; "" for nothing."""
    merge = _Merge()
    try:
        merge.user(_read_toml(path, trusted=True, warn=merge.warn), path)
    except ConfigError as error:
        return f"it cannot be used: {error}"
    return "; ".join(merge.warnings)


class _Merge:
    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.origins: dict[str, str] = {}
        self.warnings: list[str] = []

    def warn(self, text: str) -> None:
        self.warnings.append(text)

    def user(self, values: Mapping[str, Any], origin: str, *, variable: bool = False) -> None:
        for name, raw in values.items():
            setting = BY_NAME.get(name)
            if setting is None:
                self.warn(f"{origin}: unknown setting {name!r}{_nearest(name)}")
                continue
            try:
                self.values[name] = parse_value(setting, raw)
            except ValueError as error:
                shown = setting.env if variable else name
                given = "…" if name == "interview_database" else str(raw)[:80]  # there may be a password in it
                raise ConfigError(f"{origin}: {shown} = {given!r}: {error}") from None
            self.origins[name] = origin

    def project(self, values: Mapping[str, Any], origin: str) -> None:
        """A working folder's wishes: only what tightens counts, everything else is named and ignored."""
        for name, raw in values.items():
            setting = BY_NAME.get(name)
            if setting is None:
                continue
            try:
                value = parse_value(setting, raw)
            except ValueError as error:
                self.warn(f"{origin} of this folder: {name}: {error}; ignored")
                continue
            if _tightens(setting, value, self.values.get(name, getattr(Settings(), name))):
                self.values[name] = value
                self.origins[name] = f"{origin} of this folder"
            else:
                self.warn(f"{origin} of this folder may not set {name}; ignored")


def _is_light(colors: str) -> bool:
    """Tell whether a terminal's colours "TEXT;BACKGROUND" (with others in between, perhaps) have a light background."""
    background = colors.rpartition(";")[2]
    return background.isdecimal() and int(background) in (7, *range(9, 16))


def _tightens(setting: Setting, value: Any, current: Any) -> bool:
    if setting.from_project == "true":
        return value is True
    if setting.from_project == "lower":
        return current is None or value <= current
    if setting.from_project == "later":
        return setting.choices.index(value) >= setting.choices.index(current)
    if setting.from_project == "stricter":
        from agent.protocol.confinement import is_as_strict

        return is_as_strict(value, current)
    return False


def _settings_of_env(values: Mapping[str, str], warn: Any = None) -> dict[str, str]:
    by_env = {setting.env: setting.name for setting in SETTINGS}
    found = {}
    for key, value in values.items():
        if key in by_env:
            found[by_env[key]] = value
        elif warn is not None and key.startswith("AGENT_"):
            warn(f"unknown variable {key} in .env")
    return found


def _nearest(name: str) -> str:
    from agent.text.fuzzy import most_alike

    near = most_alike(name, BY_NAME)
    return f" (did you mean {near[0]!r}?)" if near else ""


def _read_file(path: str, *, trusted: bool, warn: Any) -> str | None:
    """The text of a settings file, None where there is none. The user's own must be readable; a folder's may be anything."""
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode):
            raise OSError("not a regular file")
        if status.st_size > _MAX_FILE:
            raise OSError("larger than 1 MB")
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError, ValueError) as error:
        reason = error.strerror or str(error) if isinstance(error, OSError) else str(error)
        if trusted:
            raise ConfigError(f"cannot read {path}: {reason}", hint="fix or remove it") from None
        warn(f"{os.path.basename(path)} of this folder cannot be read ({reason}); ignored")
        return None


def _read_toml(path: str, *, trusted: bool, warn: Any) -> dict[str, Any]:
    text = _read_file(path, trusted=trusted, warn=warn)
    if text is None:
        return {}
    import tomllib  # only where there is a file: start-up

    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        if trusted:
            raise ConfigError(f"{path}: {str(error)[:200]}", hint="fix or remove it") from None
        warn(f"{os.path.basename(path)} of this folder is malformed; ignored")
        return {}


def _read_env(path: str, *, trusted: bool, warn: Any) -> dict[str, str]:
    text = _read_file(path, trusted=trusted, warn=warn)
    if text is None:
        return {}
    from dotenv import dotenv_values  # only where there is a file: start-up

    if trusted and os.stat(path).st_mode & 0o077 and ("_KEY=" in text or "_TOKEN=" in text):
        warn(f"{path} can be read by others; run: chmod 600 {path}")
    # Interpolation would let a file pull other variables into a value; a settings file has no need of it.
    values = dotenv_values(stream=io.StringIO(text), interpolate=False)
    return {key: value for key, value in values.items() if value is not None}
