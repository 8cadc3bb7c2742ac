"""Write `.env.example` and the settings page from the table, so that they cannot lie."""

from __future__ import annotations

from agent.config.settings import Settings
from agent.config.table import SETTINGS, Setting

_GROUPS = {"planner": "Planner", "files": "Files", "safety": "Safety", "run": "One run", "screen": "Screen"}
_KEYS = ("OPENROUTER_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY")


def _default(setting: Setting) -> str:
    value = getattr(Settings(), setting.name)
    if value is None or value == ():
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def env_example() -> str:
    """The text of `.env.example`."""
    lines = [
        "# Copy to .env beside agent_shell.py (chmod 600), or to the folder that `agent-shell config path` names.",
        "# Nothing here is needed: without a key the offline planner works. Keys are never passed on to commands.",
        "",
        *(f"#{key}=" for key in _KEYS),
    ]
    for group, title in _GROUPS.items():
        lines += ["", f"# --- {title} ---"]
        for setting in SETTINGS:
            if setting.group == group:
                choices = f" ({' | '.join(setting.choices)})" if setting.choices else ""
                text = f"no: {setting.help}" if setting.inverted else setting.help
                lines += [f"# {text}{choices}", f"#{setting.env}={_default(setting)}"]
    return "\n".join(lines) + "\n"


def settings_page() -> str:
    """The text of `docs/settings.md`."""
    lines = [
        "# Settings",
        "",
        "Generated from `agent/config/settings.py` by `make docs`.",
        "",
        "Precedence: flag > environment > `.env` beside `agent_shell.py` or in the user's config folder > user file"
        " (`config.toml`) > `.agent-shell.toml` and `.env` of the working folder > default. What comes from the working"
        " folder may only tighten; the last column says how.",
        "",
        "| setting | flag | environment | default | meaning | working folder |",
        "|---|---|---|---|---|---|",
    ]
    allowed = {
        "never": "no",
        "lower": "may lower",
        "true": "may switch on",
        "later": "may tighten",
        "stricter": "may confine more",
    }
    for setting in SETTINGS:
        flag = f"`{setting.flag}`" if setting.flag else ""
        choices = f" ({', '.join(f'`{choice}`' for choice in setting.choices)})" if setting.choices else ""
        default = f"`{_default(setting)}`" if _default(setting) else ""
        text = f"flag: {setting.help}" if setting.inverted else setting.help
        lines.append(
            f"| `{setting.name}` | {flag} | `{setting.env}` | {default} | {text}{choices} | "
            f"{allowed[setting.from_project]} |"
        )
    return "\n".join(lines) + "\n"
