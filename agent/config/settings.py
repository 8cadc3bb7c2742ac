"""Hold the settings of a process as a typed value, make text into one, and show one without what is secret in it."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from agent.config.table import Setting
from agent.text.sizes import bytes_in


class Settings(Struct, frozen=True, kw_only=True):
    """The settings of one process, typed. Seconds for times, bytes for sizes, None for "not set"."""

    planner: str = "auto"
    model: str | None = None
    base_url: str | None = None
    api_key_env: str | None = None
    timeout: float | None = None
    max_retries: int = 2
    codec: str = "auto"
    temperature: float | None = None
    context_tokens: int = 32_000
    compress_tokens: int | None = None
    max_output_tokens: int | None = None
    stream: bool = True
    examples: str = "auto"
    cascade: str | None = None
    models_dir: str | None = None
    ca_file: str | None = None
    proxy: str | None = None
    config: str | None = None
    session_dir: str | None = None
    session_id: str | None = None
    persist: bool = True
    rotate_bytes: int = 256 << 20
    sign_key: str | None = None
    redact: str = "secrets"
    show_secrets: bool = False
    memory: str = "local"
    telemetry_file: str | None = None
    approve: str = "ask"
    own: str = "low"
    safety_off: bool = False
    safety_policy: str | None = None
    dry_run: bool = False
    rehearse: str = "preview"
    rehearsal_files: int = 20_000
    rehearsal_bytes: int = 1 << 30
    rehearsal_seconds: float = 300.0
    undo_keep_bytes: int = 2 << 30
    undo_keep_days: int = 30
    max_steps: int = 25
    time_budget: float | None = None
    token_budget: int | None = None
    command_timeout: float | None = None
    confine: str = "off"
    confine_write: tuple[str, ...] = ()
    limit_output: int | None = None
    limit_memory: int | None = None
    limit_file_size: int | None = None
    limit_processes: int | None = None
    role: str | None = None
    rag: str | None = None
    prelude: str | None = None
    interview_strategies: str = "engine"
    interview_database: str = ""
    interview_tasks: str = "auto"
    agent: str | None = None
    cwd: str | None = None
    file: tuple[str, ...] = ()
    code: bool = False
    auto_continue: bool = False
    json: bool = False
    shell: str = "bash"
    tty: str = "auto"
    edit_mode: str = "emacs"
    highlight: bool = True
    theme: str = "dark"
    notify: str = "auto"
    spinner: bool = True
    panel: bool = True
    shell_history: bool = False
    verbose: bool = False
    debug: bool = False


_TRUE = {"1", "true", "yes", "on"}
_FALSE = {"0", "false", "no", "off", ""}


def parse_value(setting: Setting, raw: Any) -> Any:
    """Turn text (flag, environment) or a TOML value into the setting's type; ValueError says what was expected."""
    kind = setting.kind
    if kind == "bool":
        return _parse_bool(raw)
    if kind == "texts":
        values = raw if isinstance(raw, (list, tuple)) else [part for part in str(raw).split(":") if part]
        return tuple(str(value) for value in values)
    if isinstance(raw, (dict, list, bool)):
        raise ValueError(f"expected {kind}, not {type(raw).__name__}")
    if kind in ("int", "float"):
        return _parse_number(setting, raw)
    if kind == "size":
        return 0 if setting.zero and str(raw).strip() == "0" else _parse_size(str(raw))
    text = str(raw)
    if kind == "choice" and text not in setting.choices:
        raise ValueError(f"expected one of {', '.join(setting.choices)}")
    if "\x00" in text:
        raise ValueError("contains a NUL character")
    return text


def _parse_bool(raw: Any) -> bool:
    if isinstance(raw, bool):
        return raw
    text = str(raw).strip().lower()
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    raise ValueError("expected true or false")


def _parse_size(text: str) -> int:
    size = bytes_in(text)
    if not 1 <= size < 1 << 62:
        raise ValueError("expected a size of at least 1 byte")
    return size


def _parse_number(setting: Setting, raw: Any) -> int | float:
    try:
        number = int(str(raw)) if setting.kind == "int" else float(str(raw))
    except ValueError:
        raise ValueError("expected a number") from None
    minimum = 0 if setting.name in ("max_retries", "temperature") else 1e-9
    if not minimum <= number < 1e12:  # NaN and infinity fail this, too
        raise ValueError("expected a positive number")
    return number


def shown_url(url: str) -> str:
    """The URL of a database without user, password and options; nothing of it where a password may stand in another part."""
    from urllib.parse import urlsplit  # with the addresses it knows, a fiftieth of a first frame

    try:
        parts = urlsplit(url)
        if "@" in f"{parts.path}{parts.query}{parts.fragment}":
            return "postgresql://…"
        port = f":{parts.port}" if parts.port else ""
        return f"{parts.scheme.partition('+')[0]}://{parts.hostname or ''}{port}{parts.path}"
    except ValueError:
        return "postgresql://…"


def shown_value(setting: str, value: Any) -> Any:
    """The value of a setting as it may be seen: without credentials inside URLs."""
    if setting == "interview_database":
        return value if value in ("", "none") else shown_url(value) if "://" in value else "…"
    if not isinstance(value, str) or "://" not in value:
        return value
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(value)
    except ValueError:
        return "(not shown: not a URL)"
    return parts._replace(netloc="…@" + parts.netloc.rpartition("@")[2]).geturl() if "@" in parts.netloc else value


def secrets_of(url: str) -> list[str]:
    """Every part of the URL that may be one, longest first."""
    from urllib.parse import parse_qsl, unquote, urlsplit

    try:
        parts = urlsplit(url)
        password, values = parts.password or "", [value for _, value in parse_qsl(parts.query) if len(value) > 5]
        found = [password, unquote(password), *values, url]
    except ValueError:
        found = [url]
    return sorted({each for each in found if each}, key=len, reverse=True)
