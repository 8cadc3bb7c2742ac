"""The families of words with which people say what they want of the lines of a file: order, number, once, how many, which."""

from __future__ import annotations

import re
from functools import lru_cache

from agent.planner.offline.grammar.said.sentence_rules import NUMBER_WORDS


class Phrase:
    """A pattern that is compiled, and tried, only where one of the beginnings of its words was said."""

    def __init__(self, beginnings: str, source: str) -> None:
        self._beginnings = tuple(beginnings.split())
        self._source = source
        self._pattern: re.Pattern[str] | None = None

    def search(self, text: str) -> re.Match[str] | None:
        """The first place where it fits."""
        low = text.lower()
        if not any(beginning in low for beginning in self._beginnings):
            return None
        if self._pattern is None:
            self._pattern = re.compile(self._source)
        return self._pattern.search(text)


NUM = (
    r"(?:\d{1,6}|"
    + "|".join(sorted((w for w in NUMBER_WORDS if " " not in w and w != "zero"), key=len, reverse=True))
    + ")"
)
QUOTED = r"(?:'[^']+'|\"[^\"]+\"|`[^`]+`)"
LINE = r"(?:lines?|rows?|records?|entry|entries|items?|data rows|data lines)"
# "occur" and what else may stand for it, or be left out.
OCCUR = r"(?:occur(?:s|red|ring)?|appear(?:s|ed|ing)?|show(?:s|ed)? up|com(?:e|es|ing) up|turn(?:s|ed)? up|exist(?:s)?|(?:is|are|was|were|be|been|being|gets?|got) (?:there|found|seen|present|used|listed|mentioned|named|contained|given|repeated|recorded|logged|in it|in there)|crop(?:s)? up|there (?:is|are)|are|is)"
COUNTED = r"(?:count(?:s)?|number(?:s)?(?: of (?:occurrences|times|appearances|repetitions))?|frequenc(?:y|ies)|occurrences?|tally|tallies|how often|how many times)"
ASK = (
    r"(?:(?:please )?(?:show|list|print|display|give|get|tell|find|extract|output|pull(?: out)?|fetch|return|see|enumerate|report|name|sort|order|rank|arrange|present|dump|look up|pick(?: out)?|collect|retrieve|filter(?: out)?|search(?: for)?|grep(?: for)?|read(?: out)?|put|select|keep|determine|work out|figure out|find out|compute|calculate)(?: me| us)?(?: only| just)?"
    r"|what(?: is|'s| are| were| was)?|which(?: is| are)?|who(?: is| are)?|i(?:'d| would)? (?:only |just )?(?:need|want|like)(?: to (?:see|know|have|get|find))?|i am (?:looking for|interested in|after)|i'm (?:looking for|interested in|after)|let me see|there (?:is|are)|are there)"
)
# What may be left when everything that means something was taken out.
GLUE = frozenset(
    [
        "the",
        "a",
        "an",
        "all",
        "of",
        "in",
        "on",
        "from",
        "with",
        "and",
        "for",
        "to",
        "is",
        "are",
        "there",
        "it",
        "its",
        "their",
        "them",
        "that",
        "those",
        "these",
        "this",
        "which",
        "what",
        "whose",
        "who",
        "do",
        "does",
        "did",
        "has",
        "have",
        "had",
        "be",
        "was",
        "were",
        "only",
        "just",
        "me",
        "us",
        "as",
        "show",
        "list",
        "please",
        "i",
        "we",
        "need",
        "want",
        "each",
        "every",
        "or",
        "any",
        "one",
        "ones",
        "being",
        "also",
        "then",
        "here",
        "full",
        "whole",
        "entire",
        "complete",
        "log",
        "where",
        "when",
        "said",
        "says",
        "me",
        "line's",
        "so",
        "get",
        "give",
        "print",
        "see",
        "stand",
        "stands",
        "standing",
        "held",
        "data",
        "rows",
        "thing",
        "things",
        "value",
        "values",
        "there's",
        "contents",
        "content",
        "simply",
        "plain",
        "plainly",
        "afterwards",
        "along",
        "together",
        "too",
        "well",
        "overall",
        "sorted",
        "order",
        "ordered",
        "ranked",
        "arranged",
        "out",
    ]
)
OCCURS = Phrase(
    "occur appear show com turn exist found seen present used listed mention named contain given repeat record logged there crop",
    rf"(?i)\b(?:(?:do|does|did) )?(?:they |it |each |that |which )?{OCCUR.replace('|are|is)', ')')}(?=\s*(?:[;,.\x02]|\Z))",
)
SKIPS_EMPTY = Phrase(
    "empty blank",
    r"(?i)(?:not counting|without|ignoring|except|excluding|skipping|leaving out|minus|no|dropping|but not)(?: the| any| all)? (?:empty|blank)(?: lines?| ones| rows?)?|(?<!non)(?<!non-)\b(?:non-?(?:empty|blank))\b|(?:empty|blank) lines (?:not counted|ignored|left out|excluded)",
)
NO_HEADER = Phrase(
    "header heading title column first",
    r"(?i)(?:(?:not (?:counting|including)|without|ignoring|except(?: for)?|excluding|skipping|leaving out|leave out|minus|no|dropping|omitting|but not|below|under|after|apart from|other than)(?: counting)?(?: the| its| any)? (?:header|heading|title|column names|first)(?: line| row)?|(?:the )?header(?: line| row)? (?:not counted|ignored|left out|excluded|skipped|dropped|does not count|doesn't count|should not count))",
)
KEEP_HEADER = Phrase(
    "header heading title",
    r"(?i)(?:but |and |with |while |keeping )*(?:the |its |leaving |keeping |keep |leave )*(?:header|heading|title)(?: line| row)?(?: (?:should|must|has to))? ?(?:stays?|remains?|kept|staying|remaining|first|where it is|in place|is kept|at the top|on top|staying put|left)(?: first)?(?: (?:on|at|in|where it is)?(?: the)? ?(?:very )?(?:top|place|first|beginning|first line|its place))?|(?:but |and )?(?:keep|keeping|leave|leaving) (?:the )?header(?: line| row)?(?: (?:on|at|in|where it is)(?: the)? ?(?:top|place|first|beginning)?)?",
)
FOLDED = Phrase(
    "case capital",
    r"(?i)\b(?:ignoring (?:the )?(?:(?:upper|lower)(?:case)? (?:and|or|vs\.?) (?:lower|upper)[- ]?case|case|capitali[sz]ation|capitals)|case[- ]?folded|case[- ]?insensitiv(?:e|ely)|in any case|regardless of case"
    r"|(?:upper|lower)[- ]?(?:case)? and (?:lower|upper)[- ]?case(?: letters)? (?:treated |counted |taken |being )?(?:as )?(?:alike|the same|equal|together|as one)|(?:case|capitals) (?:ignored|folded|does not matter|doesn't matter)|ignore case)\b",
)
NO_SIGNS = Phrase(
    "punctuation",
    r"(?i)\b(?:ignoring (?:the )?punctuation(?: marks)?|punctuation(?: marks)? (?:ignored|stripped|removed|left out|dropped)|without (?:the |any )?punctuation(?: marks)?)\b",
)
TIES = Phrase(
    "ties",
    r"(?i)\b(?:and )?(?:with )?ties (?:broken |sorted |in |being )?(?:alphabetical(?:ly)?(?: order)?|by name|by the alphabet|in alphabetical order)\b",
)
ONCE = Phrase(
    "once duplic repe doub dup",
    r"(?i)\b(?:and |but |with )?(?:(?:each|every)(?: one| of them| of these)? (?:listed |shown |named |printed |given |only |just )*once|without (?:any )?(?:duplicates?|repetitions?|repeats|doubles|repeating(?: any)?)|(?:with )?(?:the )?(?:duplicates?|repetitions?|repeats|doubles|doublets) (?:dropped|removed|gone|left out|thrown out|eliminated|stripped|collapsed|counted once|only once)"
    r"|no (?:duplicates?|repetitions?|repeats|doubles)|de-?dup(?:licate|ed|licated)?|(?:drop|remove|minus|eliminate)(?:ping|ing)? (?:the |all |any )?duplicates?|only once(?: each)?|once each)\b",
)
DISTINCT = Phrase("unique distinct different various set", r"(?i)\b(?:unique|distinct|different|various|set of)\b")
REPEATED = Phrase(
    "once times twice repe dup recur double than",
    rf"(?i)\b(?:that |which |those |and )?(?:{OCCUR} )?(?:(?:there |in there |in it )?(?:more than once|several times|multiple times|twice or more(?: often)?|at least twice|repeatedly|more than one time|at least two times|two or more times|more often than once|two times or more))\b"
    r"|\b(?:repeated|repeating|duplicate|duplicated|recurring|double)(?= \w+)|\bthat (?:are repeated|repeat|recur|are duplicated|are duplicates|are doubled)\b",
)
SINGLE = Phrase(
    "once time repeat",
    rf"(?i)\b(?:that |which |those )?{OCCUR} (?:exactly |only |just )(?:once|one time)\b|\bthat (?:are not|do not|never) repeat(?:ed)?\b|\bthat {OCCUR} once\b",
)
WITH_COUNTS = Phrase(
    "count number frequen occurr tall often times",
    rf"(?i)[, ]*\b(?:(?:along |together )?(?:with|including|plus|and)(?: also)? (?:the |their |its |a )?(?:respective )?{COUNTED}(?: (?:of )?(?:each|them|it|they|each one|every one))?(?: (?:{OCCUR}|was|were))?(?: in front| in it| there| each)?"
    r"|(?:and )?count(?:ed)? (?:them|each|each one|every one)|with a count)(?=\s*(?:[,;.\x02]|\Z))",
)
EACH_COUNTED = Phrase(
    "each every individual single different distinct all various the",
    r"(?i)\b(?:(?:count(?:ing)?|see|know|show|tell|and|show me|tell me|list|print) )?(?:how (?:often|many times|frequently)|the (?:number of times|frequency|frequencies|count|counts) (?:of|with which)|(?:number|count) of times|frequenc(?:y|ies) of|counts? (?:of|for)|tally(?: of)?|(?:a )?(?:tally|breakdown|distribution|histogram|statistics?|stats|summary|overview|census) (?:of|for|by)|occurrences of|number of occurrences of)(?: does| do| is| are| was| were| has| have)?"
    r" (?:each|every|each of|the individual|the single|the different|the distinct|all|the various|the)(?: single| one of| distinct| different| individual| of)?(?: the)? (?=\w)",
)
STATISTICS = Phrase(
    "statist stats distrib breakdown histogram frequen counts tally",
    r"(?i)\b(?:statistics?|stats|distribution|breakdown|histogram|frequencies|frequency|counts|tally)\b(?: of| for)?",
)
HOW_MANY = Phrase(
    "many number count tally",
    r"(?i)\b(?:(?:count|tell me|show me|show|give me|find out|print|i want to know|determine|get|need to know|i need) )?(?:how many|the number of|the total number of|number of|total number of|the count of|count of|a count of)(?: of)?(?: the| all)?\b"
    r"|\A\s*(?:count|tally)(?: up)?(?: all| the| of| number of)*(?= )",
)
HOW_MANY_TAIL = Phrase(
    "how many count number there have contain hold list defin includ mention name record log give present found total exist all show",
    r"(?i)\b(?:how many (?:are|is) (?:there|they|that|these|it)(?: in (?:all|total|it|there))?|how many there are|and how many there are|what is their number|count them|are there(?: in (?:all|total))?|there are|do we have|do i have|are in (?:there|it)|does \x02 (?:have|contain|hold|list|define|include|mention|name|show|record)|does it (?:have|contain|hold|list)|(?:are |is )?(?:listed|defined|recorded|logged|mentioned|contained|given|named|present|found|to be found|stored)(?: there| in it| in there)?|exist|in total|altogether|in all)(?=\s*(?:[,;.\x02]|\Z))",
)
DOES_FILE_HAVE = Phrase(
    "do ha contain hold list defin includ mention record",
    r"(?i)\b(?:does|do|did|has|have) \x02 (?:have|has|contain|hold|list|define|include|mention|name|record|got|show)\b|\x02 (?:has|contains|holds|lists|defines|includes|mentions|records)\b",
)
MOST = Phrase(
    "most least",
    rf"(?i)\b(?:the )?(?:top )?(?P<n>{NUM} )?(?P<way>most|least)[- ](?:common|frequent|frequently used|frequently occurring|often used|used|frequently|popular|occurring|repeated|active|often seen|often named|requested|often)(?P<order> (?:\w+ )?(?:first|on top|at the top))?\b",
)
BY_COUNT = Phrase(
    "frequen popular count number occurr often many",
    rf"(?i)\b(?:sorted |ordered |ranked |arranged |sort |order |rank )?(?:by|according to|in order of) (?:the |their |its )?(?:frequency|frequencies|popularity|counts?|number of (?:occurrences|times|appearances)|occurrences|how (?:often|frequently|many times)(?: (?:they|it|each(?: one| of them)?|every one))?(?: {OCCUR})?)(?: (?:they|it|each) {OCCUR})?\b",
)
DESCENDING = Phrase(
    "desc decreas fall reverse from first top up back z high large big",
    r"(?i)\b(?:in )?(?:descending|decreasing|falling|reverse(?:d)?)(?: order)?|\bfrom (?:the )?(?:high(?:est)?|larg(?:e|est)|big(?:gest)?|most|warm(?:est)?|hot(?:test)?|new(?:est)?|best|old(?:est)? age|expensive|long(?:est)?) (?:down )?to (?:the )?(?:low(?:est)?|small(?:est)?|least|fewest|cold(?:est)?|old(?:est)?|worst|cheap(?:est)?|short(?:est)?|cool(?:est)?)\b"
    r"|\b(?:the )?(?:highest|largest|biggest|most|newest|latest|best|greatest|warmest|hottest|most expensive|heaviest|most recent)(?: one| ones| values?| numbers?| counts?| frequency)? (?:first|on top|at the top|up front)\b|\bbackwards\b|\b(?:from )?z(?: down)? to a\b|\b(?:high|large|big) to (?:low|small)\b|\btop down\b",
)
ASCENDING = Phrase(
    "asc increas ris from first top a low small",
    r"(?i)\b(?:in )?(?:ascending|increasing|rising)(?: order)?|\bfrom (?:the )?(?:low(?:est)?|small(?:est)?|least|fewest|cold(?:est)?|old(?:est)?|worst|cheap(?:est)?|short(?:est)?) (?:up )?to (?:the )?(?:high(?:est)?|larg(?:e|est)|big(?:gest)?|most|warm(?:est)?|hot(?:test)?|new(?:est)?|best|expensive|dear(?:est)?|long(?:est)?)\b"
    r"|\b(?:the )?(?:lowest|smallest|least|fewest|oldest|earliest|cheapest|worst|coldest|lightest)(?: one| ones| values?| numbers?| counts?| frequency)? (?:first|on top|at the top|up front)\b|\b(?:from )?a to z\b|\b(?:low|small) to (?:high|large|big)\b",
)
ALPHABETICAL = Phrase(
    "alphabet abc dictionary lexic name",
    r"(?i)\b(?:sorted |ordered |in )?(?:alphabetical(?:ly)?|alphabet|abc|dictionary|lexical|lexicographic(?:al)?)(?: order| sorted| ordered)?\b|\b(?:sorted|ordered) by name\b(?! column)",
)
SORTED = Phrase("sort order arrang", r"(?i)\b(?:sorted|ordered|in order|in sorted order|arranged|sort|order)\b")
NUMERICALLY = Phrase(
    "numeric number value magnitude",
    r"(?i)\b(?:numerically|in numeric(?:al)? order|as numbers|by (?:their )?(?:numeric(?:al)? )?value|by number|numeric(?:al)?(?: order)?|by size of number|by magnitude)\b",
)
BY_LENGTH = Phrase(
    "length number longest shortest",
    r"(?i)\b(?:sorted |ordered |ranked |sort (?:them |the distinct ones |it )?|in order of |by )+(?:their |the |its )?(?:length|number of (?:letters|characters))\b|\b(?P<far>longest|shortest)(?: \w+)?(?: ?[\x02;]+)* first\b",
)
NUMBERED = Phrase(
    "number",
    r"(?i)\b(?:and |along |together )?(?:with|including|plus|and) (?:the |their |its )?line ?numbers?(?: in front)?\b",
)
NTH = {"second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10}
_PRICES, _PAY, _AGES, _HEAT = ("price", "cost"), ("salary", "wage", "pay", "income"), ("age",), ("temperature",)
# Adjectives that say of which column they speak, and whether of its large values.
DEGREES = {
    "cheapest": (_PRICES, False), "most expensive": (_PRICES, True), "dearest": (_PRICES, True), "priciest": (_PRICES, True), "costliest": (_PRICES, True),
    "best paid": (_PAY, True), "best-paid": (_PAY, True), "highest paid": (_PAY, True), "highest-paid": (_PAY, True), "top earning": (_PAY, True),
    "worst paid": (_PAY, False), "worst-paid": (_PAY, False), "lowest paid": (_PAY, False), "lowest-paid": (_PAY, False), "least paid": (_PAY, False),
    "oldest": (_AGES, True), "eldest": (_AGES, True), "youngest": (_AGES, False), "heaviest": (("weight",), True), "lightest": (("weight",), False),
    "tallest": (("height",), True), "warmest": (_HEAT, True), "hottest": (_HEAT, True), "coldest": (_HEAT, False), "coolest": (_HEAT, False),
}  # fmt: skip
WHOLE_LINES = Phrase(
    "full whole complete entire",
    r"(?i)\b(?:the )?(?:full|whole|complete|entire) (?:rows?|lines?|records?|entries|entry)(?: of)?\b|\bas (?:whole|full|complete) (?:lines|rows)\b",
)
BARE = Phrase(
    "only nothing one each line list",
    r"(?i)\b(?:bare|the bare|just the|only the)? ?(?:numbers|values|figures) only\b|\bnothing (?:else|more)\b|\band nothing else\b|\bone per line\b|\bone (?:to|on) (?:a|each) line\b|\beach on (?:its|their) own line\b|\bline by line\b|\bas a list\b",
)
LIMIT = Phrase(
    "first top last bottom final",
    rf"(?i)\b(?:only |just |limited to |limit to |show |the )*(?P<end>first|top|last|bottom|final) (?P<n>{NUM})\b(?! (?:letters?|characters?|bytes?|columns?|fields?|words? of each))",
)


@lru_cache(maxsize=256)
def compiled(pattern: str) -> re.Pattern[str]:
    """A pattern that depends on the columns of a file."""
    return re.compile(pattern, re.IGNORECASE)


def number(said: str) -> str:
    """A number in digits."""
    low = said.strip().lower()
    return str(NUMBER_WORDS.get(low, low))
