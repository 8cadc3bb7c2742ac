"""A wish as one command of awk, sort and their kin."""

from __future__ import annotations

import shlex

from agent.planner.offline.grammar.reckoned.wish import Wish
from agent.planner.offline.values import quote_path, quote_regex


def command_of(wish: Wish, path: str) -> str:
    """The command; "" where the wishes do not go together."""
    if wish.texts and any(kind not in ("any", "not", "regex") or len(texts) != 1 for kind, *texts in wish.texts):
        return ""
    if wish.way in ("sum", "average"):
        return _grouped(wish, path) if wish.group else _of_all(wish, path)
    if wish.group and wish.way in ("max", "min"):
        return _extreme_of_groups(wish, path)
    if wish.way in ("max", "min"):
        return _extreme(wish, path)
    if wish.group and (wish.way != "most" or wish.letters):
        return ""
    makers = {
        "median": _median,
        "several": _several,
        "row": _rows,
        "most": _most,
        "list": _chosen,
        "width": _width,
        "height": _height,
    }
    return makers[wish.way](wish, path)


def _key(wish: Wish) -> str:
    return f"substr(${wish.group}, 1, {wish.letters})" if wish.letters else f"${wish.group}"


def _awk(wish: Wish, program: str, path: str) -> str:
    return f"{_filter(wish, program)} {quote_path(path)}"


def _filter(wish: Wish, program: str) -> str:
    separator = wish.separator
    option = "" if separator in ("", " ") else " -F'\\t'" if separator == "\t" else f" -F{shlex.quote(separator)}"
    return f"awk{option} {shlex.quote(program)}"


def _when(wish: Wish) -> str:
    """The condition of a line, with a blank behind it; "" for all lines."""
    parts = ["NR > 1"] if wish.skip else []
    parts += [f"({one})" if "||" in one else one for one in wish.conditions]
    for kind, text in wish.texts:
        looks = text if kind == "regex" else quote_regex(text)
        parts.append(f"{'!' if kind == 'not' else ''}/{looks.replace('/', chr(92) + '/')}/")
    return " && ".join(parts)


def _rule(wish: Wish, action: str) -> str:
    when = _when(wish)
    return f"{when} {{ {action} }}" if when else f"{{ {action} }}"


def _printed(wish: Wish, *values: str) -> str:
    """`print`, or `printf` where the places after the point are told for the last of the values."""
    if wish.places < 0:
        return f"print {', '.join(values)}"
    form = " ".join(["%s"] * (len(values) - 1) + [f"%.{wish.places}f"])
    return f'printf "{form}\\n", {", ".join(values)}'


def _of_all(wish: Wish, path: str) -> str:
    value = wish.value
    if wish.way == "sum":
        return _awk(wish, f"{_rule(wish, f's += {value}')} END {{ {_printed(wish, 's')} }}", path)
    return _awk(wish, f"{_rule(wish, f's += {value}; n++')} END {{ if (n) {_printed(wish, 's / n')} }}", path)


def _grouped(wish: Wish, path: str) -> str:
    key = _key(wish)
    if wish.way == "sum":
        program = f"{_rule(wish, f's[{key}] += {wish.value}')} END {{ for (k in s) {_printed(wish, 'k', 's[k]')} }}"
    else:
        program = f"{_rule(wish, f's[{key}] += {wish.value}; n[{key}]++')} END {{ for (k in s) {_printed(wish, 'k', 's[k] / n[k]')} }}"
    return _in_order(wish, _awk(wish, program, path))


def _in_order(wish: Wish, command: str) -> str:
    """Results of groups, sorted: by the last word of a line, since a key may have blanks in it."""
    reverse = "r" if wish.reverse else ""
    if wish.order == "key":
        command += f" | sort{' -r' if reverse else ''}"
    elif wish.order == "value":
        command += f" | sort -k2,2n{reverse}"
    return f"{command} | head -n {wish.limit}" if wish.limit else command


def _extreme_of_groups(wish: Wish, path: str) -> str:
    key, sign = _key(wish), ">" if wish.way == "max" else "<"
    action = f"if (!({key} in m) || {wish.value} {sign} m[{key}]) m[{key}] = {wish.value}"
    return _in_order(
        wish, _awk(wish, f"{_rule(wish, action)} END {{ for (k in m) {_printed(wish, 'k', 'm[k]')} }}", path)
    )


def _extreme(wish: Wish, path: str) -> str:
    if wish.places >= 0:
        return ""
    sign = ">" if wish.way == "max" else "<"
    action = f"if (!n++ || {wish.value} + 0 {sign} m) m = {wish.value} + 0"
    return _awk(wish, f"{_rule(wish, action)} END {{ if (n) print m }}", path)


def _several(wish: Wish, path: str) -> str:
    if wish.places >= 0:
        return ""
    value = wish.value
    steps = [f"s += {value}; n++"]
    if "low" in " ".join(wish.shown):
        steps.append(f"if (n == 1 || {value} < low) low = {value}")
    if "high" in " ".join(wish.shown):
        steps.append(f"if (n == 1 || {value} > high) high = {value}")
    return _awk(wish, f"{_rule(wish, '; '.join(steps))} END {{ if (n) print {', '.join(wish.shown)} }}", path)


def _median(wish: Wish, path: str) -> str:
    values = _awk(wish, _rule(wish, f"print {wish.value}"), path)
    last = _printed(wish, "NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2")
    return f"{values} | sort -n | awk {shlex.quote('{ v[NR] = $1 } END { if (NR) ' + last + ' }')}"


def _rows(wish: Wish, path: str) -> str:
    return _awk(wish, _rule(wish, _printed(wish, *wish.shown)), path)


def _width(wish: Wish, path: str) -> str:
    result = "s / NF" if wish.value == "mean" else "s"
    return _awk(wish, _rule(wish, f"s = 0; for (i = 1; i <= NF; i++) s += $i; {_printed(wish, result)}"), path)


def _height(wish: Wish, path: str) -> str:
    if wish.places >= 0:
        return ""
    value = "s[i] / NR" if wish.value == "mean" else "s[i]"
    ends = 'for (i = 1; i <= n; i++) printf "%s%s", ' + value + ', i < n ? " " : "\\n"'
    return _awk(wish, f"{{ for (i = 1; i <= NF; i++) s[i] += $i; if (NF > n) n = NF }} END {{ {ends} }}", path)


def _most(wish: Wish, path: str) -> str:
    """Sorted, and the first lines of it."""
    chosen = bool(wish.conditions or wish.texts)
    column = wish.columns[0]
    if column == "NF":
        return ""
    steps = [_awk(wish, _when(wish), path)] if chosen else [f"tail -n +2 {quote_path(path)}"] if wish.skip else []
    letters = ("" if wish.by_text else "n") + ("r" if wish.largest else "")
    option = (
        ""
        if wish.separator in ("", " ")
        else "-t$'\\t' "
        if wish.separator == "\t"
        else f"-t{shlex.quote(wish.separator)} "
    )
    first = f"-k {wish.group},{wish.group} " if wish.group else ""
    steps.append(f"sort {option}{first}-k {column},{column}{letters}{'' if steps else ' ' + quote_path(path)}")
    if wish.group:
        if wish.limit != 1:
            return ""
        steps.append(_filter(wish, f"!seen[${wish.group}]++"))
    else:
        steps.append(f"head -n {wish.limit or 1}")
    if wish.shown:
        steps.append(_filter(wish, "{ print " + ", ".join(wish.shown) + " }"))
    return " | ".join(steps)


def _chosen(wish: Wish, path: str) -> str:
    when = _when(wish)
    if not when and not wish.shown:
        return ""
    if wish.counted:
        return f"{_awk(wish, when, path)} | wc -l"
    if wish.order:
        return ""
    if not wish.shown:
        return _awk(wish, when, path)
    out = "" if len(wish.shown) < 2 or wish.separator in ("", " ") else wish.separator
    values = f'"{out}"'.join(f" {one} " for one in wish.shown).strip() if out else ", ".join(wish.shown)
    values = values.replace("\t", "\\t")
    return _awk(wish, _rule(wish, f"print {values}"), path)
