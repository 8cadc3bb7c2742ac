"""The table of wordings that are put into the words that rules know: what is left out, orders, times, files, lines, tables, counts."""

from __future__ import annotations

import calendar
import re

from agent.planner.offline.grammar.rewording import Rewording

_MONTHS = {name.lower(): number for number, name in enumerate(calendar.month_name) if name} | {
    name.lower(): number for number, name in enumerate(calendar.month_abbr) if name
}
_MONTH = r"(?:january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)"
_YEAR = r"(?:19|20)\d\d"
_NTH = {"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "tenth": 10, "fifteenth": 15, "last": 31}
_OPPOSITE = {"largest": "smallest", "smallest": "largest", "newest": "oldest", "oldest": "newest"}
_NUMBERS = {"a": "1", "an": "1", "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9", "ten": "10", "twenty": "20", "fifty": "50", "a hundred": "100", "one hundred": "100", "five hundred": "500", "a thousand": "1000"}  # fmt: skip


def _day(found: re.Match[str]) -> str:
    """A day with its month in words, as a date."""
    day = found["day"].lower()
    number = _NTH.get(day) or int(re.sub(r"\D", "", day) or "0")
    month = _MONTHS[found["month"].lower()[:3]]
    return f"{found['year']}-{month:02d}-{number:02d}" if 1 <= number <= 31 else found[0]


def _month(found: re.Match[str]) -> str:
    """A whole month, as the days from its first to its last."""
    year, month = int(found["year"]), _MONTHS[found["month"].lower()[:3]]
    return f"between {year}-{month:02d}-01 and {year}-{month:02d}-{calendar.monthrange(year, month)[1]}"


def _other_end(found: re.Match[str]) -> str:
    return f"{_OPPOSITE[found[1].lower()]} first"


def _in_digits(found: re.Match[str]) -> str:
    return f"{_NUMBERS[found[1].lower()]} {found[2]}"


def _fronted(found: re.Match[str]) -> str:
    """ "notes.txt: number of lines" has what it is about in front."""
    rest = re.sub(r"(?i)\b(?:in|of) (?:there|it)\b", "", found[2]).strip()
    return f"{rest} in {found[1]}"


_NOT_COUNTED = r"(?:the |any |all )?"
ROWS: tuple[Rewording, ...] = (
    # Said last, and true of all of it.
    Rewording("case", r",? (?:the |(?:upper|lower)(?:case)? (?:or|and) (?:lower|upper)[- ]?)?case (?:doesn't|does not|isn't|is not|should not|shouldn't|need not) (?:matter|important|relevant|count)", " ignoring case"),
    Rewording("good", r",? for good(?=\s*\.?\Z)", ""),
    Rewording("delete remove", r",? (?:but|and) (?:don't|do not) (?:delete|remove) (?:it|the file)(?=\s*\.?\Z)", ""),
    Rewording("screen terminal console output", r",? ?\(? ?(?:only |just )?(?:to|on|at) (?:the |my )?(?:screen|terminal|console|display)(?: only)?\)?(?=\s*\.?\Z)", " on the terminal"),
    Rewording("output", r",? (?:as output|output only|only as output)(?=\s*\.?\Z)", " on the terminal"),
    Rewording("alone untouched unchanged", r",? (?:and |but )?(?:leave|leaving|keep|keeping) (?:the )?(?:file|original|it)(?: itself)? (?:alone|untouched|unchanged|as it is|as is)", " on the terminal"),
    Rewording("yyyy", r",? (?:as|in the form|formatted as|written as|like) YYYY-MM-DD(?=\s*\??\Z)", ""),
    # Politeness that stands in the middle.
    Rewording("please kindly", r",? (?:please|kindly)(?=[ ,.?!]|\Z)", ""),
    Rewording("lines appear appears occur exist present found", r"lines (?:that |which )?(?:appear|occur|are found|exist|are present|stand|are) (?:only )?in (FILE),? (?:but|and) not in (FILE)", r"lines in \1 but not in \2"),
    # What is left out.
    Rewording("apart aside exception save except", r"(?:apart from|aside from|with the exception of|save for|except for)", "except"),
    Rewording("ignore ignoring skip skipping omit exclude", r",? (?:but|and|while|yet) (?:please )?(?:ignor(?:e|ing)|skip(?:ping)?|omit(?:ting)?|exclud(?:e|ing)|leav(?:e|ing) out)", " except"),
    Rewording("leave leaving left", rf",? (?:and |but |while )?leav(?:e|ing) out {_NOT_COUNTED}", " except "),
    Rewording("leave leaving", r",? (?:and |but )?leav(?:e|ing) (the (?:first|last|header|top)(?: line| row)?) out", r" except \1"),
    Rewording("counting", r",? (?:not |without )counting (?:the |any |sub)*(?:folders|directories|dirs|links),?", " "),
    Rewording("not don't", r",? but (?:not|do not|don't) (?:those |the ones |anything |any |files )?(?=(?:in|under|inside|from|below) (?!FILE))", " not "),
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
    Rewording("tab tabs csv comma commas", r"convert (FILE) (?:in)?to (?:a )?(?:tab[- ](?:separated|delimited))(?: values| file| form| format)?", r"convert commas to tabs in \1"),
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
    Rewording("keep keeping", r"\A((?:empty|clear|truncate|blank) .*?),? (?:but|and|while) (?:keep|keeping|leave|leaving) (?:it|the file)(?: itself| there)?(?=\s*\.?\Z)", r"\1"),
    Rewording("end beginning start", r"(show|print|display|see) (?:me )?the end of (FILE),? (?:only |just )?(?:the last )?(NUM) lines", r"\1 the last \3 lines of \2"),
    Rewording("beginning start top", r"(show|print|display|see) (?:me )?the (?:beginning|start|top) of (FILE),? (?:only |just )?(?:the first )?(NUM) lines", r"\1 the first \3 lines of \2"),
    Rewording("find search look grep", r"(?P<verb>find|search for|look for|grep for|grep) (?!(?:files?|folders?|lines?|words?|duplicates?|it|them|what|everything|anything|text|names?|directories|links?|all|any|the|out|where|how|images?|photos?|pictures?|columns?|numbers?|scripts?|documents?|users?|processes|ip|email|emails|addresses|executables?|symlinks?|videos?|music|comments?|functions?|classes)\b)([A-Za-z]\w*) in (?=(?:all |every |each |any |the )*(?:\.?\w+ )?files?\b)", r"find '\2' in "),
    Rewording("status code", r"(requests|lines|entries|hits|responses)(?: (?:in|of|from) (FILE))? (?:that |which )?(?:have |has |had )?(?:ended|ending|end|answered|returned|returning|resulted|resulting|finished|responded|were answered|got|had|returns?)(?: with| in)? (?:a |an |the )?(?:http )?(?:status(?: code)?|code|response code) (\d{3})", r"\1 in \2 with status \3"),
    Rewording("upper lower case", r"(?<= )\((?:in )?any case\)", "ignoring case"),
    Rewording("which", r"which (\w+) (?:occur|appear|are used|are there|exist|come up|are listed|are mentioned) in (FILE)(?:,? (?:every|each|list(?:ed)?|show(?:n)?|name)(?: \w+)? (?:only )?once)?", r"different \1 in \2"),
    Rewording("runs run", r"with (?:every |all |each )?runs? of (?:blanks|spaces) (?:squeezed|reduced|collapsed|turned|shrunk)(?: in)?to (?:a single one|one|a single blank|a single space|one blank|one space)", "with multiple spaces squeezed into one"),
    Rewording("unix", r"(?:make|turn) (FILE) (?:in)?to? ?a (?:unix|linux) (?:text )?file(?: \(.*\))?", r"convert \1 to unix line endings"),
    # Counts.
    Rewording("each every", r"(?:and )?(print|show|tell me|list|display|say) how many (lines|words|characters|bytes) (?:each|every)(?: one| file| of them)? (?:has|contains|have)", r"and count the \2 in each"),
    Rewording("commonest", r"commonest", "most common"),
    Rewording("altogether total", r"(?:all rows together|all together|taken together|in all)(?=\s*[.?]?\Z)", "in total"),
    # Where.
    Rewording("subfolders subdirectories", r",? (?:but |and )?(?:no|not the|none of the|not any) (?:sub)(?:folders|directories)", " not in subfolders"),
    Rewording("nested", r",? (?:and |with |including )?(?:the )?nested ones(?: as well| too| included| also)?", " recursively"),
    Rewording("here counting counted", r",? (?:counting|counted|seen|looking|starting) from here", ""),
    Rewording("whatever matter which", r",? (?:in )?(?:whatever|whichever|no matter (?:in )?(?:which|what)) (?:folder|directory)(?: (?:it is|they are|it's|it may be) in)?", ""),
    Rewording("sitting lying residing living kept", r"(files|folders|directories|scripts|documents) (?:sitting|lying|residing|living|kept|to be found)(?= (?:in|under|below|at|exactly|directly))", r"\1"),
    Rewording("top", r",? (?:only )?(?:in|at|on) the top (?:folder|level|directory)(?! of [\w/]+\.)(?: of this (?:project|tree|folder))?(?: only)?", " not in subfolders"),
    Rewording("folders directories", r"(\d+|one|two|three|four|five) (?:folders|directories) (?:deep|down)", r"\1 levels deep"),
    # Orders.
    Rewording("heaviest bulkiest fattest hugest", r"(?:heaviest|bulkiest|fattest|hugest)", "largest"),
    Rewording("tiniest lightest littlest", r"(?:tiniest|lightest|littlest)", "smallest"),
    Rewording("biggest", "biggest", "largest"),
    Rewording("freshest recent youngest", r"(?:freshest|most recent(?! \d)|most recently (?:changed|modified|edited|touched)|latest)(?= (?:one |ones |file |files )?(?:on|at|first|last|up))", "newest"),
    Rewording("ancient", r"(?:the )?most ancient", "oldest"),
    Rewording("small big large smallest largest biggest", r",? (?:from )?(?:the )?small(?:est|er)? (?:to|up to|down to) (?:the )?(?:big|large|bigg?est|largest|bigger)(?: ones?)?(?=\s*[,.?]|\Z)", " smallest first"),
    Rewording("small big large smallest largest biggest", r",? (?:from )?(?:the )?(?:big|large|biggest|largest|bigger) (?:to|down to) (?:the )?small(?:est|er)?(?: ones?)?(?=\s*[,.?]|\Z)", " largest first"),
    Rewording("old oldest new newest", r",? (?:from )?(?:the )?old(?:est|er)? (?:to|up to) (?:the )?(?:new|newest|newer|freshest|latest|youngest)(?: ones?)?(?=\s*[,.?]|\Z)", " oldest first"),
    Rewording("top beginning front head", r"(largest|smallest|newest|oldest|longest|shortest|highest|lowest|most common|most frequent|rarest|busiest)(?: ones?| files?| of them)? (?:on|at|to|up) (?:the )?(?:top|beginning|front|head|very top)", r"\1 first"),
    Rewording("end bottom last", r"(largest|smallest|newest|oldest)(?: ones?| files?| of them)? (?:(?:at|to) the (?:end|bottom|very end)|last)", _other_end),
    Rewording("rarest", r"rarest (?:ones? )?first", "least common first"),
    Rewording("busiest", r"busiest (?:ones? )?first", "most common first"),
    Rewording("space disk", r"(?:the )?(?:top )?(NUM )?(?:biggest |worst |largest )?(?:space|disk) (?:eaters|hogs|wasters|consumers)(?: among (?:the |all )?files)?", r"\1largest files"),
    # Sizes and how they are shown.
    Rewording("human humans people person readable", r",? (?:in |with )?(?:a |some )?(?:sizes? in )?(?:form|format|way|units?|unit) (?:that |which )?(?:a |an )?(?:human|humans|people|person|man)(?: being)?s? can (?:read|understand)", " human readable"),
    Rewording("human", r",? ?(?:sizes? )?(?:in |with |using )?human (?:units|form|format|sizes|numbers)", " human readable"),
    Rewording("weighs weighing weigh heavier lighter", r"(?:that |which )?(?:weighs?|weighing)(?: in at)? (more|less) than", r"with size \1 than"),
    Rewording("heavier", "heavier than", "larger than"),
    Rewording("lighter", "lighter than", "smaller than"),
    Rewording("kilobyte kilobytes megabyte megabytes gigabyte gigabytes kb mb gb bytes weeks week days day months month hours hour years year", r"(a hundred|one hundred|five hundred|a thousand|a|an|one|two|three|four|five|six|seven|eight|nine|ten|twenty|fifty) (kilobytes?|megabytes?|gigabytes?|kb|mb|gb)", _in_digits),
    Rewording("between", r"between (\d+) and (\d+) ?(k|kb|kilobytes?|mb|megabytes?|m|bytes|b|g|gb|gigabytes?)", r"between \1 \3 and \2 \3"),
    # Times.
    Rewording("of st nd rd th january february march april may june july august september october november december jan feb mar apr jun jul aug sep oct nov dec", rf"(?:the )?(?P<day>first|second|third|fourth|fifth|tenth|fifteenth|\d{{1,2}}(?:st|nd|rd|th)?)(?: of)? (?P<month>{_MONTH}),? (?P<year>{_YEAR})", _day),
    Rewording("january february march april may june july august september october november december jan feb mar apr jun jul aug sep oct nov dec", rf"(?P<month>{_MONTH}) (?P<day>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<year>{_YEAR})", _day),
    Rewording("january february march april may june july august september october november december jan feb mar apr jun jul aug sep oct nov dec", rf"(?:during|in|within) (?P<month>{_MONTH})(?: of)? (?P<year>{_YEAR})", _month),
    Rewording("nobody", r"(?:that |which )?(?:nobody|no one) (?:has |had )?(modified|touched|changed|edited|read|opened|used)(?: (?:for|in|during) (?:more than |over )?)", r"not \1 for "),
    Rewording("somebody someone anybody", r"(?:that |which )?(?:somebody|someone|anybody|anyone|people) (?:has |have )?(modified|changed|edited|touched)", r"\1"),
    Rewording("i we", r"(?:that |which )?(?:i|we) (?:have not|haven't|did not|didn't) (modified|changed|edited|touched|modify|change|edit|touch)(?:ed)?", "not modified"),
    Rewording("longer more", r"(?:no|not) (?:longer|more|earlier) than (.{1,20}?) ago", r"less than \1 ago"),
    Rewording("last", r"(?:(?:which|that) (?:were|was|are|have been|has been) )?last (modified|changed|edited|updated|touched) (?=(?:between|in|before|after|on|more|less|over|within|during|since|\d))", r"\1 "),
    Rewording("so", r"so that (?:it|they|their names?|its name) ends? (?:in|with) (\.?\w{1,6})(?=\s*[,.]?\Z)", r"to \1"),
    # What sort of files.
    Rewording("dotfiles dot", r"(?:dotfiles|dot files|dot-files)", "hidden files"),
    Rewording("python php javascript js css html java ruby rust shell perl", r"(python|php|javascript|js|css|html|java|ruby|rust|perl) (?:modules|sources|source code|programs|pages|scripts|source files|program files|sheets)", r"\1 files"),
    Rewording("source sources", r"(?:source files|sources|source code) (?:of|in) (python|php|javascript|java|ruby|rust|perl)", r"\1 files"),
    Rewording("extension extensions", r"(?:that |which )?(?:have|has|with) no (?:file )?extension(?: at all)?", "without extension"),
    Rewording("blank blanks space spaces", r"(?:whose|with a) name (?:has|have|contains|with) no (?:blanks?|spaces?|white ?space)(?: in it)?", "without spaces in name"),
    Rewording("executable execute", r"(?:that |which )?(?:lack|lacks|lacking|without|miss|missing|have no|has no|do not have|don't have) (?:the |an )?(?:executable|execute|execution|x) (?:bit|permission|flag|right)s?", "not executable"),
    Rewording("nothing", r"(?:that |which )?(?:with|have|has|contain|contains|containing|hold|holding) nothing(?: at all)?(?: inside| in (?:it|them)| within)?(?=\s*[,.?]|\Z| (?:in|under|below)\b)", "that are empty"),
    Rewording("something", r"(?:that |which )?(?:with|have|has|contain|hold) (?:something|anything) (?:inside|in (?:it|them)|within)", "that are not empty"),
    Rewording("nowhere nothing dead missing", r"(links|symlinks|symbolic links) (?:that |which |whose )?(?:lead|leading|point|pointing|go|going|target is|targets are|refer|target does not)(?:s)? ?(?:to )?(?:nowhere|nothing|missing|gone|exist|into nowhere)", "broken symbolic links"),
    Rewording("point lead refer", r",? (?:and|with) (?:to )?(?:what|where|whatever) (?:they|it) (?:point|lead|refer|link|points|leads)(?: at| to)?", " with their targets"),
    Rewording("things stuff anything", r"(?:all |any )?(?:the )?(?:things|stuff|anything|items) (?=(?:in|under|below|that|which|bigger|larger|older|newer|smaller|modified|changed|untouched)\b)", "files "),
    Rewording("nothing none", r",? (?:but |and )?(?:nothing|none|no files?|not those|not the ones)(?: that is| that are)? (?:out of|from|in|under|inside|below) ", " not in "),
    Rewording("leave", r",? (?:but |and )?(?:please )?leave (?!the |it |out |a )(WORD(?:/\S*)?) out", r" except \1"),
    Rewording("put", r"where (?:did (?:i|we) (?:put|save|store|leave)|have (?:i|we) put|has .{1,12} gone|did .{1,8} go)", "where is"),
    Rewording("folder directory", r"(in|of|from|under|inside|within) the (size|sizes|age|name|names|time|times|date|dates|type|types|mode|modes|text|number|numbers|owner|old|new|column|columns|link|links|word|words|line|lines) (?:folder|directory)(?! (?:named|called))", r"\1 the folder '\2'"),
    Rewording("with have having set", r"(files|folders|directories|scripts) (?:with|that have|having|set to) (?:exactly |mode |rights )*([0-7]{3,4})(?= |,|\Z)", r"\1 with permissions \2"),
    # Participles and colloquial verbs.
    Rewording("gone cut taken thrown stripped left dropped off away", r"with (?:all )?(?:its |the |any )?(?!\d)([\w ]{3,40}?) (?:gone|cut off|taken out|taken away|thrown out|thrown away|stripped off|stripped|left out|dropped|deleted|removed)", r"without \1"),
    Rewording("minus", r"minus (?:its |the |any )?(?=[a-z]+ ?(?:lines?|comments?|header|column|duplicates|spaces|blanks))", "without "),
    Rewording("throw toss chuck wipe", r"(?:throw|toss|chuck|wipe) (?:out|away|off)(?= )", "delete"),
    Rewording("split", "split up", "split"),
    Rewording("last latest youngest", r"(?:(?:last|latest|most lately) (?:modified|changed|edited|updated|touched|saved)|youngest)(?= (?:\w+ )?(?:files?|folders?|scripts?|ones?|documents?|director(?:y|ies))\b)", "newest"),
    Rewording("doubled redundant identical non", r"(?:doubled|redundant|identical|non-?unique)(?= (?:lines|rows|entries|records|words|names|values|items)\b)", "duplicate"),
    Rewording("individual dissimilar", r"(?:individual|dissimilar)(?= (?:lines|rows|entries|records|words|names|values|items)\b)", "unique"),
    Rewording("vacant void whitespace contentless", r"(?:vacant|void|whitespace[- ]only|contentless)(?= (?:lines?|rows?|ones)\b)", "blank"),
    Rewording("trailing closing initial", r"(?:trailing|closing) (NUM (?:lines|rows|entries|records))", r"last \1"),
    Rewording("having bearing quoting citing referring refer read reading term expression speaking sporting show showing", r"(lines|rows|entries|records|messages)((?: (?:of|in|from) FILE)?) (?:that |which )?(?:having|bearing|quoting|citing|referring to|refer to|read|reading|with the (?:term|expression)|speaking of|sporting|show|showing)(?= (?!(?:an? |the )?(?:extension|size|name|number|digit|more|less|fewer|at|exactly|no|only|over|under|up|NUM)\b))", r"\1\2 containing"),
    Rewording("not don't doesn't have mention no", r"(lines|rows|entries|records|messages) ((?:of|in|from) FILE )?(?:that |which )?(?:do not have|don't have|do not mention|never mention|fail to mention|make no mention of|are free of|do not show|have no|contain no|show no|are missing)(?: the (?:word|text|string))? (WORD)END", r"\1 \2that do not contain \3"),
    Rewording("empty blank zero", r"\A(?:all |the |any )?(?:empty|blank|zero[- ](?:byte|length|sized?)) (files|folders|directories)(?= (?:in|under|of|below|inside|anywhere|here))", r"find empty \1"),
    Rewording("text", r"(?:the |all |all the |whole |plain )*text (?:of|in|from|inside) (FILE)END", r"the content of \1"),
    Rewording("glued pasted put joined merged", r"(FILE) and (FILE) (?:glued|pasted|put|joined|merged)(?: together)? (?:line by line|side by side|next to each other)", r"paste \1 and \2 side by side"),
    Rewording("dropping removing", r",? (?:dropping|removing|skipping|omitting) (?:all |the |any )?(?:duplicates|duplicate lines|doublets|doubles)", " without duplicates"),
    Rewording("everything", r"everything (?=(?:over|above|larger|bigger|smaller|older|newer|under|below|exceeding|modified|changed) (?:than )?\d)", "files "),
    Rewording("doublets doubles repetitions repeats", "(?:doublets|doubles|repetitions|repeats)", "duplicates"),
    Rewording("once", r",? (?:but |and |with )?(?:each|every)(?: one| value| number| line| name| word| message| entry| item| of them)? (?:only |just |listed |shown )?once(?: only)?(?=\s*[,.?]|\Z)", " without duplicates"),
    Rewording("best", r"(?:the )?(NUM) best ([a-z]+) by (?:their |the )?([a-z]+)(?: mark| score| points| grade)?", r"\1 \2 with the highest \3"),
    Rewording("best", "best first", "highest first"),
    Rewording("version", r",? (?:with )?(?:the )?(?:newest|latest|highest) version (?:first|on top|at the top)", " sorted by version in descending order"),
    Rewording("version", r"(?:in order of|by) (?:their |its |the )?version numbers?", "by version"),
    Rewording("version", r"(?:in version order|sorted by version),? (?:oldest|lowest)(?: version| one)? first", "sorted by version"),
    Rewording("calendar", r"put (FILE) (?:in|into) (?:calendar|month) order", r"sort \1 by month"),
    Rewording("has lacks have", r"(?:lines|entries|names|words|items|\w+s) (?:that|which) (FILE) (?:has|contains|lists) (?:and|but) (FILE) (?:has not|does not|doesn't|lacks|has not got)(?: have| contain| list)?", r"lines in \1 but not in \2"),
    Rewording("lacks misses have", r"(?:lines|entries|names|words|items|\w+s) (?:in|of|from) (FILE) (?:that|which) (FILE) (?:lacks|misses|does not have|doesn't have)", r"lines in \1 but not in \2"),
    Rewording("both", r"(?:who|what|which \w+|\w+s) (?:is|are|stand|stands|occur|occurs|appear|appears) (?:on|in) both(?: lists| files)?,? (FILE) and (FILE)", r"lines common to \1 and \2"),
    Rewording("common", r"(?:the )?\w+s (?:in )?common (?:to|in|between|of) (FILE) and (FILE)", r"lines common to \1 and \2"),
    Rewording("diff", r"(?:a |the )?(?:unified )?diff (?:from|between|of) (FILE) (?:to|and|with) (FILE)", r"compare \1 with \2"),
    Rewording("duplicated copied", r"\A(?:the )?(\S+) (?:duplicated|copied) (?:as|to|under the name) (\S+?)(?:,? folder and all)?(?=\Z)", r"copy \1 to \2"),
    Rewording("should gets becomes shall", r"\A(FILE) (?:should be(?: called| named| renamed to)?|gets the name|is to be called|shall be called|becomes|should become) (FILE)(?=\Z)", r"rename \1 to \2"),
    Rewording("copy", r"(?:put|keep|leave|make) a (?:safety|backup|spare|security) copy of (\S+)(?: next to it| beside it| there| alongside)?,? (?:named|called|as) ", r"make a copy of \1 called "),
    Rewording("readable writable executable runnable", r"\A(\S+) (?:should|must|has to|shall) be ((?:readable|writable|writeable|executable|runnable)(?: and \w+able)?) (by|for|to) ", r"make \1 \2 \3 "),
    Rewording("readable writable executable", r"\A(\S+) (?:should|must|may|shall) not be (readable|writable|writeable|executable) (?:by|for|to) (.+?)(?: any ?more| any longer)?(?=\Z)", r"remove \2 permission from \3 on \1"),
    Rewording("everyone everybody", r"(?:everyone|everybody|anyone|anybody) (?:but|except|other than) (?:the |its )?owner", "the group and others"),
    Rewording("answered replied served", r"(?:anything|everything|requests|hits|lines) in (FILE) (?:that |which )?(?:was|were|is|got|are) (?:answered|replied|responded|served) with (?:a |an )?(\d{3})", r"lines in \1 containing ' \2 '"),
    Rewording("often", r"how often did (?:somebody|anyone|someone|anybody|people|users|clients|visitors) get (?:a |an )?(\d{3})(?: error)? (?:in|according to|from) (FILE)", r"count the lines in \2 containing ' \1 '"),
    Rewording("before", r"(?:one|a|1) line before and (?:one|a|1) line after (WORD) in (FILE)", r"1 line before and after \1 in \2"),
    Rewording("breaking break", r",? (?:and )?break(?:ing)? (?:only )?(?:at|between) (?:the )?(?:blanks|spaces|words|word boundaries)(?: only)?", " without breaking words"),
    Rewording("hexadecimal hex binary octal", r"\A(\d+) (?:written |expressed |shown )?(?:in|as) (hexadecimal|hex|binary|octal)", r"convert \1 to \2"),
    Rewording("date", r"\A(?:the )?date (\d+ (?:days?|weeks?|months?|years?)) (after|before) ", r"what date is \1 \2 "),
    # Searching.
    Rewording("hunt track dig fish spot pick root ferret", r"(?:hunt|track|dig|fish|root|ferret)(?: down| out| up)|\b(?:spot|pick out)", "find"),
    Rewording("every all each any", r"find (?:every|all|each|any|all the) ((?-i:TODO|FIXME|XXX|HACK|BUG|NOTE|ERROR|WARN|WARNING|FATAL|INFO|DEBUG))s?(?= (?!\w* ?files?)|,|\Z)", r"search for '\1'"),
    Rewording("file", r"with (?:the )?file(?: name)? and line numbers?", "with line numbers"),
    Rewording("look inside through", r"(?:look|peek|search|grep) (?:inside|into|through|in) (FILE) for (WORD)(?: without (?:unpacking|extracting|decompressing|unzipping) it)?", r"search \1 for \2"),
    Rewording("which mentioned recorded used found noted present contained", r"in which (?:an? |the )?(WORD) (?:is|are|was|were) (?:mentioned|recorded|used|found|noted|present|contained|named|defined|imported|logged)", r"that contain \1"),
    Rewording("talk talks say says speak something", r"(?:that |which )?(?:talks?|says? something|speaks?|have something|has something|say anything) (?:to|about|of|on) (?:the )?(WORD)", r"that mention \1"),
    Rewording("absent missing lacking", r"(?:where|in which) (?:the )?(WORD) is (?:absent|missing|lacking|not found|not present|not mentioned|not there)", r"that do not contain \1"),
    Rewording("having", r"having (?:the word )?(WORD) in (?:them|it)", r"containing \1"),
    Rewording("whatever anything everything", r"(?:whatever|anything|everything|all) (?:in|of|from) (FILE) (?:that )?(contains?|mentions?|matches|starts|begins|ends|has)", r"lines in \1 that \2"),
    Rewording("case", r",? (?:the |upper or lower |upper and lower |lower or upper )?case (?:doesn't|does not|isn't|is not|should not|shouldn't|need not) (?:matter|important|relevant|count)", " ignoring case"),
    Rewording("case", r",? (?:no matter|whatever|regardless of|irrespective of|in whichever|in any) (?:the )?case(?: of (?:the |its |their )?letters)?", " ignoring case"),
    Rewording("numbers number", r",? (?:preceded by|along with|together with|prefixed with|with) (?:their|its|the) (?:line )?numbers?(?=\s*[,.?]|\Z)", " with line numbers"),
    Rewording("part section portion block piece", r"(?:the )?(?:part|section|portion|piece|block) of (FILE) (?:from|between|starting at) (?:the line with )?(WORD) (?:through|to|until|up to|and) (?:the line with )?(WORD)", r"lines of \1 from line with \2 to line with \3"),
    Rewording("commented", r"(?:settings|lines|entries|options) (?:in|of|from) (FILE) (?:that|which) are commented(?: out)?", r"comment lines in \1"),
    Rewording("missing absent lacking", r"(?:lines|entries|items|names|words|\w+s) (?:from|in|of) (FILE) (?:that|which) (?:are|is) (?:missing|absent|lacking|not) (?:in|from) (FILE)", r"lines in \1 but not in \2"),
    Rewording("neither nor", r",? (?:so |that is |that are )?neither comments?(?: lines)? nor (?:empty|blank)(?: ones| lines)?", " that are neither comments nor blank"),
    Rewording("letters characters", r"(?:entries|words|lines) (?:of|with) exactly (NUM) letters", r"lines of exactly \1 characters"),
    # Counts.
    Rewording("longest", r"(?:number|count) of (?:characters|letters) in the longest line", "length of the longest line"),
    Rewording("most", r"which ([\w]+(?: \w+)?) (?:is|was|gets|comes|occurs|appears|has been) (?:(?:requested|visited|used|called|seen|accessed|up|found|named) )?(?:the )?most(?: often| frequently)?", r"most common \1"),
    Rewording("requests hits lines rows entries visits calls records accesses", r"\A(?:the )?(?:number of |count of )?(requests|hits|rows|entries|visits|calls|records|accesses) (?:per|by|for each|for every) ", r"number of \1 per "),
    Rewording("rows lines words", r"\A(?:the )?(?:number of |count of )?(rows|lines|words) (?:per|in each|in every|for each|of each|of every) ", r"count the \1 in each "),
    Rewording("say tell print show", r"for (?:each|every) file (?:in|under|of) (\S+),? (?:say|tell me|print|show) how many lines (?:contain|mention|have) (WORD)", r"count the lines that contain \2 in each file in \1"),
    Rewording("list hold mention name", r"does (FILE) (?:list|hold|mention|name|include)", r"does \1 have"),
    Rewording("says according judging", r",? (?:says|according to|judging by|going by|as per) (FILE)", r" in \1"),
    Rewording("how many", r"how many (?:letters |letter |characters? )([a-z])(?:'s)? (?:are there |are |does |do we have )?(?:in|of) (FILE)(?: have| contain)?", r"count occurrences of '\1' in \2"),
    Rewording("counting", r",? counting (?:several|each|every|multiple)[\w ]*(?:separately|individually|on its own)", ""),
    Rewording("figure number", r",? (?:just |only )?(?:one|a single) (?:figure|number|total)(?: only)?(?=\s*[.?]?\Z)", " in total"),
    Rewording("how", r",? and how often(?=\s*[.?]?\Z)", ""),
    Rewording("txt csv log tsv conf ini json md py sh yaml yml xml html sql dat bib", r"\A(FILE)\s*[:,]\s+(?!.*FILE)(.+)", _fronted),
)  # fmt: skip
