"""Wordings about files and folders that are put into the words that rules know: wishes, room that is taken, names, endings, copies, links."""

from __future__ import annotations

import re

from agent.planner.offline.grammar.rewording import Rewording

_SIGN = {"underscores": "_", "dots": ".", "dashes": "-"}
_DIGITS = {"one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "eight": "8", "ten": "10", "twelve": "12"}  # fmt: skip
_EXT = r"(?:mp3|ogg|wav|flac|css|js|ts|html?|xml|json|ya?ml|toml|csv|tsv|txt|text|md|markdown|pdf|png|jpe?g|gif|svg|webp|mp4|mkv|avi|log|conf|ini|sh|py|rb|php|c|h|cpp|java|go|rs|sql|docx?|xlsx?|odt|zip|gz|tar)"
_COUNTED = r"(?:two|three|four|five|six|seven|eight|nine|ten|\d{1,2})"
_MADE = r"(?:(?:new |empty |symbolic |soft |hard |compressed |gzipped |backup |zip |tar )*(?:folders?|director(?:y|ies)|files?|links?|symlinks?|shortcuts?|tarballs?|archives?|zip|tar|backups?))"
_WISH = r"\A(?:(?:so|well|ok|okay|hi|hey|hello|now),? )*(?:i|we)(?:'d| would| really| just| only| do)* (?:want|need|like|love)"
_SOME = r"(?:(?:all|every|each|any|both|the|my|of) )*"
_TAKES = r"(?:take up|takes up|taking up|takes|take|use up|uses up|uses|use|occupy|occupies|need|needs|eat up|eats up|eat|eats|consume|consumes|fill|fills|cost|weigh|weighs)"
_ROOM = r"(?:disk space|disk room|disk|space|room|storage|place)"
_TOGETHER = r"(?:together|in total|altogether|combined|in all|all together|in sum|all in all|as a whole|overall)"
_FILES = (
    r"(?:all |the |all the |my |of the )*(?:\*?\.?[\w+]+ files|\*\.\w+|\w+s|files)(?: (?:in|under|below|of) [\w./-]+)?"
)


_ABOUT_FILES = re.compile(
    r"\b(?:files?|folders?|director(?:y|ies)|documents?|links?|pictures?|videos?|scripts?)\b", re.I
)


def _every_ending(found: re.Match[str]) -> str:
    """ "every .jpeg" is every file that ends so."""
    return f"all .{found['a'].lstrip('*.')} files"


# Read before all others, which would take a part of them for something else.
FIRST: tuple[Rewording, ...] = (
    Rewording("leave leaving keep keeping", r"\A((?:compress|squeeze|shrink|pack|gzip|xz|bzip2) \S+(?: with \w+)?),? (?:but|and) (?:leav(?:e|ing)|keep(?:ing)?) the original(?: alone| untouched| unchanged| there)?(?=\Z)", r"\1 keeping the original"),
    Rewording("squeeze shrink", r"\A(?:squeeze|shrink) (\S+) with (gzip|xz|bzip2)", r"compress \1 with \2"),
    Rewording("included too more longer", r"((?:by|for|to) (?:anyone|anybody|everyone|everybody))(?: any ?more| any longer)?(?:,? (?:me|myself|the owner|us) (?:included|too))?(?=\Z)", r"\1"),
    Rewording("written modified changed edited", r"\b(move|copy|delete|list|find|show) (?:what|whatever|everything that|all that|anything that) (?:was|is|has been|were) (?:written|modified|changed|edited|touched) ", r"\1 files modified "),
    Rewording("gone deleted removed go away", r"\A(?:the |all |all the |any |every )?((?:[\w.*-]+ )?(?:files?|folders?|director(?:y|ies)|links?)(?: (?:in|under|below|from|of) \S+)?(?: that are empty)?) (?:(?:can|should|must|are to|is to|have to|has to|shall|ought to|need to) (?:all )?(?:be (?:deleted|removed|erased|gone|thrown away)|go(?: away)?)|be gone|gone|out)(?=\Z)", r"delete all \1"),
    Rewording("before after since until", r"\b(modified|changed|edited|written|touched|created) (before|after|since|until) (?:the year )?((?:19|20)\d\d)(?![\w./-])(?!-\d)", lambda found: f"{found[1]} since {int(found[3]) + 1}-01-01" if found[2].lower() == "after" else f"{found[1]} {found[2]} {found[3]}-01-01"),
    Rewording("wherever", r",? wherever (?:it|they) (?:lies?|lives?|sits?|is|are)(?: located)?,?", ""),
    Rewording("file tidy", r"\A(?:file|tidy|stow|put) away ", "move "),
    Rewording("both", r"\bboth (?=(?:\w+ )?(?:files|folders|pdfs|logs|images|photos|scripts|archives)\b)", "all "),
    Rewording("duplicated copied cloned", r"\A(?:the |folder )?(\S+) (?:duplicated|copied|cloned) (?:as|to|into) (\S+?)(?:,? (?:folder and all|with everything in it|completely|recursively))?(?=\Z)", r"copy \1 to \2"),
    Rewording("nothing", r"\A(?:cut|shrink|bring|truncate|reduce) (FILE) (?:down )?to (?:nothing|zero(?: bytes)?|no content)(?=\Z)", r"empty \1"),
    Rewording("ending extension suffix", r"\A(?:change|switch|turn) the (?:ending|extension|suffix) of (FILE) (?:in)?to \.?(\w{1,8})(?=\Z)", lambda found: f"rename {found[1]} to {found[1].rpartition('.')[0]}.{found[2]}"),
    Rewording("copied kept", r"\A(?:the )?(?:folder |release )?(\S+) copied to (\S+),? (?:with )?(?:the )?(?:times|dates) (?:of the files )?kept(?=\Z)", r"copy \1 to \2 preserving the times"),
)  # fmt: skip
ROWS: tuple[Rewording, ...] = (
    # Wishes: what is made, or what is to be seen.
    Rewording("want need like love", rf"{_WISH} (?:to have )?(?:a|the|another) copy of (\S+) (?:in|inside|at|under)(?: the)?(?: folder| directory)? ", r"copy \1 to "),
    Rewording("want need like love", rf"{_WISH} (?:to have )?(?=(?:an?|another|{_COUNTED}) {_MADE}\b)", "make "),
    Rewording("want need like love", rf"{_WISH} (?:to see|to have|to get|to know|to look at|you to show me|you to list) ", "show "),
    Rewording("want need like love", rf"{_WISH} (?=(?:the|all|every|only|just|my|those|to know)\b)", "show "),
    Rewording("let", r"\Alet me (?:see|have|look at|know) ", "show "),
    Rewording("looking searching", r"\A(?:i'm|i am|we are|we're) (?:looking|searching|hunting) for ", "find "),
    Rewording("make create touch add", rf"\A(make|create|touch|add) (?:the )?{_COUNTED} (?:empty |new |more )*(files|folders|directories)(?: called| named)?:? (?=[\w.'\x01])", r"\1 the \2 "),
    # Room that is taken.
    Rewording("much", rf"how much {_ROOM} (?:is|are) (?:used|taken|taken up|occupied|needed|eaten|eaten up|consumed|used up) by ({_FILES})(?: {_TOGETHER})?(?=\s*\??\Z)", r"total size of \1"),
    Rewording("much", rf"how much {_ROOM} (?:does|do|is) (?:the |my )?(?:folder |directory |file )?([\w./~-]+)(?: folder| directory)? {_TAKES}(?: {_TOGETHER})?", r"how big is \1"),
    Rewording("much", rf"how much {_ROOM} (?:does|do) ({_FILES}) {_TAKES}(?: {_TOGETHER})?(?=\s*\??\Z)", r"total size of \1"),
    Rewording("much large big heavy", rf"how (?:large|big|heavy) (?:are|is) ({_FILES}) {_TOGETHER}(?=\s*\??\Z)", r"total size of \1"),
    Rewording("sizes size bytes", rf"\A(?:the )?(?:sum of (?:the |all )*(?:file )?sizes|combined size|added sizes|summed size|overall size|bytes) (?:of|in) ({_FILES}|[\w./-]+)(?: {_TOGETHER})?(?:,? in bytes)?(?:,? regular files only)?(?=\s*\??\Z)", r"total size of files in \1 in bytes"),
    # Names.
    Rewording("put write dump collect gather", rf"\A(?:put|write|dump|collect|gather) (?:the |a list of (?:the )?)?names of ({_FILES}) (?:in)?to (?:the |a )?(?:file )?", r"save the names of \1 to "),
    Rewording("rename", r"\Arename (?:every|all|each|all the|any)(?: of the)? (?P<a>\*?\.\w{1,8})(?: files?)? (?:to|into|as) ", lambda found: f"rename {_every_ending(found)} to "),
    Rewording("rename change turn switch", r"\A(?:rename|change|turn|switch) (?:the )?(?:extension|ending|suffix)s? (?:of|from|on) (?:every|all|each|all the) (?P<a>\*?\.?\w{1,8})(?: files?)? (?:to|into|as) ", lambda found: f"rename {_every_ending(found)} to "),
    Rewording("should become must", r"\A(?:every|all|each|all the|the) (?P<a>\*?\.\w{1,8})(?: files?)? (?:should|must|shall) (?:become|be(?: renamed to| called| named)?|end in|end with) (?=\*?\.?\w{1,8}\Z)", lambda found: f"rename {_every_ending(found)} to "),
    Rewording("prefix", rf"\A(?:give|provide|add to) (?:the names of )?({_FILES}) (?:a|the) prefix (\S+?)(?=\Z)", r"add the prefix \2 to the names of \1"),
    Rewording("prefix", rf"\Aprefix (?:the )?names of ({_FILES}) with (?:the )?(?:text |word )?(\S+?)(?=\Z)", r"add the prefix \2 to the names of \1"),
    Rewording("front before", rf"\A(?:put|add|write|place) (\S+) (?:in front of|before|at the (?:start|beginning) of) (?:the |all |every )*(?:file ?)?names? of ({_FILES})(?=\Z)", r"add the prefix \1 to the names of \2"),
    Rewording("begin start", rf"\A(?:let |make )?(?:the )?names of ({_FILES}) (?:should )?(?:begin|start) with (\S+?)(?=\Z)", r"add the prefix \2 to the names of \1"),
    Rewording("blanks spaces blank space becomes become underscores underscore dashes dash", rf"\A(?:every|each|all) (?:blanks?|spaces?) in (?:the )?names? of ({_FILES}) (?:becomes?|should become|should be|is to be) (?:an? )?(underscore|dash|hyphen)s?(?=\Z)", lambda found: f"replace spaces with {found[2]}s in the names of {_in_folder(found[1])}"),
    Rewording("blanks spaces", r"\A(?:replace|change|turn|convert) (?:the |all |all the )?(?:blanks|spaces) (?:with|to|into|by) (underscores|dashes|hyphens|underscore|dash) in (?:all |the |all the |every )?(?:file ?)?names?(?: here)?(?=\Z)", r"replace spaces with \1 in the names of all files"),
    # Everything in a folder.
    Rewording("mp3s mp4s jpgs jpegs pngs gifs svgs pdfs txts csvs tsvs jsons xmls htmls yamls zips mkvs avis wavs oggs flacs webps docxs xlsxs odts mp3 mp4 jpg jpeg png gif svg pdf txt csv tsv json xml html yaml zip mkv avi wav ogg flac webp docx xlsx odt mp", r"(?<![\w.*])(mp3|mp4|jpg|jpeg|png|gif|svg|pdf|txt|csv|tsv|json|xml|html|yaml|zip|mkv|avi|wav|ogg|flac|webp|docx|xlsx|odt)s(?! (?:files?|documents?)\b)", r"\1 files"),
    Rewording("mp3s mp4s jpgs jpegs pngs gifs svgs pdfs txts csvs tsvs jsons xmls htmls yamls zips mkvs avis wavs oggs flacs webps docxs xlsxs odts mp3 mp4 jpg jpeg png gif svg pdf txt csv tsv json xml html yaml zip mkv avi wav ogg flac webp docx xlsx odt mp", r"(?:every|each|any) (mp3|mp4|jpg|jpeg|png|gif|svg|pdf|txt|csv|tsv|json|xml|html|yaml|zip|mkv|avi|wav|ogg|flac|webp|docx|xlsx|odt)(?= (?:in|under|below|from|of|into|to|that|which|larger|smaller|bigger|older|newer)\b|[,;?.]|\Z)", r"all \1 files"),
    Rewording("put move copy", r"\A(put|move|copy) ((?:all |the |all the |both |every |each )(?:[\w.*]+ )?[\w.*]+s?(?: files?)?(?: (?:in|from|of|under) [\w./-]+)?) in(?:to)? (?:a|the) (?:new |fresh )?(folder|directory) (called|named) ", lambda found: f"{'move' if found[1].lower() == 'put' else found[1]} {found[2]} into a new {found[3]} {found[4]} "),
    Rewording("did have", r"\A(?:which|what) (files|folders|scripts|documents) (?:did|have) (?:i|we) (?:edit|edited|change|changed|modify|modified|touch|touched|work on|worked on) ", r"\1 modified "),
    Rewording("modified changed edited touched", r"(?:the )?(?:last|most recently|latest) (?:modified|changed|edited|touched) (file|folder|directory|script|document)s?(?! (?:name|date))", r"the newest \1"),
    Rewording("next beside", r" (?:next to|beside|alongside|right next to) (?:it|itself|the original),?(?= (?:as|called|named) )", ""),
    Rewording("rename", r"\Arename (FILE) so that (?:it|its name) is (?:called |named )?(\S+)(?=\Z)", r"rename \1 to \2"),
    Rewording("disk machine computer drive system filesystem", r"\b((?:files|folders|directories|things|images|videos|logs|anything|everything)\b.{0,60}?) (?:anywhere |somewhere )?on (?:this|the|my) (?:whole |entire )?(?:disk|drive|hard disk|hard drive|machine|computer|file ?system)(?=\s*[,.?]|\Z)", r"\1 on the whole disk"),
    # Noun phrases.
    Rewording("but yet", r",? (?:but|yet) (?:also |at the same time )?(?:were |was |are |is )?(changed|modified|edited|touched)(?= (?:within|in|during|less|more|since|after|before))", r" and \1"),
    Rewording("untouched modified changed", r"(\d+) days (.*\b(?:within|in) the (?:last|past) \d+)(?=\s*[,.?]|\Z)", r"\1 days \2 days"),
    Rewording("every all", r"\A(?:every|all the|all|each of the) (file|folder|directory) (below|under|in|inside) ", r"find all \1s \2 "),
    Rewording("no number", r"\A(?:no\.|nr\.?|num\.?|no) of (?=(?:all |the )?(?:\w+ )?(?:files|dirs|directories|folders|lines|words|links))", "number of "),
    Rewording("w", r"(?:w/|w/ ) ?(?=\w)", "with "),
    Rewording("touched touch", r"(?:that |which )?(?:were|was|are|got|have been|has been) touched", "modified"),
    Rewording("touched", r"(files|folders|anything|everything|scripts|documents) touched", r"\1 modified"),
    Rewording("changed modified edited written", r"(?:were|was|are|is|has been|have been) last (changed|modified|edited) (?=between|before|after|since|on|in|during|more|less|within)", r"\1 "),
    Rewording("untouched unchanged", r"(?:untouched|unchanged|unmodified) (?:for|since|in) (?:more than |over |at least )?(?=\d+|a |an |one |two |three |four |five |six |ten )", "not modified for "),
    Rewording("week weeks month months", r"(?:for|in|within) (?:more than |over )?(one|two|three|four|five|six|eight|ten|twelve) (days|weeks|months|years)", lambda found: found[0].replace(found[1], _DIGITS[found[1].lower()])),
    Rewording("jpgs pngs pdfs mp txts csvs logs scripts svgs gifs jsons xmls htmls yamls zips", r"(?:all |the |any )?(?:songs|pictures|photos|images|documents|papers|tables),? (?:meaning|i\.e\.|that is|namely) (?:all |the )?(?=\w+s\b|\*?\.\w+ files)", "all "),
    Rewording("ending", r"(?:whatever|regardless of|ignoring|no matter) the case of (?:their|its|the) \.?(\w{1,5}) (?:ending|extension|suffix)", r"ending in .\1 ignoring case"),
    Rewording("minified", r"(?:but |and |with )?(?:no|not|without|except)(?: any| the)? minified (?:ones|files|versions)", "except '*.min.*'"),
    Rewording("underscores underscore dots dot dash dashes", r"(starting|beginning|ending|starts|begins|ends) with (two|three) (underscores|dots|dashes)", lambda found: f"{found[1]} with '{_SIGN[found[3].lower()] * (2 if found[2].lower() == 'two' else 3)}'"),
    Rewording("underscore dash dot", r"(starting|beginning|ending|starts|begins|ends) with (?:an? |one )(underscore|dash)", lambda found: f"{found[1]} with '{_SIGN[found[2].lower() + ('es' if found[2].lower() == 'dash' else 's')]}'"),
    Rewording("gone missing vanished exists exist", r"(links|symlinks|symbolic links)((?: (?:in|under|below|of) [\w./-]+)?) (?:whose|with a|of which the) target (?:is|was|has)? ?(?:gone|missing|vanished|deleted|no longer (?:exists|there)|does not exist|doesn't exist|not there)(?: any ?more)?", r"broken symbolic links\2"),
    Rewording("anybody anyone everybody everyone others", r"(?:that |which )?(?:may )?(?:anybody|anyone|everybody|everyone|others|all users|other users) (?:can|may|could|is allowed to|are allowed to|is able to|are able to) (read|write)(?: to)?", lambda found: "readable by others" if found[1].lower() == "read" else "writable by others"),
    Rewording("may can", r"(files|folders|directories|scripts)((?: (?:in|under|below) \S+)?) (?:may|can) (?:anybody|anyone|everybody|everyone|others) (read|write)(?: to)?", lambda found: f"{found[1]}{found[2]} {'readable' if found[3].lower() == 'read' else 'writable'} by others"),
    # Kinds that are only listed, sizes by a sign, and what a remark says more plainly.
    Rewording("mp3 ogg wav flac css js ts html xml json yaml yml toml csv tsv txt md pdf png jpg jpeg gif svg webp mp4 mkv avi log conf ini sh py rb php c h cpp java go rs sql doc docx xls xlsx odt zip gz tar markdown text", rf"(?:\A|(?<=\ball )|(?<=\bthe )|(?<=\bfind )|(?<=\blist )|(?<=\bshow ))(?:plain )?({_EXT})((?:, (?:plain )?{_EXT})*),? (?:or|and|&) (?:plain )?({_EXT})(?: documents| files)?(?=[,;?.]|\Z| (?:but|except|in|under|below|whose|without|with|that|which|larger|bigger|older|newer|smaller|modified|changed)\b)", lambda found: f"{found[1]}{found[2]} and {found[3]} files".replace("plain ", "")),
    Rewording("png jpeg jpg gif svg css js html", rf"\A(?:all |the )?(?:pictures|images|photos|files|documents)(?: of any (?:format|kind|type|sort))? (in|under|below) ([\w./-]+)\s*[:,] ({_EXT}(?:, {_EXT})*,? (?:or|and) {_EXT})(?=[,;?. ]|\Z)", r"\3 files \1 \2"),
    Rewording("kb mb gb kib mib gib k m g bytes", r"(?<=\s)>=? ?(?=\d+(?:\.\d+)? ?(?:kb|mb|gb|kib|mib|gib|k|m|g|bytes)(?![\w.]))", "larger than "),
    Rewording("kb mb gb kib mib gib k m g bytes", r"(?<=\s)<=? ?(?=\d+(?:\.\d+)? ?(?:kb|mb|gb|kib|mib|gib|k|m|g|bytes)(?![\w.]))", "smaller than "),
    Rewording("anything everything something", r"\A(?:anything|everything|something) (?=(?:larger|smaller|bigger|older|newer|heavier|modified|changed) )", "files "),
    Rewording("ending end ends", r"\A(?:all |the )?[\w ]{3,40}? (under|in|below) ([\w./-]+),? (?:i\.e\.|meaning|namely|that is|which means) (?:everything|all files|all|anything|whatever) ((?:ending|that ends|starting|that starts) (?:in|with) \S+)", r"files \1 \2 \3"),
    Rewording("before front", r"(sizes?(?: in bytes)?|dates?|times?|modes?|owners?) (?:before|in front of) (?:the |their |its |each )?(?:paths?|names?|file ?names?)", r"\1"),
    Rewording("number", r"(?:total|sum) (number of (?:regular |normal |ordinary )?(?:files|folders|directories|subfolders|links))", r"\1"),
    Rewording("folders directories", r"\A((?:the |all |all the )?(?:sub)?(?:folders|directories)(?: here| in \S+)?),? (?:but |and )?(?:without|not|no) (?:the |any )?files(?=\s*\Z)", r"list \1"),
    Rewording("line", r"\Aone line (?:per|for each|for every) (?:\w+ )?(?:sub)?(?:folder|directory) (?:in|of|under) (\S+),? with (?:the )?number of files in (?:it|them)(?=\Z)", r"number of files in each subfolder of \1"),
    Rewording("change changed modify modified edit edited touch", r"\A(?:what|which file) (?:did (?:i|we)|was|has been) (?:change|changed|modify|modified|edit|edited|touch|touched) last (?:in|inside of|inside|under|below) ([\w./-]+)(?:[?,;:] .*(?:newest|latest|one) (?:file|one))?(?=\s*\??\Z)", r"the newest file in \1"),
    Rewording("week", r"\b(modified|changed|edited|touched|updated|written) (?:some time |at some time )?this week", r"\1 in the last 7 days"),
    Rewording("month", r"\b(modified|changed|edited|touched|updated|written) this month", r"\1 in the last 30 days"),
    Rewording("total combined", r"their (?:total|combined) number of (lines|words|bytes)", r"the total number of \1 in them"),
)  # fmt: skip


def _in_folder(said: str) -> str:
    """ "the letters" may be a folder: its files."""
    return (
        said if re.search(r"(?i)files|\*", said) else f"all files in {re.sub(r'(?i)^(?:all |the |my |of )+', '', said)}"
    )
