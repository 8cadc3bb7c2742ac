"""Facts of this machine, of dates and of numbers, in the words of people who do not know what the command is called."""

from __future__ import annotations

import calendar
import re
import shlex

from agent.planner.offline.grammar.said.sentence_rules import NUMBER_WORDS, Heard, Said

_MONTHS = {name.lower(): number for number, name in enumerate(calendar.month_name) if name}
_MONTH = "|".join(_MONTHS)
_UNIT = r"(?:days?|weeks?|months?|years?)"
_MACHINE = (
    r"(?: (?:on|of|does|in|for) (?:this|the|my) (?:computer|machine|system|box|host|server|pc)(?: have| has| uses?)?)?"
)
_ONLY = r"(?:[,;:?]? (?:just |only |and )?(?:the )?(?:release|version|number)(?: only| alone| and nothing else)?)?"
_BYTES = {"kb": "K", "kib": "K", "mb": "M", "mib": "M", "gb": "G", "gib": "G"}


def _later(heard: Heard) -> str:
    """A day so long after or before another, as a date."""
    sign = "+" if heard.low("side") == "after" else "-"
    return f"date -d {shlex.quote(heard.text('date') + ' ' + sign + heard.number('n') + ' ' + heard.low('unit'))} +%F"


def _days(heard: Heard) -> str:
    """How many days a month has: the day before the next one begins."""
    month = _MONTHS[heard.low("month")]
    year = heard.text("year") or str(heard.scene.today.year)
    after = (int(year), month + 1) if month < 12 else (int(year) + 1, 1)
    return f"date -d '{after[0]:04d}-{after[1]:02d}-01 -1 day' +%d"


def _counted(heard: Heard) -> str | None:
    """Numbers from one to another, upwards or downwards."""
    first, last = int(heard.number("a")), int(heard.number("b"))
    step = int(heard.number("step")) if heard.has("step") else 1
    if not step or abs(last - first) > 10**7:
        return None
    sign = {"comma": ",", "space": " ", "semicolon": ";", "dash": "-", "colon": ":"}
    apart = sign.get(re.sub(r"s\Z", "", heard.low("sep")), "")
    words = ["seq", *([f"-s{shlex.quote(apart) if apart in ' ;' else apart}"] if apart else []), str(first)]
    if last < first:
        words.append(f"-{step}")
    elif step != 1:
        words.append(str(step))
    return " ".join([*words, str(last)])


def _clock(heard: Heard) -> str:
    """Seconds as hours, minutes and seconds."""
    return f"s={heard.text('n')}; printf '%d:%02d:%02d\\n' $((s / 3600)) $((s % 3600 / 60)) $((s % 60))"


def _epoch(heard: Heard) -> str:
    universal = "-u " if heard.has("utc") else ""
    return f"date {universal}-d {shlex.quote(heard.text('date'))} +%s"


def _variables(heard: Heard) -> str:
    ordered = " | sort" if heard.has("sorted") else ""
    return f"env | grep {shlex.quote('^' + heard.text('start'))} | cut -d= -f1{ordered}"


def _shell_of(heard: Heard) -> str | None:
    user = heard.text("user")
    if user.lower() in ("me", "mine", "this", "the", "my") or not re.fullmatch(r"[a-z_][\w-]*", user):
        return None
    column = {"s": "7", "h": "6"}["h" if "home" in heard.low("what") else "s"]
    return f"getent passwd {user} | cut -d: -f{column}"


def _kernel(heard: Heard) -> str | None:
    return "uname -r" if heard.has("kernel") and re.search(r"release|only", heard.low("kernel")) else None


def _leap(heard: Heard) -> str | None:
    year = heard.text("year")
    return f"date -d {year}-02-29 > /dev/null 2>&1 && echo yes || echo no" if year else None


_DATE = r"<date:date>"
_N_WORDS = "|".join(sorted(NUMBER_WORDS, key=len, reverse=True))
RULES = [
    Said("weekday day", rf"(?:{{ASK}}|on )?(?:which |what |the )?(?:weekday|day of the week|day) (?:on which |of |for |was |is |will )*{_DATE}(?: (?:fell|falls|fall|was|is|be|will be))?(?: on)?", lambda h: f"date -d {shlex.quote(h.text('date'))} +%A", "weekday of a date"),
    Said("after before", rf"(?:what |which )?(?:date |day )?(?:is |was |will be )?(?:it )?(?P<n>\d{{1,5}}|{_N_WORDS}|an?) (?P<unit>{_UNIT}) (?P<side>after|before) {_DATE}(?:,? (?:is|was|will be) (?:which|what) (?:day|date))?(?:,? as (?:a )?(?:YYYY-MM-DD|date))?", lambda h: _later(h) if h.low("n") not in ("a", "an") else None, "a date after another"),
    Said("days", rf"how many days (?:does |did |do |are in |are there in |has |will |were in )(?:the month )?(?:of )?(?P<month>{_MONTH})(?: of)? ?(?P<year>\d{{4}})?(?: have| has| had)?", _days, "days of a month"),
    Said("leap", r"(?:is|was|will) (?:the year )?(?P<year>\d{4}) (?:be )?a leap year", _leap, "whether a year is a leap year"),
    Said("logged user login name", r"(?:under |with |by )?(?:what|which) (?:user ?)?(?:name |account |user )(?:am i|i am|are we)(?: (?:logged in|working|running|signed in))?(?: (?:as|with|under))?(?: here)?|{ASK}(?:my |the name of the )(?:login|user|account|login user|user account|current user)(?: ?name)?", lambda h: "whoami", "who we are"),
    Said("processors cpus cores threads processor cpu", rf"(?:how many|{{ASK}}number of|count(?: the)?) (?:logical |available |cpu )?(?:processors|cpus|cores|cpu cores|processing units|hardware threads)(?: (?:can i use|are available|are there|do i have|can be used|may i use|does it have|are usable|available|i can use))?(?: to me| to this process)?{_MACHINE}", lambda h: "nproc", "how many processors there are"),
    Said("kernel", rf"(?P<kernel>(?:{{ASK}}|which |what )?(?:linux )?kernel(?: (?:release|version))?(?: (?:is )?(?:is running|running|do i run|does this machine run|is this|am i (?:running|on)|is in use|runs))?{_MACHINE}(?: here)?{_ONLY})", _kernel, "release of the kernel"),
    Said("path", r"(?:{ASK})?(?:every|each|all|all the|the)?(?: of the)? ?(?:director(?:y|ies)|folders?|entr(?:y|ies)|elements?|parts?) (?:of|in|on) (?:my |the )?\$?path(?: variable)?,? (?:in|on|per|as) (?:a|an|one|its|their|separate) ?(?:own |separate |single )?(?:lines?|rows?)(?: (?:of (?:its|their) own|each|by itself|of its own))?", lambda h: "echo \"$PATH\" | tr : '\\n'", "entries of PATH"),
    Said("numbers count", rf"{{ASK}}(?:numbers|integers|whole numbers) from (?P<a>-?\d{{1,9}}|{_N_WORDS}) (?:down |up )?to (?P<b>-?\d{{1,9}}|{_N_WORDS})(?: (?:in steps of|by|with step|step) (?P<step>\d{{1,6}}|{_N_WORDS}))?(?:,? (?:separated|joined|parted|divided|delimited) (?:by|with) (?:an? )?(?P<sep>commas?|spaces?|semicolons?|dash(?:es)?|colons?)|,? (?:one |each )?(?:per|on its own|in its own|on a) line)?", _counted, "numbers in a row"),
    Said("count", rf"count (?:down )?from (?P<a>-?\d{{1,9}}|{_N_WORDS}) (?:down |up )?to (?P<b>-?\d{{1,9}}|{_N_WORDS})(?: (?:in steps of|by) (?P<step>\d{{1,6}}))?", _counted, "numbers in a row"),
    Said("seconds epoch timestamp", r"{ASK}(?:number of )?(?:seconds since (?:the )?(?:unix )?epoch|epoch seconds|(?:unix |epoch )(?:time ?stamp|time)) (?:for|of|at|on) <date:date>(?P<utc>,? (?:in |as )?utc)?", _epoch, "a moment as seconds"),
    Said("environment variables", r"{ASK}names of (?:all )?(?:the |my )?(?:environment )?variables (?:that |which )?(?:start|begin|starting|beginning)(?:ing)? (?:with|in) (?P<start>[A-Za-z_]\w*)(?P<sorted>,? (?:and )?(?:sorted|in alphabetical order|alphabetically|in order)(?: alphabetically)?)?", _variables, "names of variables"),
    Said("shell home", r"{ASK}(?P<what>(?:login |default )?shell|home(?: folder| directory)?) of (?:the )?(?:user |account )?<user:word>(?:,? (?:as|according to|from|in|by) (?:the )?(?:/etc/passwd|passwd|password file|passwd file|user database)(?: file)?(?: has it| says| tells)?)?", _shell_of, "a fact of an account"),
    Said("open files", r"(?:{ASK})?(?:limit (?:on|of|for) (?:the number of )?open files|(?:maximum|max|highest) number of open files|open files limit|how many files (?:can|may) (?:i|a process|one process|this shell|my processes) (?:have open|open|keep open)(?: at once| at a time| at the same time)?)(?: (?:for|of|in) (?:my|this|the current) (?:session|shell|user|process))?", lambda h: "ulimit -n", "how many files may be open"),
    Said("zone timezone", r"(?:{ASK})?(?:abbreviation of (?:the |my )?time ?zone|time ?zone abbreviation|(?:short|abbreviated) (?:name of (?:the |my )?)?time ?zone)(?: (?:of |that |which )?(?:this|the|my) (?:system|machine|computer)(?: uses| is in)?| in use| here)?", lambda h: "date +%Z", "name of the time zone"),
    Said("seconds", r"(?:convert |express |show |turn )?(?P<n>\d{1,12}) seconds (?:to|in|into|as) (?:hours,? minutes,? and seconds|hours and minutes and seconds|h:mm:ss|hh:mm:ss|hours:minutes:seconds)(?: (?:like|as in|such as) \d+:\d\d:\d\d)?", _clock, "seconds as a clock shows them"),
    Said("bytes", r"(?:convert |express |show |write )?(?P<n>\d{1,18}) bytes (?:(?:to|in|into|as) (?:a )?(?:human[- ]?readable(?: form| size| units?)?|(?:something )?(?:a )?human (?:units?|would write it|form|can read))|(?:written )?(?:for|as) (?:humans|people))(?:,? (?:in|with|using) (?P<iec>iec|binary|1024)(?: units?| prefixes)?|,? (?:in|with|using) (?P<si>si|decimal|1000)(?: units?| prefixes)?)?", lambda h: f"numfmt --to={'si' if h.has('si') else 'iec'} {h.text('n')}", "a size that people can read"),
    Said("architecture", rf"(?:{{ASK}}|which |what )?(?:machine |hardware |cpu |processor )?architecture(?: name)?(?: (?:is this|does this (?:machine|computer) have|am i on|is it|do i have))?{_MACHINE}", lambda h: "uname -m", "architecture of the machine"),
]  # fmt: skip
