"""Variables that hold a program's arguments are read as arguments, where the program is started that has them."""

from __future__ import annotations

from agent.risk.classifier import classify
from tests.support.each import each

HELD = (
    ("TF_CLI_ARGS_apply", "-destroy -auto-approve", "terraform apply"),
    ("TF_CLI_ARGS", "-auto-approve", "tofu apply"),
    ("MAVEN_ARGS", "deploy", "mvn"),
    ("HELM_ARGS", "uninstall x", "helm"),
    ("RSYNC_OPTS", "--delete", "rsync a/ b/"),
)


@each("name, value, command", HELD)
def test_they_are_as_high_as_on_the_line(name: str, value: str, command: str) -> None:
    assert classify(f"{command} {value}").level.value == "high"
    assert classify(f"{name}='{value}' {command}").level.value == "high"
    assert classify(f"export {name}='{value}'; {command}").level.value == "high"
    assert classify(f"env {name}='{value}' {command}").level.value == "high"


def test_those_of_another_program_or_sub_command_are_not() -> None:
    assert classify("TF_CLI_ARGS_destroy=-auto-approve terraform apply").level.value == "medium"
    assert classify("HELM_ARGS='uninstall x' ls").level.value != "high"
    assert classify("TF_CLI_ARGS_plan=-no-color terraform plan").level.value == "low"
