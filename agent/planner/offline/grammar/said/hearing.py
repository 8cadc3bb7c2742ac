"""Which rule for a whole sentence fits a goal, if any."""

from __future__ import annotations

from importlib import import_module

from agent.planner.offline.grammar.said.sentence_rules import Said, plain, words_of
from agent.planner.offline.sentences import Sentence

_MOST = 400  # characters: a sentence of such a build is short
_PACKAGE = "agent.planner.offline.grammar.said"
# The tables, with words (or endings of files) of which one must be there before a table is loaded at all.
_TABLES = {
    "rules_computed": "0 one two three four five six seven eight nine ten twelve twenty hundred hexadecimal hex binary octal",
    "rules_spoken": "word text string phrase sentence words base md sha uppercase lowercase upper lower letters characters capitals numbers",
    "rules_machine": (
        "id uid gid name hostname am folder directory path variables variable environment accounts users user groups shell kernel"
        " architecture hosts descriptors alphabet letters pid"
    ),
    "rules_json": ".json .jsonl .ndjson",
    "rules_archives": ".tar .zip .gz .bz .tgz .xz .tbz .txz .jar .war .epub compressed keep keeping keeps",
    "rules_git": "commit commits git repository repo branch branches staged stash merge",
    "rules_steps": (
        "go change switch touch left rename folder directory put move copy each every replace collect gather save write"
        " concatenate join merge combine cat header permissions only"
    ),
    "rules_combined": "number count many exist exists there between old age lines every all each sha md names header headers headings columns titles",
    "rules_making": "set change backdate modification timestamp epoch delete remove erase rid zero zeros zeroes null write put save folder folders directory directories dirs path files copy cp backup back duplicate clone link symlink hardlink softlink time date timestamp",
    "rules_rights": "give grant add let allow permit enable make take remove revoke withdraw strip deny forbid nobody none no only permissions permission mode rights private",
    "rules_settings": "set change update switch modify turn enable disable activate deactivate comment uncomment",
    "rules_packing": ".gz .bz .xz tar tgz zip gz xz bz tarball archive pack compress bundle put unpack extract untar unzip decompress",
    "rules_running": "run execute call start launch invoke repeat watch measure time long refresh benchmark",
    "rules_where": "how size space usage locate where path list show ls display",
    "rules_facts": "weekday day after before days leap logged login user processors cpus cores kernel path numbers count seconds epoch timestamp variables shell home open zone timezone bytes architecture",
    "rules_fields": "each every all",
    "rules_modes": "read readonly unwritable write protected must should set make give gets get executable execute execution x permissions permission mode rights",
    "rules_bundles": ".tar .zip .gz .bz2 .xz .tgz .tbz .txz tarball archive zip tar",
    "rules_folders": "folders directories folder directory everything anything contents content version versions keep but except listing hidden entries entry swap exchange larger bigger smaller heavier lighter here recursively subfolders subdirectories inodes inode details long",
    "rules_links": "link links symlink shortcut point points pointing lead leads names hardlink target same leading softlink",
    "rules_ranges": "empty folder folders directory directories file files",
    "rules_seeking": (
        "files sources modules pages programs documents code scripts logs headers which what names todo todos fixme fixmes xxx hack note bug"
        " function functions class classes import imports each every per before after around above below context shebang"
    ),
    "rules_pairs": "join match merge combine link joined matched merged combined linked difference differences compare diff differ same",
    "rules_places": "edited updated written read opened modified changed accessed created size big large duplicate duplicates identical usage space copy move put mv cp",
}


class Hearing:
    """The tables of rules, each loaded with the first goal that may need it."""

    def __init__(self) -> None:
        self._gates = {name: frozenset(words.split()) for name, words in _TABLES.items()}
        self._rules: dict[str, list[Said]] = {}

    def hear(self, sentence: Sentence) -> tuple[str, str] | None:
        """The command and what it is about; None where no rule fits the whole sentence."""
        if len(sentence.text) > _MOST or "\0" in sentence.text:
            return None
        text = plain(sentence.text)
        words = words_of(text)
        for name, gate in self._gates.items():
            if not gate & words:
                continue
            if name not in self._rules:
                self._rules[name] = import_module(f"{_PACKAGE}.{name}").RULES
            for rule in self._rules[name]:
                if rule.triggers & words:
                    command = rule.hear(text, sentence.scene)
                    if command is not None:
                        return command, rule.reading
        return None
