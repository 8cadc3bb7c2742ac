"""Ways to say a thing that are put into the words that rules know, before anything is read: "all but" and "apart from" are "except".

A table of patterns, each with words of which one must be there before it is tried. What is quoted is never touched. The goal as it was
typed stays what guards and confidence look at.
"""

from __future__ import annotations

import re
from functools import cached_property

_QUOTED = re.compile(r"(?<!\w)(?:'[^'\n]*'|\"[^\"\n]*\"|`[^`\n]*`|“[^”\n]*”|‘[^’\n]*’|«[^»\n]*»)(?!\w)")
_MOST = 400  # characters: what is longer was pasted
# A name of a file: with an ending, or a path, or quoted (then it is a number between \x01 and \x02).
_HOLES = {
    "FILE": r"(?:\x01\d+\x02|[\w~/+%-][\w./~+%-]*\.\w{1,8}|[\w.~+-]*/[\w./~+-]+)",
    "WORD": r"(?:\x01\d+\x02|[\w'-]+)",
    "NUM": r"(?:\d+|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty)",
    "END": r"(?=\s*(?:[,.;?!]|\Z))",
    "SEEN": r"(?: (?:appear|occur|be found|be seen|show up|come up|turn up|mentioned|found|seen|contained|present|used|be read|stand))?",
}


class Rewording:
    """One row: words of which one must be there, what is said, and how rules say it."""

    def __init__(self, triggers: str, said: str, known: str) -> None:
        self.triggers = frozenset(triggers.split())
        self._said = said
        self.known = known

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The pattern, compiled when one of its words was said."""
        source = self._said
        for name, text in _HOLES.items():
            source = source.replace(name, text)
        return re.compile(rf"(?<![\w'/.-])(?:{source})(?![\w/-])", re.IGNORECASE)


def reworded(text: str) -> str:
    """A goal in words that rules know; as it is where nothing in it is said otherwise."""
    if len(text) > _MOST or "\x01" in text:
        return text
    quotes: list[str] = []

    def mask(found: re.Match[str]) -> str:
        quotes.append(found[0])
        return f"\x01{len(quotes) - 1}\x02"

    out = _QUOTED.sub(mask, text)
    words = set(re.findall(r"[a-z']+", out.lower()))
    for row in _ROWS:
        if row.triggers & words:
            changed = row.pattern.sub(row.known, out)
            if changed != out:
                out = changed
                words = set(re.findall(r"[a-z']+", out.lower()))
    if out == text:
        return text
    return re.sub(r"\x01(\d+)\x02", lambda found: quotes[int(found[1])], " ".join(out.split()))


_NOT_COUNTED = r"(?:the |any |all )?"
_ROWS = [
    # Politeness that stands in the middle.
    Rewording("please kindly", r",? (?:please|kindly)(?=[ ,.?!]|\Z)", ""),
    # What is left out.
    Rewording("apart aside exception save except", r"(?:apart from|aside from|with the exception of|save for|except for)", "except"),
    Rewording("ignore ignoring skip skipping omit exclude", r",? (?:but|and|while|yet) (?:please )?(?:ignor(?:e|ing)|skip(?:ping)?|omit(?:ting)?|exclud(?:e|ing)|leav(?:e|ing) out)", " except"),
    Rewording("leave leaving left", rf",? (?:and |but |while )?leav(?:e|ing) out {_NOT_COUNTED}", " except "),
    Rewording("leave leaving", r",? (?:and |but )?leav(?:e|ing) (the (?:first|last|header|top)(?: line| row)?) out", r" except \1"),
    Rewording("counting", r",? (?:not |without )counting (?:the |any |sub)*(?:folders|directories|dirs|links),?", " "),
    Rewording("not don't", r",? but (?:not|do not|don't) (?:those |the ones |anything |any |files )?(?=(?:in|under|inside|from|below) )", " not "),
    Rewording("not don't", r",? (?:but |and )?(?:do not|don't) (?:include|list|show|consider|count) (?:those |the ones |anything |any |files )?(?=(?:in|under|inside|from|below) )", " not "),
    # Which lines.
    Rewording("opening leading beginning starting", r"(?:opening|leading|beginning|starting) (NUM lines)", r"first \1"),
    Rewording("closing ending concluding", r"(?:closing|ending|concluding) (NUM lines)", r"last \1"),
    Rewording("line lines", r"what (?:does|do|is|are|stands) (?:(?:in|on) )?(?:the )?((?:(?:first|second|third|fourth|fifth|last|\d+(?:st|nd|rd|th)) )lines?|lines? \d+) (?:of|in) (FILE)(?: say| read| contain| look like)?", r"show the \1 of \2"),
    Rewording("all", r"all of (FILE) (?=except|but|without)", r"show \1 "),
    Rewording("how", r"(?:in|on) how many (lines|rows|records) (?:of|in) (FILE) (?:does|do|can|is|are|will|did) (?:the )?(?:word |text |string |name |term |phrase )?(WORD)SEEN", r"how many \1 of \2 contain the word \3"),
    Rewording("how", r"(?:in|on) how many (lines|rows|records) (?:does|do|can|is|are|will|did) (?:the )?(?:word |text |string |name |term |phrase )?(WORD)SEEN (?:of|in) (FILE)", r"how many \1 of \3 contain the word \2"),
    Rewording("how", r"how many (lines|rows|records) (?:does|do) (?:the )?(?:word |text |string )?(WORD) (?:appear|occur|show up|come up) (?:in|on),? (?:in|of|within) (FILE)", r"how many \1 of \3 contain the word \2"),
    Rewording("how", r"how (?:long|big|large) is (FILE),? (?:measured |counted )?in (lines|words|characters|bytes)", r"how many \2 are in \1"),
    Rewording("number count", r"(?:the )?(?:number|count) of (lines|rows) (?:of|in) (FILE) (?:in|on) which (?:the )?(?:word |text )?(WORD) (?:appears|occurs|is|stands|shows up)", r"count the \1 of \2 that contain \3"),
    Rewording("comments comment blank empty lines", r"(?:without|except|ignoring|skipping|minus|excluding|no|dropping) (?:the |any |all )?comment(?:s| lines)? (?:and|or|nor) (?:the |any |all )?(?:empty|blank)(?: ones| lines)?", "that are neither comments nor blank"),
    Rewording("comments comment blank empty lines", r"(?:without|except|ignoring|skipping|minus|excluding|no|dropping) (?:the |any |all )?(?:empty|blank)(?: ones| lines)? (?:and|or|nor) (?:the |any |all )?comment(?:s| lines)?", "that are neither comments nor blank"),
    Rewording("before", r"(?:, |with |and )?one (?:line )?before and one (?:line )?after", " with 1 line before and after"),
    Rewording("numbers", r"(show|print|display) (?:the )?line numbers (?:along|together) with (?:the )?(?:text|lines|contents?) of (FILE)", r"\1 \2 with line numbers"),
    # Letters and little words that are the text itself.
    Rewording("starting beginning ending start begin end starts begins ends", r"(starting|beginning|ending|start|begin|end|starts|begins|ends) (with|in|on) (?:the letter |the character |an? )?([a-z])(?= (?:in|of|from|and|or|but|on|inside)\b|\s*[,.?]|\Z)", r"\1 \2 '\3'"),
    Rewording("starting beginning ending start begin end starts begins ends", r"(starting|beginning|ending|start|begin|end|starts|begins|ends) (with|in|on) the (?:letter|character) ([A-Za-z0-9])", r"\1 \2 '\3'"),
    Rewording("word words string letter", r"the (word|string|letter) (the|a|an|in|on|at|of|to|for|from|with|by|and|or|but|not|is|are|was|it|all|any|each|every|both|as|if|only|this|that|i|you|we|no|so|do)(?= (?:in|of|from|occurs?|appears?)\b|\s*[,.?]|\Z)", r"the \1 '\2'"),
    Rewording("contain contains containing include including mention mentioning", r"(contain|contains|containing|include|includes|including|mention|mentions|mentioning) (the|a|an|and|or|not|of)(?=\s*[,.?]|\Z)", r"\1 '\2'"),
    Rewording("case uppercase capitalization capitalisation", r"(?:regardless of|no matter|irrespective of|whatever|not caring about|without regard to|whether in|without caring about) (?:the |in |its |their )?(?:upper(?:case)?(?:[- ]case)?(?: letters)? (?:or|and) lower[- ]?case|lower(?:case)?(?:[- ]case)?(?: letters)? (?:or|and) upper[- ]?case|case|capitali[sz]ation)(?: letters| of (?:the )?letters)?", "ignoring case"),
    Rewording("upper uppercase", r",? (?:be it |in |either )?(?:upper(?:case)? or lower[- ]?case|lower(?:case)? or upper[- ]?case|upper[- ]case or lower[- ]case),?", " ignoring case "),
    # Replacing.
    Rewording("instead place", r",? ?(?:but )?with (WORD) (?:instead of|in place of|rather than) (?:the word |every |each )?(WORD)", r" with \2 replaced by \1"),
    Rewording("swap exchange switch trade", r"(?:swap|exchange|switch|trade)(?: out)? (?:the word |every |all |each )?(WORD) for (WORD)", r"replace \1 with \2"),
    Rewording("change modify touch alter edit changing modifying touching altering editing", r",? (?:but |and )?(?:do not|don't|without) (?:chang|modify|touch|alter|edit)\w* (?:the |that )?(?:file|original|it)(?: itself)?", " on the terminal"),
    Rewording("print show display screen", r",? ?\(? ?(?:just |only )?(?:print|show|display|output)(?:ed)? only\)?(?=\s*\.?\Z)", " on the terminal"),
    Rewording("print show display screen", r",? ?\( ?(?:just |only )?(?:print|show|display|output)(?: it| the result)?\)(?=\s*\.?\Z)", " on the terminal"),
    Rewording("tab tabs csv comma commas", r"convert (FILE) (?:in)?to (?:a )?(?:tsv|tab[- ](?:separated|delimited))(?: values| file| form| format)?", r"convert commas to tabs in \1"),
    Rewording("semicolon semicolons", r"convert (FILE) (?:in)?to (?:a )?semicolon[- ](?:separated|delimited)(?: values| file| form| format)?", r"convert commas to semicolons in \1"),
    Rewording("caps capitals capital", r"(?:in|into|to) (?:all )?(?:caps|capitals|capital letters|block letters|big letters)", "to uppercase"),
    # Tables.
    Rewording("work works working live lives living employed based located", r"(?:who |that |which )?(?:work|works|working|live|lives|living|are employed|employed|are based|based|are located|located) (?:in|at)(?= (?:the )?[A-Z])", "in"),
    Rewording("who", r"(?:who|that) (?:earn|make|get)s?(?= (?:more|less|over|under|above|below) )", "earning"),
    # Files.
    Rewording("extension suffix ending", r"(?:that |which )?(?:have|has|with) (?:the |an? )?(?:file )?(?:extension|suffix|ending) \.?(\w{1,6})(?! or| and|,)", r"ending in .\1"),
    Rewording("wherever", r",? wherever (?:they|it) (?:are|is|may be|might be)(?: located)?", ""),
    Rewording("called named", r"(?:called|named) ([\w-]+),? (?:whatever|with any|no matter (?:what|which)|regardless of|any) (?:the |its |their )?(?:extension|ending|suffix)", r"named '\1.*'"),
    Rewording("modified changed edited", r"(?:last )?(modified|changed|edited|updated) between (\d+) and (\d+) days ago", r"modified more than \2 days ago and modified less than \3 days ago"),
    Rewording("modified changed edited created", r"(?:last )?(?:modified|changed|edited|updated) in (?:the year )?((?:19|20)\d\d)", r"modified between \1-01-01 and \1-12-31"),
    Rewording("hard", r"(?:that |which )?(?:share their inode with another file|have (?:several|multiple|more than one|other) (?:hard links|names))(?: \(hard links\))?", "with more than 1 hard links"),
    Rewording("has have contains most fewest", r"which ((?:[\w.]+ )?files?) (?:has|have|contains?|holds?) (?:the )?(most|fewest) lines", r"\1 with the \2 lines"),
    Rewording("space", r"how much (?:disk )?space (?:do|does) ((?:all |the |all the )?[\w.]+ files(?: (?:in|under|below) [\w./]+)?) (?:take up|take|use|occupy|need|consume)(?: up)?(?: together| in total| altogether| combined| in all)?", r"total size of \1"),
    Rewording("files", r"(\w+) (?:source|source code|program) files", r"\1 files"),
    Rewording("images pictures photos files videos documents", r"(?:images|pictures|photos|files|videos|documents)\s*[:(]\s*((?:\.?\w{2,4}(?:, or |, | or | and ))+\.?\w{2,4})\)?", r"\1 files"),
    Rewording("keep keeping", r",? (?:but|and|while) (?:keep|keeping|leave|leaving) (?:it|the file)(?: itself| there)?(?=\s*\.?\Z)", ""),
    Rewording("end beginning start", r"(show|print|display|see) (?:me )?the end of (FILE),? (?:only |just )?(?:the last )?(NUM) lines", r"\1 the last \3 lines of \2"),
    Rewording("beginning start top", r"(show|print|display|see) (?:me )?the (?:beginning|start|top) of (FILE),? (?:only |just )?(?:the first )?(NUM) lines", r"\1 the first \3 lines of \2"),
    Rewording("lines appear appears occur exist present found", r"lines (?:that |which )?(?:appear|occur|are found|exist|are present|stand|are) (?:only )?in (FILE),? (?:but|and) not in (FILE)", r"lines in \1 but not in \2"),
    Rewording("find search look grep", r"(?P<verb>find|search for|look for|grep for|grep) (?!(?:files?|folders?|lines?|words?|duplicates?|it|them|what|everything|anything|text|names?|directories|links?|all|any|the|out|where|how|images?|photos?|pictures?|columns?|numbers?|scripts?|documents?|users?|processes|ip|email|emails|addresses|executables?|symlinks?|videos?|music|comments?|functions?|classes)\b)([A-Za-z]\w*) in (?=(?:all |every |each |any |the )*(?:\.?\w+ )?files?\b)", r"find '\2' in "),
    Rewording("status code", r"(requests|lines|entries|hits|responses)(?: (?:in|of|from) (FILE))? (?:that |which )?(?:have |has |had )?(?:ended|ending|end|answered|returned|returning|resulted|resulting|finished|responded|were answered|got|had|returns?)(?: with| in)? (?:a |an |the )?(?:http )?(?:status(?: code)?|code|response code) (\d{3})", r"\1 in \2 with status \3"),
    Rewording("upper lower case", r"(?<= )\((?:in )?any case\)", "ignoring case"),
    # Counts.
    Rewording("each every", r"(?:and )?(print|show|tell me|list|display|say) how many (lines|words|characters|bytes) (?:each|every)(?: one| file| of them)? (?:has|contains|have)", r"and count the \2 in each"),
    Rewording("commonest", r"commonest", "most common"),
    Rewording("altogether total", r"(?:all rows together|all together|taken together|in all)(?=\s*[.?]?\Z)", "in total"),
]  # fmt: skip
