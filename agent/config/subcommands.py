"""The sub-commands: one table for the parser, the help and the completion scripts. Imports nothing."""

# name -> (usage after the name, one line of help)
SUBCOMMANDS: dict[str, tuple[str, str]] = {
    "plan": ("[options] [--json] [--batch FILE|-] [GOAL...]", "ask the planner once; run nothing"),
    "risk": (
        "[--json] [--explain] [--policy] [--safety-policy PATH] [--cwd DIR] [--batch FILE|-] [COMMAND]",
        "rate a command; run nothing",
    ),
    "exec": ("[options] COMMAND", "run your own command through gate, executor and log"),
    "rehearse": (
        "[--json] [--network] [--cwd DIR] [--timeout SECONDS] COMMAND",
        "show what a command would change; change nothing",
    ),
    "undo": ("[--list] [--yes] [--json] [ID]", "take back a run: the newest one, or ID"),
    "sessions": ("ACTION [options]", "look through, check, replay and export what was recorded"),
    "doctor": ("[--json]", "what works here, and what to do about the rest"),
    "models": ("[list|show|use] [NAME] [--json]", "the models of this machine, and using one"),
    "config": ("[show|path|edit] [--json]", "settings and where each came from"),
    "completions": ("bash|zsh|fish", "a completion script for your shell"),
}
