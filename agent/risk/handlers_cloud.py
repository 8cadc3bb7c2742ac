"""Cloud clients: hundreds of services, whose verbs follow a pattern."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.risk.invocation import Invocation, Output
from agent.risk.knowledge_store import Program
from agent.risk.options import Args

if TYPE_CHECKING:
    from agent.risk.walk import Walker

_READS = re.compile(
    r"^(?:describe|list|get|ls|show|head|search|query|scan|lookup|view|check|test|validate|estimate|"
    r"preview|wait|help|print|detect|filter|batch-get|select|generate|version|info|browse|tail|read|"
    r"simulate|decode|count|history|status|whoami|diff|presign|export-table)"
)
_DESTROYS = re.compile(
    r"^(?:delete|destroy|terminate|remove|purge|rb|rm|deregister|disable|revoke|reset|release|detach|cancel|stop-logging|abort|drop|wipe|clear|"
    r"schedule-key-deletion|unsubscribe|batch-delete|forget|deprovision|reject|empty|kill|expire|decommission|discard|withdraw|del$|unset)"
)
_SECRETS = re.compile(
    r"get-secret-value|get-parameters?(?:-by-path)?$|decrypt|get-session-token|get-login-password|print-access-token|print-identity-token|"
    r"get-access-token|get-credentials|create-access-key|get-authorization-token|list-keys|show-connection-string|export-credentials|get-password-data|"
    r"access$|show-secret|list-credentials|get-federation-token"
)
_SECRET_CHANGES = re.compile(
    r"^(?:put-secret-value|update-secret|rotate-secret|put-key-policy|put-resource-policy|restore-secret)"
)
_POLICY = re.compile(
    r"^(?:put-bucket-policy|put-bucket-acl|put-public-access-block|delete-public-access-block|"
    r"attach-(?:user|role|group)-policy|put-(?:user|role|group)-policy|add-iam-policy-binding|"
    r"set-iam-policy|create-login-profile|add-user-to-group|authorize-security-group)"
)


def aws(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """aws SERVICE VERB."""
    place = invocation.place
    operands = args.operands
    if len(operands) < 2 or args.has("--dryrun", "--dry-run", "--generate-cli-skeleton") or operands[-1].text == "help":
        return None, ""
    service, verb = operands[0].text, operands[1].text
    rule = f"cloud.{service}"
    if service == "s3":
        return _s3(walker, invocation, args, verb)
    if service == "configure" and verb in ("list", "get", "list-profiles"):
        return None, ""
    if service in ("ssm",) and verb in ("send-command", "start-session"):
        walker.add("remote-shell", operands[2:], place, rule=rule)
        return None, ""
    if _SECRETS.search(verb):
        walker.add("secret", operands[2:], place, reason="shows secrets of the cloud account", rule="secret.cloud")
        return None, "secret"
    if _SECRET_CHANGES.search(verb) and service in ("secretsmanager", "kms", "ssm"):
        walker.add("secret-destroy", operands[2:], place, rule=rule)
    elif _DESTROYS.search(verb):
        walker.add("cloud-destroy", operands[1:], place, rule=rule)
    elif _POLICY.search(verb):
        walker.add(
            "cloud-destroy", operands[1:], place, reason="changes who may reach resources in the cloud", rule=rule
        )
    elif not _READS.search(verb):
        walker.add("cloud-change", operands[1:], place, rule=rule)
    return None, ""


def _s3(walker: Walker, invocation: Invocation, args: Args, verb: str) -> Output:
    place = invocation.place
    targets = args.operands[2:]
    if verb in ("ls", "presign"):
        return None, ""
    if (
        verb == "rb"
        or (verb == "rm" and args.has("--recursive"))
        or (verb == "sync" and args.has("--delete"))
        or (verb == "mv" and args.has("--recursive"))
    ) or verb == "rm":
        walker.add("cloud-destroy", targets, place, rule="cloud.s3")
    elif verb in ("cp", "sync", "mv"):
        secret = any(
            walker.rater.scopes.of(word, invocation.cwd) == "secrets"
            for word in targets[:-1]
            if not word.text.startswith("s3://")
        ) or (invocation.stdin is not None and "secret" in invocation.stdin[1])
        if secret:
            walker.add("send-secret", targets, place)
        elif targets and not targets[-1].text.startswith("s3://") and targets[-1].text != "-":
            walker.add("copy-to", targets[-1:], place, invocation=invocation)
        else:
            walker.add("send", targets, place, rule="cloud.s3")
        if targets and targets[0].text.startswith("s3://"):
            return None, "net"
    else:
        walker.add("cloud-change", targets, place, rule="cloud.s3")
    return None, ""


def cloud(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:  # noqa: PLR0912
    """gcloud GROUP … VERB, az GROUP … VERB: the verb is the first operand that looks like one."""
    place = invocation.place
    texts = [word.text for word in args.operands]
    if not texts or args.has("--help", "-h"):
        return None, ""
    if texts[:2] in (["compute", "ssh"], ["ssh", "vm"]):
        walker.add("remote-shell", args.operands[2:], place)
        for word in args.values("--command"):
            walker.script(word.text, place, invocation)
        return None, ""
    for index, text in enumerate(texts):
        if _SECRETS.search(text):
            walker.add(
                "secret", args.operands[index:], place, reason="shows secrets of the cloud account", rule="secret.cloud"
            )
            return None, "secret"
        if _DESTROYS.search(text) and index > 0:
            walker.add("cloud-destroy", args.operands[index + 1 :], place, rule=f"cloud.{texts[0]}")
            return None, ""
        if _POLICY.search(text):
            walker.add(
                "cloud-destroy", args.operands[index:], place, reason="changes who may reach resources in the cloud"
            )
            return None, ""
        if _READS.search(text) or text in ("list", "describe"):
            return None, ""
    if texts[0] in ("info", "version", "help", "topic", "find", "account", "config") and len(texts) < 2:
        return None, ""
    if table.name == "bq" or invocation.words[0].text == "bq":
        if texts[0] == "rm":
            walker.add("db-destroy", args.operands[1:], place)
            return None, ""
        if texts[0] == "query":
            from agent.risk.handlers_data import judge_sql

            for text in texts[1:]:
                judge_sql(walker, invocation, text)
            return None, ""
    walker.add("cloud-change", args.operands, place, rule=f"cloud.{texts[0]}")
    return None, ""
