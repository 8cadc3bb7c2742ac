"""Values that bash reads as code: in every place, code in a value is rated as that code, and an unknown value at least medium."""

from __future__ import annotations

import os
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.protocol.decisions import Level, RiskContext
from agent.risk.classifier import classify
from tests.support.each import each
from tests.support.tries import sampled, some, tries

# Places where the value of `x` is read as an expression.
COUNTED = (
    "echo $((x))",
    "echo $((1 + $x))",
    'echo "$(( "$x" ))"',
    "echo $[x]",
    'echo "$[ $x + 1 ]"',
    "((x))",
    "((y = x))",
    "((x ? 1 : 2))",
    "((b[x] = 1))",
    "((b[1] = b[x]))",
    "let x",
    "let y=x+1",
    'let "y = x * 2"',
    "[[ x -eq 1 ]]",
    "[[ 1 -lt $x ]]",
    "[[ ! ( $x -ge 1 ) ]]",
    "[[ -n a && $x -ne 1 ]]",
    "echo ${b[x]}",
    'echo "${b[$x]}"',
    'echo "${b[x]:-none}"',
    "b[x]=1",
    "b[ x + 1 ]=1",
    "b[$x]+=1",
    "b=([x]=1)",
    "b=([$x]=1 2)",
    "declare -a b=([$x]=1)",
    'declare "b[x]=1"',
    "b=(1 2); unset 'b[x]'",
    'b=(1 2); unset "b[$x]"',
    "test -v 'b[x]'",
    '[ -v "b[$x]" ]',
    "[[ -v b[x] ]]",
    "printf -v 'b[x]' hi",
    'printf -v "b[$x]" hi',
    "read 'b[x]' <<< 1",
    "exec {b[x]}>/dev/null",
    "declare -i i=x",
    'declare -i "i=$x"',
    "declare -i i; i=$x",
    "declare -i i; i+=x",
    "declare -ai i; i=(1 $x)",
    "declare -i i=0; i[1]=x",
    'declare -i i; read i <<< "$x"',
    'declare -i i; for i in "$x"; do :; done',
    'declare -i i; printf -v i %s "$x"',
    "declare -i i; : ${i:=$x}",
    'f() { local -i i="$1"; }; f "$x"',
    'declare -i i; f() { i=$1; }; f "$x"',
    "for ((i = x; i < 1; i++)); do :; done",
    "for ((i = 0; i < x; i++)); do break; done",
    "s=hello; echo ${s:x}",
    "s=hello; echo ${s:0:$x}",
    "set -- a b c; echo ${@:x:1}",
    "b=(1 2 3); echo ${b[@]:x}",
    "cat <<< $((x))",
    "case $((x)) in *) ;; esac",
    "while ((x)); do break; done",
    "if ((x)); then :; fi",
    "cat < /dev/null$((x))",
    "y=x; z=y; echo $((z))",
    "y=1+$x; echo $((y))",
    "y=${x#no}; ((y))",
    "set -- $x; (($1))",
    'y=("$x"); ((y[0]))',
    "y=(); y+=($x); ((y[0]))",
    "declare -n r=x; echo $((r))",
    'printf -v y %s "$x"; ((y))',
    "read y <<< $x; ((y))",
    'read y z <<< "$x 1"; ((y))',
    'read -a y <<< "$x"; ((y[0]))',
    'mapfile -t y < <(echo "$x"); ((y[0]))',
    "y=1; for i in 1 2; do ((y)); y=$x; done",
    "RANDOM=$x",
    "OPTIND=$x",
    "trap '((x))' EXIT",
    "PS4='$((x))'; set -x; :",
    "(export x; bash -c 'echo $((x))')",
    "x=$x bash -c '((x))'",
    "bash -c '(($1))' _ \"$x\"",
    "coproc ((x))",
)
# Places where it is read as the name of a variable, or expanded once more.
NAMED = (
    "echo ${!x}",
    'echo "${!x:-none}"',
    'test -v "$x"',
    "[ -v $x ]",
    "[[ -v $x ]]",
    'printf -v "$x" hi',
    'printf -v"$x" hi',
    'read "$x" <<< 1',
    'read -r y "$x" <<< 1',
    'a=(1); unset "$x"',
    'a=(1); unset -v "$x"',
    'declare "$x=1"',
    'f() { local "$x=1"; }; f',
    'f() { typeset "$x=1"; }; f',
    "declare -n r=$x; echo $r",
    'sleep 0 & wait -n -p "$x"',
    "echo ${x@P}",
    "y=$x; echo ${y@P}",
    "PS4=$x; set -x; :",
    'compgen -W "$x"',
)
AROUND = (
    "{}",
    "{{ {}; }}",
    "( {} )",
    "if true; then {}; fi",
    "false || {{ {}; }}",
    "true && {{ {}; }}",
    "for k in 1 2; do {}; done",
    "case a in a) {} ;; esac",
    "g() {{ {}; }}; g",
    'echo "$({})"',
    "eval '{}'",
    "true | {{ {}; }}",
)
UNKNOWN = (
    "read -r x",
    "IFS= read -r x < f",
    "read -r _ x",
    "mapfile -t x < f",
    "x=$(cat f)",
    "x=$(<f)",
    "x=$(git config a.b)",
    "x=`jq -r .n f`",
    "x=$(wc -l * | cut -d' ' -f1)",
    "x=$(wc -l < f | awk '{print \"a[\" $1}')",
    "x=$(wc -l < f | head -1 g)",
    "x=$(du . | cut -f1)",
    "x=$(cat /sys/../home/me/x)",
    "x=$(cat /proc/self/environ)",
    "x=$(stat -c %s -c %n f)",
    "x=$(grep -c x *)",
    "x=$(wc -l < f | head 5)",
    "x=$(jq . 'b|length')",
    "x=$(date '+a[b] +%s')",
    "x=$(stat -c '%s a[b]' f)",
    'x=$(expr ""$y + 1)',
    "x=$(date +%Z)",
    "x=$(ls | sort)",
    "x=$(wc -l < f | sed s/1/$y/)",
    "x=$(expr $y : z)",
    "x=$ELSEWHERE",
    "x=5$ELSEWHERE",
    "x=${y[0]}",
    "x=${1:0:1}",
    "for x in $(cat f); do :; done",
    "for x; do :; done",
    "true || x=5",
    "if [ -e f ]; then x=$(cat f); else x=5; fi",
    "x=5; while read -r l; do x=$l; done < f",
    "x=5; [ -e f ] && x=$(cat f)",
    "",
)
NUMBERS = (
    "x=5",
    "x=-3",
    "x=$#",
    "x=$?",
    "x=${#PATH}",
    "x=$RANDOM",
    "x=$SECONDS",
    "x=${PIPESTATUS[0]}",
    "x=$((3 * 4))",
    "((x = 3))",
    "let x=3",
    "declare -i x=3",
    "x=$(wc -l < f)",
    "x=$(ls | wc -l | tr -d ' ')",
    "x=$(grep -c TODO f)",
    "x=$(date +%s)",
    "x=$(nproc)",
    "x=$(wc -l notes.txt | awk '{print $1}')",
    "x=$(du -sb . | cut -f1)",
    "x=$(free -m | awk '/Mem:/ {print $3}')",
    "x=$(cat /proc/loadavg | cut -d. -f1)",
    "x=$(id -u)",
    "x=$(stat -c %s f)",
    "x=$(expr 3 + 4)",
    "x=$(printf %d 0xff)",
    "read -r x _ < <(stty size)",
    "y=$(cat f); x=${y//[^0-9]/}",
    "y=$(cat f); x=${#y}",
    "for x in {1..3}; do :; done",
    "for x in $(seq 3); do :; done",
    "for ((x = 0; x < 3; x++)); do :; done",
    "if [ -e f ]; then x=$(wc -l < f); else x=0; fi",
    "x=0; while ((x < 5)); do x=$((x + 1)); done",
    "x=0; for k in a b; do ((x += 2)); done",
)
RUNS = "x='a[$(reboot)]'"


def level(command: str, **context: object) -> Level:
    return classify(command, RiskContext(cwd="/w/p", home="/home/me", workspace="/w/p", **context)).level


def script(setting: str, place: str, around: str = "{}") -> str:
    """A value, and a place that reads it; `eval '…'` takes no place with quotes of its own."""
    if around.startswith("eval") and "'" in place:
        around = "{}"
    inside = around.format(place)
    return f"{setting}; {inside}" if setting else inside


def test_bash_runs_code_in_all_these_places() -> None:
    """What the places are is not ours to say: each is run, with a command that only prints."""
    silent = []
    for place in (*COUNTED, *NAMED):
        command = f"x='a[$(pwd>&7)]'; {place}"
        read, write = os.pipe()
        environment = {"PATH": os.environ["PATH"]}
        arguments = ["bash", "--norc", "-c", f"exec 7>&{write}; {command}"]
        subprocess.run(
            arguments,
            env=environment,
            pass_fds=[write],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=60,
        )
        os.close(write)
        with os.fdopen(read) as told:
            if "/" not in told.read():
                silent.append(place)
    assert silent == []


@sampled
@each("place", some([*COUNTED, *NAMED], 2))
def test_code_in_a_value_is_rated_as_that_code(place: str) -> None:
    for around in AROUND:
        assert level(script(RUNS, place, around)) is Level.HIGH, around


@each("place", [*COUNTED, *NAMED])
def test_code_that_an_earlier_command_exported_is_rated_as_that_code(place: str) -> None:
    assert level(place, exports={"x": "a[$(reboot)]"}) is Level.HIGH


@pytest.mark.few(1)
@each("place", [*COUNTED, *NAMED], parts=6)
def test_an_unknown_value_is_at_least_medium(place: str) -> None:
    for setting in UNKNOWN:
        assert level(script(setting, place)) is not Level.LOW, setting


@given(st.sampled_from(UNKNOWN), st.sampled_from([*COUNTED, *NAMED]), st.sampled_from(AROUND), st.sampled_from(AROUND))
@settings(max_examples=tries(150))
def test_an_unknown_value_is_at_least_medium_wherever_it_is_made(
    setting: str, place: str, outer: str, inner: str
) -> None:
    assert level(outer.replace("eval '{}'", "{}").format(script(setting, place, inner))) is not Level.LOW


@each("place", [place for place in COUNTED if not place.startswith(("PS4", "coproc", "set --"))], parts=6)
@pytest.mark.few(1)
def test_numbers_stay_low(place: str) -> None:
    for setting in NUMBERS:
        assert level(script(setting, place)) is Level.LOW, setting


@each(
    "command",
    [
        "((n++))",
        "for f in *.txt; do ((n++)); done; echo $n",
        "echo $((2 ** 10)) $(( (1 + 2) * 3 )) $((16#ff)) $((0x1f))",
        "declare -A m=([rm]=1 [up]=2); echo ${m[rm]}",
        'declare -A m; m[$(cat f)]=1; for k in "${!m[@]}"; do echo "$k ${m[$k]}"; done',
        'read -r x; [ "$x" -gt 5 ] && echo more',
        'read -r x; [[ $x == yes ]] && echo "${x:0:1}${x#y}${#x}"',
        "for v in HOME PATH; do echo ${!v}; done",
        'echo "${@:2}" "${PATH:0:20}" "${BASH_VERSINFO[0]}"',
        "[[ $EUID -ne 0 && $# -lt 2 ]] && echo usage",
        "start=$(date +%s); sleep 1; echo $(( $(date +%s) - start ))",
        'unset x y; read -r x y; printf -v z \'%s-%s\' "$x" "$y"; echo $z',
        "declare -a b=($(ls)); echo ${b[0]} ${#b[@]}",
    ],
)
def test_everyday_arithmetic_stays_low(command: str) -> None:
    assert level(command) is Level.LOW


@each(
    "command",
    [
        "x=$(curl -s https://x.example/n); echo $((x))",
        "x=$(echo YVsk | base64 -d | gunzip); ((x))",
        "b=(ls); i=0; b[i]=rm; ${b[0]} -rf ~",
        "c=ls; for i in 1 2; do $c -rf ~; c=rm; done",
        "y='($(rm -rf ~))'; declare -a b=\"$y\"",
        "printf -v c rm; $c -rf ~",
    ],
)
def test_high_by_where_the_value_comes_from(command: str) -> None:
    assert level(command) is Level.HIGH
