"""bash-classify: its own three risks."""

from bash_classify import classify_expression, load_database, load_sensitive_paths

DATABASE, SENSITIVE = load_database(), load_sensitive_paths()


def rate(command):
    return classify_expression(command, DATABASE, SENSITIVE).risk.value.lower()
