"""More rules about lines: by words that the named file has, from one line to another, by either of two endings."""

from __future__ import annotations

LINES = {
    "seenline": "line with|of|from|for|about|on FOUND / entry with|of|from|for|about|on FOUND / message with|of|from|for|about|on FOUND",
    "seenline either": "line|entry|message with|containing|contain either? FOUND or FOUND2 / with either? FOUND or FOUND2",
    "dated": "from|on|of|dated|for|at DAY / with date DAY / whose date DAY / happened DAY / DAY",
    "definition": "where|find function|class|method|procedure NAME defined|declared|implemented / where NAME defined|declared|implemented"
    " / definition of function|class|method? NAME / where|find function|class|method NAME definition|declaration"
    " / where|find definition of function|class|method? NAME / defined function|class|method NAME",
    "either end": "endingwith either? SEP or SEP2 / endingwith either? TEXT or TEXT2",
    "either start": "startingwith either? SEP or SEP2 / startingwith either? TEXT or TEXT2",
    "limit from": "everything|line|all? from line NUM to|until|till|through end|bottom of? file? / everything|line|all? from line NUM on|onward|onwards / line NUM to|until|till|through end|bottom / from NTH line to|until|till end|bottom",
    "onward": "everything|line? from line? with|contain|match|that|where? TEXT to|until|till|through end|bottom"
    " / from line with|contain|match|where? TEXT onwards|onward|on / everything|line|all after line? with|contain|match? TEXT"
    " / startingwith line contain|with|match TEXT / from TEXT to|until|till end|bottom of?",
    "until": "everything|line? up? to|until|till line with|contain|match? TEXT / everything|line|all before line? with|contain|match? TEXT"
    " / up to line with|contain|match TEXT / from begin to|until line with|contain|match? TEXT",
    "span": "between line? with|contain|match|marked? QUOTED and line? with|contain|match? QUOTED2"
    " / from line? with|contain|match? QUOTED to|until|through line? with|contain|match? QUOTED2"
    " / between line with|contain|match TEXT and line? with|contain|match? TEXT2"
    " / from line with|contain|match TEXT to|until|through line? with|contain|match? TEXT2 / between TEXT and TEXT2 line",
    "bytes head": "first NUM byte / begin NUM byte / top NUM byte",
    "bytes tail": "last NUM byte / final NUM byte",
    "alike": "uppercase and|or lowercase char? treated|counted|handled|taken? alike|same|equal|identical / uppercase or lowercase"
    " / no matter uppercase and|or lowercase? / in any|either case / any case / both case / uppercase and lowercase both"
    " / not distinguish case|uppercase / whatever case / case not matter / caseinsensitive",
    "firstofevery": "startingwith first line|one? / beginning|starting at|with|from first line|one? / begin at|with|from first line|one?",
    "order col": "by NAME? NAME2? COL word|col / by NAME NAME2? in COL word|col / by NAME NAME2? in col COL",
    "adv asc": "small one|value|entry|number|size|line? first",
    "adv desc": "large one|value|entry|number|size|line? first",
    "adv alphareverse": "in reverse alpha order? / reverse alpha order? / alpha in? reverse order? / alpha from? z to a / in desc alpha order",
    "stage ltrim": "delete leading blank|tab / leading blank delete|strip / delete indentation|indent / without|except leading blank|space|whitespace",
    "stage rtrim": "delete trailing blank|tab / trailing blank delete|strip / delete blank at end of? line? / without|except trailing blank|space|whitespace",
    "stage trim": "delete leading and trailing blank|tab / leading and trailing blank delete|strip",
    "stage delblank": "without|except|no empty|blank line / empty|blank line dropped|delete|left",
    "stage squeeze": "delete dup blank|space|whitespace / squeeze|collapse|reduce multiple|several|run|runs? of? blank|space to|into one|single blank|space?",
    "join": "with SEP between|inbetween|among each|line|them|it? / put SEP between line|them / SEP in? between",
    "count occurrence": "how frequency text|word|port|number? TEXT show|come|found|used|mentioned|there|written up? / count how frequency text|word|number? TEXT show|come|found|used|occur up?"
    " / times text|word? TEXT occur|show|found|used|come up? / number|count of time|times text|word? TEXT show|come|found|written up?",
    "stage rev": "each|every line of|in PATH reverse / reverse each|every line of|in PATH / reverse char of|in each|every? line? of|in PATH / reverse each|every line",
    "joinlines": "join all? line of|in|from / join all? line of|in|from PATH / join all? line of|in|from PATH into|in|on|to? one|single? line",
    "add start": "prefix|prepend each|every|all? line of|in PATH with|by text? TEXT / prefix|prepend each|every|all? line of|in PATH with|by QUOTED / put|add QUOTED in? front of|before each|every|all line of|in PATH / add|put QUOTED to|at begin of each|every|all line of|in PATH",
    "add end": "suffix each|every|all? line of|in PATH with|by TEXT / add|append|put QUOTED at|to|after end? of? each|every|all line of|in PATH",
    "add end sep": "add|append|put SEP at|to|after end? of? each|every|all line of|in PATH",
    "add start sep": "add|append|put SEP at|to|before|in? begin|front of each|every|all line of|in PATH",
    "sumof": "total count of? HEAD / sum of? all? HEAD col? / total HEAD col / how much HEAD altogether|total? / total|overall HEAD / total amount of? HEAD",
    "cell": "in|from|of? CELL HEAD / with|have|where|whose HEAD CELL",
    "where equal head": "with|have HEAD NUM / whose HEAD NUM / HEAD NUM",
    "frequency common": "NUM? requested|used|visited|called|seen|accessed|downloaded|ordered|bought|listed|read|watched|sold most frequency? / most requested|used|visited|called|seen|accessed|downloaded|ordered|bought|active|popular HEAD / HEAD most frequency|common / occur most frequency? / most popular|active HEAD / frequency HEAD",
    "maxof max": "large|highest|max|top|high HEAD",
    "maxof min": "small|lowest|min|low HEAD",
    "where larger head": "larger than? NUM in|on|for|at HEAD / scored|got|reached larger than? NUM in|on|for|at HEAD",
    "where smaller head": "smaller than? NUM in|on|for|at HEAD / scored|got|reached smaller than? NUM in|on|for|at HEAD",
    "nl": "number nonempty|non-empty|nonblank|non-blank line",
    "double": "double space|spacing / double-space / doublespace / add|insert empty|blank line after|between|below each|every|all line / with empty|blank line after|between each|every|all line",
    "compare diff": "different between|in / what|how different between? / how differ",
    "col": "COL word of|on|in|from each|every|all line / only? COL word of|on|in|from each|every|all line",
    "stage lower": "in|into|to|as all? lowercase char",
    "stage upper": "in|into|to|as all? uppercase char",
    "stage nocr": "convert|change PATH to|into unix|linux|lf line? end|ending? / convert|change PATH to|into unix|linux format|style",
    "stage crlf": "convert|change PATH to|into dos|windows|crlf line? end|ending? / convert|change PATH to|into dos|windows format|style",
    "stage words": "each|every|all? word of|in|from PATH on? own|separate|new|single? line / word of|in|from PATH one per|a line / split PATH into word / put each|every word on own|separate|new line",
    "stdout": "show rest|outcome|remainder|that|changed|what|it / only show result|outcome|it",
    "contain": "talk|speak|write about TEXT / about TEXT / deal with TEXT / refer to TEXT / talk of TEXT / contain|contain port|number|id|code|user|ip|address|function|variable TEXT"
    " / with TEXT somewhere|anywhere in? them|it?",
    "contain either": "contain|have either? text|word? TEXT or text|word? TEXT2 in them|it / contain|with|of|for|match either TEXT or TEXT2 / have TEXT or TEXT2"
    " / with|for TEXT or TEXT2 / contain TEXT or TEXT2 or both",
    "uniquekeep": "but keep original? order / but keep line? in? original|their order / but in original order / but not sort|change order / but keep order / each line once in order / keep first occurrence of each? line? / only first of each? dup?",
    "exclude two": "except anything|everything|file|content|match|those|whatever in|under|inside|below|from DIR and|or in|under? DIR2",
    "seek line": "WORD comment|message|marker|statement|tag",
    "recursive": "in any|every|whatever dir / in|of|across|through|throughout whole|entire|this|current? project|repo|repository|codebase",
    "limit head 1": "first match|occurrence|hit|appearance of? / only first match|occurrence|hit of?",
    "limit tail 1": "last match|occurrence|hit|appearance of? / only last match|occurrence|hit of?",
    "lastseen": "last FOUND line|entry|message",
    "firstseen": "first FOUND line|entry|message",
    "free": "everybody|everyone / middle / who / followed by / came|made|sent|coming / i.e / e.g / that say / project / repo|repository|codebase / source tree / into|in|to one|single file|list|output? / too / result only / only result",
}  # fmt: skip
