"""Judge cloud clients: hundreds of services, whose verbs follow a pattern."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.risk.invocations.leaks import is_kept
from agent.risk.reader.words import Invocation, Output, Word
from agent.risk.tables.names import names, pattern
from agent.risk.tables.options import Args
from agent.risk.tables.store import Program
from agent.text.lazy_pattern import LazyPattern

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_READS = pattern("cloud.reads", form=r"^(?:{})(?:$|-)|-(?:list|show|describe|view)$")
_DESTROYS = pattern(
    "cloud.destroys",
    form=r"^(?:{})(?:$|-)|^(?:stop-logging|schedule-key-deletion|force-\w+)|-(?:delete|destroy|remove|purge|rm|reset|revoke)$",
)
_CHANGES = pattern("cloud.changes", form=r"^(?:{})(?:$|-)")
_SECRETS = pattern("cloud.secrets")
_SECRET_CHANGES = pattern("cloud.secret_changes")
_POLICY = pattern("cloud.policy")

_ALONE = names("cloud.alone")
_KEYS = pattern("cloud.keys")
_NOUNS = pattern("cloud.nouns", form=r"^(?:{})$")
_SHELLS = re.compile(r"^(?:compute ssh|ssh vm|server ssh|vm run-command invoke)\b")


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
    elif (service, verb) == ("s3api", "get-object") and len(operands) > 2:
        walker.add("write", operands[2:3], place, invocation=invocation, rule="download.file")
    elif _DESTROYS.search(verb):
        walker.add("cloud-destroy", operands[1:], place, rule=rule)
    elif _POLICY.search(verb):
        walker.add(
            "cloud-destroy", operands[1:], place, reason="changes who may reach resources in the cloud", rule=rule
        )
    elif not _READS.search(verb):
        _change(walker, invocation, operands[1:], rule)
    return None, ""


_ALL_RIGHTS = LazyPattern(
    r"\brole\S*[ =](?:roles/)?(?:owner|administrator|user access administrator)\b|\badministratoraccess\b|\bmanage all-resources\b",
    re.I,
)


def _change(walker: Walker, invocation: Invocation, targets: list[Word], rule: str) -> None:
    """A change of some kind; one that gives somebody all rights is as bad as any."""
    if _ALL_RIGHTS.search(" ".join(word.text for word in invocation.words)):
        reason = "gives all rights in the cloud to {targets}"
        walker.add("cloud-destroy", targets, invocation.place, reason=reason, rule="cloud.all-rights")
    else:
        walker.add("cloud-change", targets, invocation.place, rule=rule)


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
            is_kept(walker, invocation, word) for word in targets[:-1] if not word.text.startswith("s3://")
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


def plain_verb(text: str) -> str:
    """`DescribeInstances` and `list:apps` as other clients write them: `describe-instances`, `list-apps`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", text).lower().replace(":", "-").replace("_", "-")


def cloud(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """gcloud GROUP … VERB, az GROUP … VERB: the verb is the first operand that looks like one, and what is behind it are names."""
    place = invocation.place
    operands = args.operands
    texts = [plain_verb(word.text) for word in operands]
    if not texts or texts[0] in _ALONE or not args.names.isdisjoint(table.dry):
        return None, ""
    name = invocation.words[0].text.rpartition("/")[2]
    if name == "bq" and texts[0] in ("rm", "query"):
        _bigquery(walker, invocation, args, texts[0])
        return None, ""
    if _SHELLS.match(" ".join(texts)):
        walker.add("remote-shell", operands[2:], place)
        return None, ""
    for index, text in enumerate(texts):
        if _SECRETS.search(text) or _KEYS.search(" ".join(texts[index : index + 2])):
            walker.add(
                "secret", operands[index:], place, reason="shows secrets of the cloud account", rule="secret.cloud"
            )
            return None, "secret"
        if _DESTROYS.search(text) and (index > 0 or len(texts) > 1):
            walker.add("cloud-destroy", operands[index + 1 :], place, rule=f"cloud.{texts[0]}")
            return None, ""
        if _POLICY.search(text):
            reason = "changes who may reach resources in the cloud"
            walker.add("cloud-destroy", operands[index:], place, reason=reason)
            return None, ""
        if _READS.search(text) and not _is_noun(texts[index:]):
            return None, ""
        if _CHANGES.search(text) and not any(_DESTROYS.match(later) for later in texts[index + 1 : index + 4]):
            break
    _change(walker, invocation, operands, f"cloud.{texts[0]}")
    return None, ""


def _is_noun(texts: list[str]) -> bool:
    """Tell whether a reading word names what a later word changes: `az search service delete`, `gcloud logging logs delete`."""
    later = texts[1:4]
    return _NOUNS.match(texts[0]) is not None and any(_DESTROYS.match(t) or _CHANGES.match(t) for t in later)


def _bigquery(walker: Walker, invocation: Invocation, args: Args, verb: str) -> None:
    if verb == "rm":
        walker.add("db-destroy", args.operands[1:], invocation.place)
        return
    from agent.risk.programs.databases import judge_sql

    for word in args.operands[1:]:
        judge_sql(walker, invocation, word.text, word.taint)


_ANSIBLE_ASKS = names("ansible.asks")
_ANSIBLE_RUNS = frozenset(("command", "shell", "raw"))


def ansible(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """ansible HOSTS -m MODULE -a ARGUMENTS: some modules only ask; `command` and `shell` run what they are given, everywhere."""
    if not args.names.isdisjoint(table.dry):
        return None, ""
    module = args.value("-m", "--module-name")
    name = module.text.rpartition(".")[2] if module is not None else "command"
    if name in _ANSIBLE_ASKS:
        return None, ""
    text = args.value("-a", "--args")
    if name not in _ANSIBLE_RUNS or text is None:
        return None
    walker.add("remote-shell", args.operands[:1], invocation.place, reason="runs a command on many machines: {targets}")
    walker.script(text.text, invocation.place, invocation)
    return None, ""


_SALT_ASKS = pattern("salt.asks")


def salt(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """salt TARGET FUNCTION …, salt-call FUNCTION …: some functions only ask, and `test=True` only tells."""
    position = 0 if table.name == "salt-call" or invocation.words[0].text.endswith("salt-run") else 1
    texts = [word.text for word in args.operands]
    if not args.names.isdisjoint(table.dry) or "test=True" in texts:
        return None, ""
    if len(texts) > position and _SALT_ASKS.match(texts[position]):
        return None, ""
    return None
