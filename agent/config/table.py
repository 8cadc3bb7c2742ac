"""List every setting once: kind, flag, environment variable, help. Flags, `.env.example` and docs come from this table.

`kind` is text, int, float, bool, choice, texts or size (bytes: 500M); `from_project` is never, lower, true, later or stricter.
"""

from __future__ import annotations

from typing import NamedTuple


class Setting(NamedTuple):
    """One row of the table. `from_project` says what a working folder may do: nothing, lower a number, switch it on,
    take a later choice (they come from lax to strict), or confine more.

    Rows without a flag are set by environment or file only; an `inverted` flag switches its setting off. `zero`: a size that may be 0;
    `off_flag`: of a choice, what sets it to "off".
    """

    name: str
    kind: str
    help: str
    flag: str | None = None
    choices: tuple[str, ...] = ()
    metavar: str | None = None
    from_project: str = "never"
    group: str = "planner"
    short: str | None = None
    inverted: bool = False
    zero: bool = False
    off_flag: str | None = None

    @property
    def env(self) -> str:
        """Its environment variable."""
        return "AGENT_" + self.name.upper()


SETTINGS: tuple[Setting, ...] = (
    Setting(
        name="planner", kind="text", flag="--planner", metavar="NAME",
        help="auto, offline, local, cascade, openrouter, openai, anthropic, ollama, llamacpp …, or scripted:FILE",
    ),
    Setting(name="model", kind="text", flag="--model", help="model name, as the provider calls it"),
    Setting(name="base_url", kind="text", flag="--base-url", metavar="URL", help="an OpenAI-compatible endpoint"),
    Setting(
        name="api_key_env", kind="text", flag="--api-key-env", metavar="NAME", help="environment variable with the key"
    ),
    Setting(
        name="timeout", kind="float", flag="--timeout", metavar="SECONDS", help="end a model call after this long (silence: 120; local 600)"
    ),
    Setting(name="max_retries", kind="int", help="how often a failed model call is repeated"),
    Setting(
        name="codec", kind="choice", choices=("auto", "mode-json", "small-json", "small-text", "plan-json", "native"),
        help="how replies are written: mode-json, small-json or small-text (for small models), plan-json or native tool calls",
    ),
    Setting(name="temperature", kind="float", help="sampling temperature, if the model takes one"),
    Setting(name="context_tokens", kind="int", help="how much history the planner is shown, in tokens"),
    Setting(
        name="compress_tokens", kind="int",
        help="shorten the history to a summary when it is longer than this, in tokens (three quarters of context_tokens)",
    ),
    Setting(name="max_output_tokens", kind="int", help="longest reply of a model, in tokens"),
    Setting(name="stream", kind="bool", help="show replies as they come"),
    Setting(
        name="examples", kind="choice", choices=("auto", "on", "off"),
        help="show a model the recipes nearest to a goal as examples; auto: models of this machine",
    ),
    Setting(
        name="cascade", kind="text", metavar="NAMES",
        help="planners to ask one after another, as in offline,local,remote; see docs/local-models.md",
    ),
    Setting(name="models_dir", kind="text", help="another folder with GGUF model files"),
    Setting(name="ca_file", kind="text", help="certificates to trust for the model's server (PEM)"),
    Setting(name="proxy", kind="text", help="proxy for the model's server; otherwise *_PROXY variables count"),
    Setting(name="config", kind="text", flag="--config", metavar="PATH", group="files", help="another settings file"),
    Setting(
        name="session_dir", kind="text", flag="--session-dir", metavar="DIR", group="files", help="where logs are kept"
    ),
    Setting(
        name="session_id", kind="text", flag="--session-id", metavar="ID", group="files", help="go on in this session"
    ),
    Setting(
        name="persist", kind="bool", flag="--no-persist", inverted=True, group="files", help="keep no session log"
    ),
    Setting(
        name="rotate_bytes", kind="size", group="files", zero=True,
        help="go on in another file when one of a session has grown to this (256M; 0: never)",
    ),
    Setting(
        name="sign_key", kind="text", group="files",
        help="sign the logs' heads: a key file made by `sessions verify --make-key`, or keyring",
    ),
    Setting(
        name="redact", kind="choice", choices=("secrets", "pii"), flag="--redact", group="files", from_project="later",
        help="what labels replace: secrets, or personal data (pii) too",
    ),
    Setting(
        name="show_secrets", kind="bool", flag="--no-redact", group="files",
        help="show secrets on your own screen; log and planner still get labels",
    ),
    Setting(
        name="memory", kind="choice", choices=("on", "local", "off"), flag="--memory", off_flag="--no-memory", group="files",
        from_project="later",
        help="commands that were accepted before go as examples to every planner (on) or to those on this machine (local); "
        "off: nothing is remembered",
    ),
    Setting(
        name="telemetry_file", kind="text", flag="--telemetry-file", metavar="PATH", group="files",
        help="append counts, times and outcomes to this file, one flat JSON object an event; see docs/telemetry.md",
    ),
    Setting(
        name="approve", kind="choice", choices=("ask", "low", "medium"), flag="--approve", group="safety",
        help="what may run without asking; high always asks",
    ),
    Setting(
        name="own", kind="choice", choices=("low", "ask"), group="safety", from_project="later",
        help="your own commands, as you typed them: those of low risk run at once (low), or each is asked about (ask)",
    ),
    Setting(
        name="safety_off", kind="bool", flag="--safety-off", group="safety",
        help="high-risk commands need no typed word (this run only)",
    ),
    Setting(
        name="safety_policy", kind="text", flag="--safety-policy", metavar="PATH", group="safety",
        help="patterns that raise risk and ask (JSON, YAML or TOML); see docs/policy.md",
    ),
    Setting(
        name="dry_run", kind="bool", flag="--dry-run", group="safety", from_project="true",
        help="plan and rate, run nothing",
    ),
    Setting(
        name="rehearse", kind="choice", choices=("auto", "preview", "ask", "off"), flag="--rehearse", group="safety",
        help="rehearse commands that write: always (auto), to show what they would do (preview), as an offer "
        "(ask), when told to (off)",
    ),
    Setting(
        name="rehearsal_files", kind="int", group="safety", from_project="lower",
        help="end a rehearsal that writes more files than this",
    ),
    Setting(
        name="rehearsal_bytes", kind="size", group="safety", from_project="lower",
        help="end a rehearsal that writes more than this (1G)",
    ),
    Setting(
        name="rehearsal_seconds", kind="float", group="safety", from_project="lower",
        help="end a rehearsal after this long where command_timeout is not set (300)",
    ),
    Setting(name="undo_keep_bytes", kind="size", group="safety", help="what undo may hold on disk; the oldest goes first"),
    Setting(name="undo_keep_days", kind="int", group="safety", help="how long runs can be taken back"),
    Setting(
        name="max_steps", kind="int", flag="--max-steps", metavar="N", group="safety", from_project="lower",
        help="planner calls a goal may take",
    ),
    Setting(
        name="time_budget", kind="float", group="safety", from_project="lower", help="seconds a goal may take"
    ),
    Setting(
        name="token_budget", kind="int", group="safety", from_project="lower", help="tokens a goal may take"
    ),
    Setting(
        name="command_timeout", kind="float", flag="--command-timeout", metavar="SECONDS", group="safety",
        from_project="lower", help="end a command after this long",
    ),
    Setting(
        name="confine", kind="choice", flag="--confine", group="safety", from_project="stricter",
        choices=("off", "workspace", "read-only", "no-network", "workspace,no-network", "read-only,no-network"),
        metavar="MODE",
        help="what commands may touch: off, workspace, read-only, no-network, or one of the middle two with ,no-network; "
        "one that cannot be confined asks, or does not run",
    ),
    Setting(
        name="confine_write", kind="texts", flag="--confine-write", metavar="DIR", group="safety",
        help="a folder that commands confined to the workspace may write, too",
    ),
    Setting(
        name="limit_output", kind="size", flag="--limit-output", metavar="SIZE", group="safety", from_project="lower",
        help="end a command that writes more output than this (500M)",
    ),
    Setting(
        name="limit_memory", kind="size", flag="--limit-memory", metavar="SIZE", group="safety", from_project="lower",
        help="end a command that holds more memory than this",
    ),
    Setting(
        name="limit_file_size", kind="size", flag="--limit-file-size", metavar="SIZE", group="safety",
        from_project="lower", help="let a command write no file larger than this",
    ),
    Setting(
        name="limit_processes", kind="int", flag="--limit-processes", metavar="N", group="safety",
        from_project="lower", help="end a command that has more processes than this at a time",
    ),
    Setting(
        name="role", kind="text", flag="--role", metavar="NAME", group="run",
        help="how the planner should behave: explain, commit, review, … (`:role` + Tab), or a file NAME.md in your roles folder",
    ),
    Setting(
        name="rag", kind="text", flag="--rag", metavar="NAME", group="run",
        help="documents of yours to look up beside each goal: a file NAME.yaml in your rags folder",
    ),
    Setting(
        name="agent", kind="text", flag="--agent", metavar="NAME", group="run",
        help="an agent to work with: sysadmin, reviewer, data, or a file NAME.md of yours; 'NAME KEY=VALUE' fills variables",
    ),
    Setting(
        name="prelude", kind="text", group="run",
        help="what to set at the first goal of each new session, as typed: role terse; rag notes",
    ),
    Setting(
        name="interview_strategies", kind="choice", choices=("engine", "rules", "model"), group="run",
        help="who chooses techniques and names modes in interviews: rules, the model (two more calls a turn), or as the engine says",
    ),
    Setting(
        name="interview_database", kind="text", group="files",
        help="where interviews are kept beside their logs: postgresql://…, sqlite:///PATH, or none; by default a file in the state folder",
    ),
    Setting(
        name="interview_tasks", kind="choice", choices=("auto", "inline", "sqlite", "dbos"), group="run",
        help="background work of interviews: lost with the process (inline), or kept in their database (sqlite; dbos on PostgreSQL)",
    ),
    Setting(name="cwd", kind="text", flag="--cwd", metavar="DIR", group="run", help="work in this folder"),
    Setting(
        name="file", kind="texts", flag="--file", metavar="PATH", group="run", help="show this file or image to the planner"
    ),
    Setting(name="code", kind="bool", flag="--code", group="run", help="answer with code only"),
    Setting(
        name="auto_continue", kind="bool", flag="--auto-continue", group="run", help="go on while an agent has tasks"
    ),
    Setting(name="json", kind="bool", flag="--json", group="run", help="JSON on stdout: events as lines; one object of plan and rehearse"),
    Setting(
        name="shell", kind="choice", choices=("bash", "zsh", "fish", "sh", "auto"), group="run",
        help="your own shell; it runs what means the same there as in bash (auto: $SHELL)",
    ),
    Setting(
        name="tty", kind="choice", choices=("auto", "on", "off"), group="run",
        help="which terminal commands get: what fits, all of yours, or none",
    ),
    Setting(name="edit_mode", kind="choice", choices=("emacs", "vi"), group="screen", help="keys of the prompt"),
    Setting(name="highlight", kind="bool", group="screen", help="render Markdown and highlight code"),
    Setting(
        name="theme", kind="text", group="screen",
        help="colours for a background that is dark or light, or a Pygments style for code; by default what COLORFGBG says, else dark",
    ),
    Setting(
        name="notify", kind="choice", choices=("auto", "osc9", "osc777", "off"), group="screen",
        help="tell the terminal when a command of more than 10 s has ended; auto: where it is known to notify",
    ),
    Setting(name="spinner", kind="bool", group="screen", help="show that the planner is thinking"),
    Setting(name="panel", kind="bool", group="screen", help="show what an interview knows beside it, on wide terminals"),
    Setting(
        name="shell_history", kind="bool", group="screen", help="add commands that ran to your shell's history file"
    ),
    Setting(name="verbose", kind="bool", flag="--verbose", short="-v", group="screen", help="show more detail"),
    Setting(name="debug", kind="bool", flag="--debug", group="screen", help="show tracebacks"),
)  # fmt: skip

BY_NAME: dict[str, Setting] = {setting.name: setting for setting in SETTINGS}
