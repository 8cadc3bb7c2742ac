"""Facts of the machine, its people and the environment."""

from __future__ import annotations

import re
import shlex

from agent.planner.offline.grammar.said.sentence_rules import Heard, Said

_HERE = r"(?: (?:of|on|in|for) (?:this|the|my) (?:computer|machine|system|host|server|box|pc))?"
_SHELLS = re.compile(r"(?:/[\w/]+/)?(bash|sh|zsh|fish|dash|nologin|false|ksh|tcsh)\Z")
_FIELDS = {
    "home": "6",
    "uid": "3",
    "user id": "3",
    "id": "3",
    "gid": "4",
    "group id": "4",
    "full name": "5",
}


def _field(heard: Heard) -> str | None:
    what = re.sub(r"(?:login|default) |(?<=home) (?:directory|folder)", "", heard.low("what"))
    user = heard.text("user")
    if (
        what not in _FIELDS
        or not re.fullmatch(r"[a-z_][\w.-]*", user)
        or user in ("me", "all", "each", "every", "this")
    ):
        return None
    return f"getent passwd {shlex.quote(user)} | cut -d: -f{_FIELDS[what]}"


def _with_shell(heard: Heard) -> str | None:
    shell = heard.text("shell")
    if not _SHELLS.match(shell):
        return None
    program = re.escape(shell.rsplit("/", 1)[-1]).replace("/", r"\/")
    return f"awk -F: '$7 ~ /\\/{program}$/ {{ print $1 }}' /etc/passwd"


def _variables(heard: Heard) -> str:
    start = heard.text("start")
    return f"env | grep {shlex.quote('^' + start)}"


RULES = [
    Said("id uid", rf"{{ASK}}(?:my |current |current user's |the current user's |numeric |effective )*(?:user ?id|uid)(?: number)?(?: of (?:the )?current user)?{_HERE}", lambda h: "id -u", "number of the user"),
    Said("id gid", r"{ASK}(?:my |current |primary |numeric )*(?:group ?id|gid)(?: number)?", lambda h: "id -g", "number of the group"),
    Said("name hostname", r"{ASK}(?:host ?)?name of (?:this|the|my) (?:computer|machine|host|system|server|pc|box)|what is (?:this|the|my) (?:computer|machine|host|server) called|(?:{ASK})(?:my |this )?(?:computer|machine|host|server)(?:'s)? ?name", lambda h: "hostname", "name of the machine"),
    Said("am folder directory", r"(?:in )?(?:which|what) (?:folder|directory) (?:am i(?: in| currently in| now| in right now)?|is (?:the )?current)|{ASK}(?:name |path |full path |absolute path )?(?:of )?(?:the |my )?(?:current|present) ?(?:working )?(?:directory|folder)(?: path)?|(?:path|full path|absolute path) of (?:this|the current) (?:folder|directory)", lambda h: "pwd", "the folder we are in"),
    Said("path", r"{ASK}(?:contents? of |value of |entries of |entries in |directories in |folders in |directories of |elements of |parts of )*(?:my )?\$?path(?: variable| entries| environment variable| directories)?,? (?:with )?(?:one|each|every)(?: directory| entry| folder| path| element)? (?:per|a|on|in) (?:its own |a (?:separate|new) |separate )?lines?", lambda h: "echo \"$PATH\" | tr : '\\n'", "entries of PATH"),
    Said("path", r"(?:how many|{ASK}number of|count(?: the)?) (?:directories|folders|entries) (?:are (?:there )?)?(?:in|on|of) (?:my |the )?\$?path(?: variable)?", lambda h: "echo \"$PATH\" | tr : '\\n' | wc -l", "how many entries PATH has"),
    Said("variables", r"(?:how many|{ASK}number of|count(?: the)?) environment variables(?: are (?:there|set|defined))?", lambda h: "env | wc -l", "how many variables there are"),
    Said("variables environment", r"{ASK}environment(?: variables)?(?: and their values)?,? (?:sorted|in alphabetical order|alphabetically sorted)(?: alphabetically| by name)?", lambda h: "env | sort", "variables in order"),
    Said("variables", r"{ASK}environment variables (?:whose names? )?(?:that |which )?(?:start|begin|starting|beginning|starts|begins)(?: with| in) (?P<start>[A-Za-z_]\w*)", _variables, "variables by their beginning"),
    Said("variable", r"is (?:the )?(?:environment )?variable <name:var> (?:set|defined)", lambda h: f"printenv {h.text('name').lstrip('$')}", "value of a variable"),
    Said("accounts users user", rf"{{ASK}}(?:names of (?:all )?(?:the )?)?(?:login |user ?)?(?:accounts|users|usernames|user names|login names|account names)(?: (?:that )?(?:exist|known|defined|there are))?{_HERE}(?::|,)?(?: only| just| in /etc/passwd| from /etc/passwd)?(?: (?:the|their) (?:user |login )?names?(?: only)?)?", lambda h: "cut -d: -f1 /etc/passwd", "names of the accounts"),
    Said("accounts users", rf"(?:how many|{{ASK}}number of|count(?: the)?) (?:user ?)?(?:accounts|users)(?: are there| exist| are defined)?{_HERE}(?: in /etc/passwd)?", lambda h: "wc -l < /etc/passwd", "how many accounts there are"),
    Said("groups", r"{ASK}(?:names of (?:all )?(?:the )?)?(?:user )?groups(?: that exist| defined)?(?: (?:of|on|in) (?:this|the) (?:computer|machine|system|host)| in /etc/group)(?:(?::|,) (?:only|just) (?:the|their) names?)?", lambda h: "cut -d: -f1 /etc/group", "names of the groups"),
    Said("shell", rf"(?:{{ASK}}|which )(?:names of (?:all )?(?:the )?)?(?:accounts|users)(?: that| which| who)? (?:have|use|with|using|whose (?:login )?shell is|having)(?: the)?(?: shell)? ?<shell:word>(?: as (?:their |a |the )?(?:login |default )?shell)?{_HERE}", _with_shell, "accounts by their shell"),
    Said("user account home shell id uid", r"{ASK}(?P<what>home(?: directory| folder)?|(?:login |default )?shell|uid|user id|gid|group id|full name|id) of (?:the )?(?:user |account )(?P<user>[\w.-]+)", _field, "a fact of an account"),
    Said("kernel", rf"{{ASK}}(?:running |linux )?kernel (?:release|version)(?: number)?(?: only| string)?,? ?(?:only|and nothing else){_HERE}|{{ASK}}kernel release{_HERE}", lambda h: "uname -r", "release of the kernel"),
    Said("architecture", rf"{{ASK}}(?:machine |hardware |cpu |processor )architecture(?: name)?{_HERE}", lambda h: "uname -m", "architecture of the machine"),
    Said("resolve hosts", r"(?:does (?:the )?(?:host ?name|host|name) <name:word> resolve[?,;]? ?)?(?:look (?:it )?up|look for|find|search(?: for)?)(?: (?:the )?(?:host ?name |host |name |entry (?:of|for) )?<other:word>)? in /etc/hosts", lambda h: _hosts(h), "a name in /etc/hosts"),
    Said("hosts", r"{ASK}(?:ip )?(?:address|entry|line) (?:of|for) (?:host )?<other:word> in /etc/hosts", lambda h: _hosts(h), "a name in /etc/hosts"),
    Said("descriptors", r"{ASK}(?:open )?file descriptors of (?:this|the current|my) (?:shell|process)", lambda h: "ls -l /proc/$$/fd", "open files of the shell"),
    Said("letters alphabet", r"{ASK}(?:(?:lower ?case )?letters (?:from )?a to z|(?:letters of the )?alphabet)(?:,? one (?:per|a) line)?", lambda h: "printf '%s\\n' {a..z}", "the letters a to z"),
    Said("pid process", r"{ASK}(?:process id|pid) of (?:this|the current|my) shell", lambda h: "echo $$", "number of this shell"),
]  # fmt: skip


def _hosts(heard: Heard) -> str | None:
    name = heard.text("name") or heard.text("other")
    if name.lower() in ("it", "them", "that", "this", "") or not re.fullmatch(r"[\w][\w.-]*", name):
        return None
    return f"grep {shlex.quote(name)} /etc/hosts"
