"""Sums, rows of numbers, number bases and distances in time."""

from __future__ import annotations

import re
import shlex

from agent.planner.offline.grammar.said.sentence_rules import Heard, Said

_SIGNS = {
    "times": "*", "multiplied by": "*", "x": "*", "*": "*", "plus": "+", "+": "+", "added to": "+", "and": "+", "minus": "-",
    "-": "-", "divided by": "/", "over": "/", "/": "/", "mod": "%", "modulo": "%", "%": "%", "to the power of": "**",
    "to the power": "**", "raised to": "**", "raised to the power of": "**", "^": "**", "**": "**",
}  # fmt: skip
_OPERATOR = "|".join(re.escape(sign) for sign in sorted(_SIGNS, key=len, reverse=True) if sign != "and")
_SECONDS = {"day": 86400, "week": 604800, "hour": 3600, "minute": 60, "second": 1}
_MOST_REPEATED = 100_000


def _sum(heard: Heard) -> str | None:
    left, right, sign = heard.number("a"), heard.number("b"), _SIGNS[heard.low("sign")]
    if sign in ("/", "%") and not float(right):
        return None
    whole = "." not in left + right
    if heard.has("places"):
        return f"echo 'scale={heard.number('places')}; {left} {sign.replace('**', '^')} {right}' | bc"
    if not whole or (sign == "/" and int(left) % int(right)):
        return f"awk 'BEGIN {{ print {left} {sign} {right} }}'"
    if sign == "**" and (int(right) > 62 or abs(int(left)) ** int(right) > 2**62):
        return f"echo '{left}^{right}' | bc" if int(right) < 10_000 else None
    return f"echo $(({left} {sign} {right}))"


def _row(heard: Heard) -> str | None:
    low, high = heard.number("a") if heard.has("a") else "1", heard.number("b")
    step = heard.number("step") if heard.has("step") else "1"
    kind = heard.low("kind")
    if step in ("0",) or any("." in number for number in (low, high, step)):
        return None
    first, last = int(low), int(high)
    if kind in ("even", "odd"):
        first += (first % 2) != (kind == "odd")
        step = "2"
    numbers = [str(first), step, str(last)] if step != "1" else [str(first), str(last)]
    if first > last or heard.has("down"):
        first, last = max(first, last), min(first, last)
        numbers = [str(first), f"-{step}", str(last)]
    shown = heard.low("how")
    if "comma" in shown:
        return f"seq -s, {' '.join(numbers)}"
    return f"seq -s' ' {' '.join(numbers)}" if shown else f"seq {' '.join(numbers)}"


def _multiples(heard: Heard) -> str | None:
    step = heard.number("step")
    return None if step == "0" else f"seq {step} {step} {heard.number('b')}"


def _sum_of_row(heard: Heard) -> str:
    expression = "s += $1" if heard.low("op") != "product" else "s *= $1"
    start = "BEGIN { s = 1 } " if heard.low("op") == "product" else ""
    return f"seq {heard.number('a')} {heard.number('b')} | awk '{start}{{ {expression} }} END {{ print s }}'"


def _repeated(heard: Heard) -> str | None:
    times = int(heard.number("n"))
    text = shlex.quote(heard.text("text"))
    if not 1 <= times <= _MOST_REPEATED:
        return None
    if times <= 20:
        return f"for i in {' '.join(str(number) for number in range(1, times + 1))}; do echo {text}; done"
    return f"yes {text} | head -n {times}"


def _in_base(heard: Heard) -> str | None:
    number, base = heard.number("n"), heard.low("base")
    if "." in number or number.startswith("-"):
        return None
    if base.startswith("hex"):
        return f"printf '%x\\n' {number}"
    return f"printf '%o\\n' {number}" if base.startswith("oct") else f"echo 'obase=2; {number}' | bc"


def _from_base(heard: Heard) -> str | None:
    base = {"h": 16, "o": 8, "b": 2}[heard.low("base")[0]]
    digits = re.sub(r"\A0[xbo]", "", heard.low("digits"))
    try:
        int(digits, base)
    except ValueError:
        return None
    return f"echo $(({base}#{digits}))" if len(digits) < 16 else None


def _between(heard: Heard) -> str:
    unit = _SECONDS[heard.low("unit")]
    first, last = (f"$(date -ud {shlex.quote(heard.text(name))} +%s)" for name in ("a", "b"))
    difference = f"({last} - {first})" if unit > 1 else f"{last} - {first}"
    return f"echo $(({difference} / {unit}))" if unit > 1 else f"echo $(({difference}))"


def _epoch(heard: Heard) -> str:
    return f"date {'-u ' if heard.has('utc') else ''}-d {shlex.quote(heard.text('day'))} +%s"


def _of_day(heard: Heard) -> str | None:
    what = re.sub(r"\b(?:iso|calendar|number|name|of the|the)\b", "", heard.low("what"))
    what = " ".join(what.split())
    letter = {"week": "V", "day year": "j", "weekday": "A", "day week": "A", "month": "B", "year": "Y"}.get(what)
    return f"date -d {shlex.quote(heard.text('day'))} +%{letter}" if letter else None


def _moved(heard: Heard) -> str:
    sign = "-" if heard.low("side") in ("before", "earlier than", "prior to") else "+"
    day = heard.text("day")
    if day.lower() in ("today", "now"):
        day = "today"
    return f"date -d '{day} {sign}{heard.number('n')} {heard.low('unit').rstrip('s')}s' +%F"


_FROM_TO = r"(?:from |between )?<a:n>(?: to | up to | through | until | till | and | ?- ?)<b:n>"
_HOW = r"(?:,? (?P<how>(?:all )?(?:on|in) (?:one|a single|the same) line|(?:separated|divided|delimited) by (?:a )?(?:single )?(?:spaces?|commas?)|comma[- ]separated|space[- ]separated))?"

RULES = [
    Said(
        "0 times multiplied plus minus divided over mod modulo power raised",
        rf"{{ASK}}(?:result of |value of |how much is )?<a:n> ?(?P<sign>{_OPERATOR}) ?<b:n>(?:,? (?:with|to|rounded to|using) <places:int> (?:decimals?|decimal places|digits|places)(?: after the (?:decimal )?point)?)?",
        _sum, "arithmetic",
    ),
    Said("add sum", r"(?:add|sum)(?: up)? <a:n>(?P<sign> and )<b:n>", lambda h: f"echo $(({h.number('a')} + {h.number('b')}))", "arithmetic"),
    Said(
        "multiply", r"multiply <a:n> (?:by|with|and) <b:n>",
        lambda h: f"echo $(({h.number('a')} * {h.number('b')}))" if "." not in h.number("a") + h.number("b") else None, "arithmetic",
    ),
    Said("square root sqrt", r"{ASK}(?:square root|sqrt) (?:of )?<a:n>(?: with <places:int> (?:decimals?|decimal places|digits))?", lambda h: f"echo 'scale={h.number('places') if h.has('places') else 4}; sqrt({h.number('a')})' | bc", "square root"),
    Said("square squared cube cubed", r"{ASK}(?:(?P<k>square|cube) of <a:int>|<b:int> (?P<k2>squared|cubed))", lambda h: f"echo $(({h.number('a') if h.has('a') else h.number('b')} ** {2 if (h.low('k') + h.low('k2')).startswith('square') else 3}))", "power"),
    Said("percent", r"{ASK}(?:how much is )?<a:n> ?(?:%|percent) of <b:n>", lambda h: f"awk 'BEGIN {{ print {h.number('a')} * {h.number('b')} / 100 }}'", "percentage"),
    Said(
        "add sum total product", r"{ASK}(?:(?P<op>sum|total|product) of |add(?: up)? |sum(?: up)? )(?:all )?(?:the )?(?:whole |integer )?(?:numbers|integers) (?:from |between )?<a:int> (?:to|through|up to|until|and) <b:int>(?: together| up)?",
        _sum_of_row, "sum of a row of numbers",
    ),
    Said(
        "numbers number integers count sequence",
        rf"(?:{{ASK}}(?:sequence of )?(?:(?P<kind>even|odd) )?(?:whole )?(?:numbers|integers)|(?:generate|make|create|write|produce) (?:the |all |a sequence of |all the )?(?:(?P<kind2>even|odd) )?(?:numbers|integers)|count)(?P<down> down| backwards)? {_FROM_TO}(?P<down2> backwards| in reverse(?: order)?)?(?:,? (?:in steps of|by|with step|step|with a step of|counting by) <step:int>s?)?{_HOW}",
        lambda h: _row(h) if not (h.has("kind2") or h.has("down2")) else None, "row of numbers",
    ),
    Said(
        "even odd numbers", rf"(?:{{ASK}}|generate )(?:(?P<kind>even|odd) )?numbers (?:up to|below or equal to|until) <b:n>{_HOW}", _row, "row of numbers",
    ),
    Said("multiples", r"(?:{ASK}|generate )multiples of <step:int> (?:up to|until|from \d+ to|below) <b:int>", _multiples, "multiples of a number"),
    Said(
        "times repeat", r"(?:(?:print|echo|output|show|say|write|display) (?:the )?(?:word |text |string |line )?|repeat (?:the )?(?:word|text|string|line) )<text:text>,? <n:int> times(?:,? (?:each )?on (?:separate|its own) lines?)?{END}",
        _repeated, "print a text several times",
    ),
    Said("hexadecimal hex octal binary", r"(?:{ASK}|convert |print |write )(?:decimal )?(?:number )?<n:int> (?:in|as|to|into) (?P<base>hexadecimal|hex|octal|binary)(?: (?:notation|format|number))?", _in_base, "number in another base"),
    Said("hexadecimal hex octal binary", r"(?:{ASK}|convert |translate )(?P<base>hexadecimal|hex|octal|binary)(?: number| value)? (?P<digits>[0-9a-fx]{1,18}) (?:in|as|to|into) (?:decimal|base 10)(?: notation)?", _from_base, "number in base ten"),
    Said("days weeks hours minutes seconds", r"{ASK}(?:how many |number of )?(?P<unit>day|week|hour|minute|second)s (?:are there |lie |passed |elapsed |are )?(?:between|from) <a:date> (?:and|to|until|till) <b:date>", _between, "time between two dates"),
    Said(
        "seconds", r"{ASK}(?:how many |number of )?seconds (?:are there |have passed |passed |elapsed |lie |are )?(?:from|since|between) (?:the )?(?:start of )?(?:1970(?:-01-01)?|(?:unix )?epoch) (?:to|until|till|and) <day:date>(?P<utc> utc)?",
        _epoch, "seconds since 1970",
    ),
    Said("timestamp epoch unix", r"(?:{ASK}|convert )(?:(?:unix|epoch) )?(?:timestamp|time|epoch)(?: value| stamp)? (?:of|for|at) <day:date>(?P<utc> utc)?", _epoch, "seconds since 1970"),
    Said("convert", r"convert <day:date>(?P<utc> utc)? (?:to|into) (?:an? |the )?(?:unix|epoch) ?(?:timestamp|time|seconds)?", _epoch, "seconds since 1970"),
    Said("week weekday day month year", r"{ASK}(?P<what>(?:iso |calendar )?(?:week|weekday|month|day of the week|day of the year)(?: number| name)?) (?:of|for|is|was|does|did) <day:date>(?: (?:by|according to|in) iso(?: 8601)?| fall (?:on|in)| in)?", _of_day, "facts of a date"),
    Said("date day", r"{ASK}(?:which |what )?(?:date|day) (?:is |was |will be |lies |comes )?<n:int> (?P<unit>days?|weeks?|months?|years?) (?P<side>after|before|from|later than|earlier than|prior to) (?P<day>\d{4}-\d\d-\d\d|today|now)", _moved, "date some time off another"),
]  # fmt: skip
