"""Answer what the product itself knows: what a command means, what was run before, and what comes out of a sum."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from fractions import Fraction

from agent.protocol.replies import Chat, Command, Reply

_MEANING = re.compile(
    r"(?is)\s*(?:please )?(?:explain|what (?P<asks>does|would))\s+(?:the command\s+)?"
    r"(?P<quote>[`'\"]?)(?P<command>[a-z][\w.+-]*\s.*?)(?P=quote)(?P<does>\s+(?:do|mean))?\s*\??\s*"
)
_RAN = re.compile(
    r"(?i)\s*(?:what|which)(?: commands?)? (?:did|have|had) i (?:run|ran|do|done|type|typed|use|used|execute|executed)"
    r"(?P<when> today| yesterday| this week| last week| last| just now| so far)?(?: here)?\s*\??\s*"
)
_SUM = re.compile(
    r"(?i)\s*(?P<asks>please |(?:what(?:'?s| is)|how much is|calculate|compute|work out) )?"
    r"(?P<sum>[(\d.](?:[\d\s.()+*/%-]|plus|minus|times|x|divided by|percent|of){1,200})=?\s*\??\s*"
)
_SIGNS = (
    ("plus", "+"),
    ("minus", "-"),
    ("times", "*"),
    ("x", "*"),
    ("divided by", "/"),
    (r"(?:%|percent)\s+of", "/100*"),
)
_ARTICLES = frozenset(("the", "a", "an", "this", "that", "my", "what", "why", "how", "in"))
# How old what is asked for may be, and from which day on it is too new.
_SINCE = {"today": "--since today", "yesterday": "--since yesterday --until yesterday", "week": "--since '1 week'"}


def answer_of_product(text: str, present: Callable[[str], bool]) -> Reply | None:
    """The explanation of a command, or where earlier ones are found; None for any other goal. `present`: whether a program is here."""
    asked = _MEANING.fullmatch(text)
    if asked is not None and bool(asked["asks"]) == bool(asked["does"]) and _is_command(asked["command"], present):
        return Chat(message=_explained(asked["command"].strip()))
    ran = _RAN.fullmatch(text)
    if ran is None:
        return _sum(text)
    when = _SINCE.get((ran["when"] or "").rpartition(" ")[2].lower(), "")
    command = f"agent-shell sessions search {when}".rstrip()
    if present("agent-shell"):
        return Command(command=command, reason="searches the logs of your sessions", confidence=0.95)
    return Chat(message=f"`:history` lists what was done in this session; `{command}` searches all of them.")


def _sum(text: str) -> Chat | None:
    """Work out "15% of 240" or "12*34"; None for what is no sum, as a date or an address is none."""
    asked = _SUM.fullmatch(text)
    if asked is None or not (asked["asks"] or re.search(r"[*+%]|[a-z]| [-/] ", asked["sum"])):
        return None
    written = asked["sum"].lower()
    for word, sign in _SIGNS:
        written = re.sub(rf"(?<=[\d\s)]){word}(?=[\d\s(.])", sign, written)
    try:
        body = ast.parse(written.strip(), mode="eval").body
        found = _value(body)
    except (SyntaxError, ValueError, ArithmeticError, RecursionError, MemoryError):
        return None
    if not isinstance(body, ast.BinOp):
        return None
    shown = str(found) if found.denominator == 1 else f"{float(found):.10g}"
    return Chat(message=f"{' '.join(asked['sum'].split())} = {shown}")


def _value(node: ast.expr) -> Fraction:
    """The value of a sum. ValueError for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return Fraction(str(node.value))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand)
    if not isinstance(node, ast.BinOp):
        raise ValueError
    left, right = _value(node.left), _value(node.right)
    match node.op:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case ast.Div():
            return left / right
    raise ValueError


def _is_command(text: str, present: Callable[[str], bool]) -> bool:
    """Tell whether a text is a command line rather than words: a program that is here, and something that no sentence has."""
    program, _, rest = text.strip().partition(" ")
    return present(program) and bool(
        re.search(r"[-|<>/.*$=~\d]|(?:\A|\s)[a-z]{2,4}f\s", rest) or len(rest.split()) == 1
    )


def _explained(command: str) -> str:
    """Explain a command and its rating, as the explain key shows it."""
    from agent.risk.classifier import classify
    from agent.risk.explain.report import explain

    told = explain(classify(command))
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", told)), default=0))
    return f"{fence}text\n{told}\n{fence}"
