"""Phrases of the grammar for files and folders: what they are, which of them are meant, and where they are.

A table maps a meaning to patterns, parted by " / ". `a|b` is either word, `x?` may be left out, UPPER names a slot.
`test GROUP TEXT` adds a find test; `{SLOT.form}` in it is the value of a slot.
"""

from __future__ import annotations

NOUNS = {
    "noun file": "file / regular file / normal|plain|ordinary file", "noun dir": "dir",
    "noun subdir": "subdir / sub dir / child dir",
    "noun both": "file and|or dir|subdir / dir|subdir and|or file / file and|or dir|subdir / entry in|under|of dir / file and|or file|dir name",
    "noun link": "link / symbolic|soft|sym link / symbolic|soft|sym link file",
    "noun broken": "broken|dead|dangling link / broken|dead|dangling symbolic|soft link / link broken|dangling",
    "noun line": "line / line of text", "noun word": "word", "noun char": "char", "noun byte": "byte",
    "noun name": "name / file|dir|subdir name / base name",
    "noun content": "content / text content / content of", "noun size": "size / file|dir size / size in byte",
    "noun socket": "socket / socket file", "noun pipe": "named pipe / fifo", "noun script": "script",
    "noun entry": "entry", "noun extension": "extension", "noun number": "number|numbers|digit|value",
}  # fmt: skip

NAMES = {
    "name exact": "named NAME or|and NAME2 / named either? NAME or NAME2 / named NAME NAME2 or NAME3 / whose? name NAME or NAME2 / named NAME / named exactly? NAME / with|have name NAME / whose name NAME / name equal to? NAME / name matching? exactly NAME"
    " / with|have exact name NAME / called NAME / with|have base name NAME",
    "name glob": "match pattern|glob|wildcard? GLOB / whose? name match pattern|glob? GLOB / named like? GLOB / with|have name like|match GLOB / of form GLOB",
    "name start": "whose? name startingwith NAME or NAME2 / startingwith NAME or NAME2 / whose? name startingwith either? NAME or NAME2 / whose? name startingwith NAME / with|have name startingwith NAME / with|have prefix NAME / prefixed with NAME"
    " / startingwith letter|char|text|word? NAME / whose? name startingwith letter|char|text|word|prefix? NAME / whose? name prefix NAME",
    "name end": "whose? name endingwith NAME or|and NAME2 / endingwith either? NAME or|and NAME2 / endingwith NAME NAME2 or|and NAME3 / whose? name endingwith NAME / with|have name endingwith NAME / endingwith letter|char|text|word? NAME"
    " / whose? name endingwith letter|char|text|word|extension? NAME / endingwith extension? NAME",
    "name both": "startingwith NAME and endingwith NAME2 / name startingwith NAME and endingwith NAME2 / startingwith NAME endingwith NAME2",
    "name contain": "whose? name contain either? NAME or NAME2 / with NAME or NAME2 in name / whose? name contain|have text|word|char|letter? NAME / with|have|contain text|word|char? NAME in name"
    " / with|have name contain text|word|char? NAME / contain text|word? NAME in file name / name with|have NAME / contain NAME as part of name",
    "name ext": "with|have extension|suffix EXT or|and EXT2 / with|have either? EXT or|and EXT2 extension / with|have extension EXT EXT2 or|and EXT3 / with EXT or EXT2 extension / whose? extension EXT or EXT2 / with|have extension|suffix EXT / with|have EXT extension|suffix / whose? extension EXT / of type EXT / EXT extension"
    " / endingwith extension EXT / with|have file extension EXT / with|have EXT file extension / of extension EXT / of EXT type|format"
    " / whose name have extension EXT / with EXT in extension",
    "name digit": "whose? name contain|have number|digit / with|have digit|number in name / with|have name contain number|digit"
    " / contain number|digit in name",
    "name digits": "whose? name contain|have only digit|number / whose name entirely digit|number / named with only digit",
    "name onlyupper": "in uppercase only / have name in uppercase only? / whose? name in? uppercase only / with|have only uppercase char in name",
    "name startdigit": "whose? name startingwith number|digit / startingwith number|digit / with|have name startingwith number|digit",
    "name enddigit": "whose? name endingwith number|digit / endingwith number|digit / with|have name endingwith number|digit",
    "name space": "whose? name contain|have space|whitespace / with|have space|whitespace in name / with|have name contain space",
    "name upper": "whose? name startingwith uppercase char? / startingwith uppercase char?",
    "name lower": "whose? name startingwith lowercase char? / startingwith lowercase char?",
    "name hasupper": "whose? name contain|have uppercase char? / with|have uppercase char in name",
    "name vowel": "whose? name startingwith vowel / startingwith vowel",
    "name noext": "without extension / with|have no|not extension / except extension / not have extension / lack extension",
    "name length": "whose? name NUM char long / with|have name of? length? NUM char / with NUM char name / with|have name of exactly? NUM char",
    "name longer": "whose? name longer|larger than? NUM char / with|have name longer|larger than? NUM char",
    "name regex": "whose? name match regex|regular text? QUOTED / whose path match regex|regular text? QUOTED / match regex QUOTED / match regular text QUOTED",
    "notname exact": "not named NAME / except named NAME / except file named NAME / except file NAME / other than NAME / name not NAME / except for? NAME",
    "notname start": "not startingwith NAME / name not startingwith NAME / except startingwith NAME / except name? startingwith NAME / except file startingwith NAME",
    "notname end": "not endingwith NAME / name not endingwith NAME / except name? endingwith NAME / except file endingwith NAME",
    "notname contain": "name lack|not contain? text|word? NAME / not contain NAME in name / lack NAME in name / except NAME in name / name not contain NAME",
    "notname ext": "not have EXT extension / without|except EXT extension / except file? with? EXT extension / not EXT file / except EXT file / not with EXT extension"
    " / with? extension other than EXT / without|except extension EXT / not have extension EXT / not of type EXT",
    "hidden yes": "hidden / startingwith dot / startingwith period",
    "hidden too": "and|including? hidden file|one|dir? too|also / including hidden file|one|dir? / hidden one|file too|also|included / as well as hidden file|one? / contain hidden file|one|dir? / and hidden file|one? / even hidden file|one?",
    "hidden no": "not hidden / except hidden file|dir|one? / nonhidden / non-hidden / visible / no hidden file|dir|one?",
}

TESTS = {
    "nocase name": "ignore|ignoring case|caseinsensitive / caseinsensitive / case-insensitive / case-insensitively / regardless of case"
    " / irrespective of case / in any case / uppercase or|and lowercase treat? alike|same? / any case / whatever case / except case",
    "test size -size {SIZE.over}": "larger SIZE / larger than SIZE / with? size larger than? SIZE / size over|exceeding SIZE / of? size larger SIZE"
    " / over|exceeding SIZE / at? least SIZE / atleast SIZE / of at? least SIZE / larger than SIZE in size / larger SIZE in size / with|of? size of? atleast SIZE"
    " / SIZE or larger|more / whose size larger than? SIZE / take up? larger SIZE / longer than SIZE",
    "test size -size {SIZE.under}": "smaller SIZE / smaller than SIZE / with? size smaller than? SIZE / under|below SIZE / at? most SIZE"
    " / atmost SIZE / smaller than SIZE in size / smaller SIZE in size / with|of? size under|below|atmost SIZE / SIZE or smaller / whose size smaller than? SIZE / up to SIZE",
    "exactsize": "with|of? size of? SIZE / exactly? SIZE in size / exactly SIZE / size equal to? SIZE / whose size SIZE / SIZE in size / SIZE large|big|long / with|of size exactly SIZE",
    "test size -size {SIZE.over} -size {SIZE2.under}": "between SIZE and SIZE2 / with|of? size between SIZE and SIZE2 / from SIZE to SIZE2 / between SIZE and SIZE2 in size"
    " / larger than? SIZE and|but smaller than? SIZE2 / larger SIZE and|but smaller SIZE2 / from? SIZE to SIZE2 in size / range? from? SIZE to SIZE2",
    "test time {AGE.within}": "modified in|within|during? last|past|previous AGE / in|within|during? last|past|previous AGE / smaller AGE ago"
    " / modified smaller than? AGE ago / modified within|in AGE / newer|younger than AGE / smaller AGE old / modified|create in|within|during last|past AGE"
    " / create in|within|during? last|past AGE / create smaller than? AGE ago / in|within last AGE / changed in|within? last|past AGE / modified AGE ago or smaller|later",
    "test time {AGE.beyond}": "older than AGE / modified larger than? AGE ago / larger AGE ago / larger AGE old / modified larger AGE ago / not modified in|for|within|during? last|past? AGE"
    " / unchanged in|for|within|during? last|past? AGE / create larger than? AGE ago / modified|create over|atleast AGE ago / untouched for|in last|past? AGE / larger than AGE ago / larger than AGE old / before last|past AGE",
    "exactage": "modified exactly? AGE ago / create exactly? AGE ago / exactly AGE ago / exactly? AGE old",
    "test time {AGE.used}": "accessed in|within|during? last|past|previous? AGE / read in|within|during? last|past|previous AGE / accessed smaller than? AGE ago / used in|within|during? last|past AGE",
    "test time {AGE.unused}": "unaccessed in|for|within|since? last|past? AGE / not accessed|used in|for|within|since? last|past? AGE / accessed larger than? AGE ago / last accessed larger than? AGE ago",
    "test time -newermt {DATE}": "modified since|after DATE / newer than DATE / since DATE / create since|after DATE / after DATE",
    "test time -not -newermt {DATE}": "modified before|until DATE / older than DATE / create before DATE / before DATE",
    "test time -newermt {DATE} -not -newermt {DATE.next}": "modified on? DATE / create on? DATE / from DATE",
    "test time -newermt {DATE} -not -newermt {DATE2.next}": "modified|create? between DATE and DATE2 / modified|create from DATE to DATE2",
    "test time -newer {FILE}": "newer than file? FILE / modified after|since file? FILE / more recent than FILE / modified more recently than file? FILE / modified later than FILE / modified recently than FILE / newer than modification time of FILE",
    "test time -not -newer {FILE}": "older than file? FILE / modified before file? FILE",
    "test owner -user {USER}": "ownedby user? USER / owner USER / with owner USER / whose owner USER / of user USER / owned|belong by|to user? USER / ownedby USER user",
    "test owner -not -user {USER}": "notownedby user? USER / not ownedby user? USER / not owned|belong by|to user? USER / not belong to user? USER / except ownedby user? USER",
    'test owner -user "$(id -un)"': "ownedby me|current? user? / ownedby current user / mine / belong to me|current user? / ownedby user running",
    "test group -group {USER}": "ownedby group USER / belong to group USER / of group USER / ownedby USER group / with group USER / group USER / whose group USER / with group owner USER / ownedby to? USER group",
    "test group -not -group {USER}": "not ownedby group USER / notownedby group USER / not of group USER",
    "test owner -nouser": "without owner / ownedby no one|user / orphaned / not ownedby any user / with no owner / no owner",
    "test mode -perm {PERM}": "with|have permission PERM / permission PERM / with|have permission of? PERM / whose permission PERM / with|have PERM permission"
    " / with|have permission set? to PERM / permission set to PERM / with|have exact? permission PERM / whose permission set to PERM / PERM permission / with|have file permission PERM / permission equal to? PERM / with|have exactly PERM permission / chmod PERM",
    "test mode -not -perm {PERM}": "not have permission PERM / without|except permission PERM / not have PERM permission / whose permission not PERM / permission not PERM / not with permission PERM / except PERM permission / permission other than PERM / permission not set? to PERM",
    "test mode -perm -{PERM}": "with|have atleast permission PERM / with|have atleast PERM permission / with all bit of PERM set",
    "test mode -perm /{PERM}": "with|have any of permission PERM / with|have any of? bit of? PERM set?",
    "test mode -executable": "executable / can be executed / with|have execute|executable permission / you|i can execute",
    "test mode -not -executable": "except executable file|one? / not executable / nonexecutable / non-executable / without execute|executable permission / not have execute|executable permission",
    "test mode -perm -u=x": "executable by owner|user / with|have owner|user execute permission / owner can execute",
    "test mode -perm -g=x": "executable by group / group can execute",
    "test mode -perm -o=x": "executable by others|other|everyone|anyone|world / world executable",
    "test mode -perm /a=x": "executable by someone|anybody / with any execute bit set / with|have execute bit set",
    "test mode -perm /022": "writable by group or by? others|other|everyone|world / group or world writable / writable by group or others",
    "test mode -perm -a=x": "executable by all|everybody user?",
    "test mode -perm -u=r": "readable by owner / with read permission for owner",
    "test mode -perm -g=r": "readable by group",
    "test mode -perm -o=r": "readable by others|other|everyone|anyone|world|everybody / world readable / world-readable",
    "test mode -not -perm -o=r": "not readable by others|other|everyone|anyone|world|everybody / not world readable",
    "test mode -perm -u=w": "writable by owner / with write permission for owner",
    "test mode -perm -g=w": "writable by group / group writable / group-writable",
    "test mode -perm -o=w": "writable by others|other|everyone|anyone|world|everybody / world writable / world-writable / others can write to? / anybody|anyone|everybody|everyone may|can write to?",
    "test mode -not -perm -u=w": "not writable by owner",
    "test mode -readable": "readable",
    "test mode -writable": "writable",
    "test mode -not -readable": "except readable file|one? / not readable / unreadable",
    "test mode -not -writable": "except writable file|one? / not writable / unwritable / readonly / read-only / read only",
    "test mode -perm -4000": "setuid / suid / with|have setuid|suid bit set? / set uid / setuid|suid bit set",
    "test mode -perm -2000": "setgid / sgid / with|have setgid|sgid bit set? / setgid|sgid bit set",
    "test mode -perm -1000": "sticky / with|have sticky bit set? / sticky bit set",
    "test name -not -name '* *'": "whose? name lack space|whitespace|blank / without|except space|whitespace|blank in their? name / name without|except space|whitespace|blank",
    "test empty -empty": "empty / zero size|length|byte / with|have zero size|length|byte / zero-length / zero-byte / of zero size|length / of size zero|0 / contain nothing / with no|not content / contain no file / with|have no content / size of? zero|0 byte?",
    "test empty -not -empty": "nonempty / not empty / non-empty / have content / except empty one|file|dir?",
    "test links -links +{NUM}": "with|have larger than? NUM hard? link / larger NUM hard? link",
    "test links -links {NUM}": "with|have exactly? NUM hard link",
    "test links -samefile {FILE}": "same inode as FILE / hard link to|of FILE / hardlink|hardlinks to|of FILE / with|have same inode number? as FILE / are hard link to FILE",
    "test links -inum {NUM}": "with|have inode number? NUM / inode number? NUM",
    "test links -lname {NAME}": "point to NAME / pointing to NAME",
}

SCOPE = {
    "scope": "in|under|inside|within|from|below|beneath DIR / in|under|inside|within|from|of|at|on|below|beneath|across|throughout dir? PATH dir|tree|hierarchy? / in|under|inside|within|from|below|of dir DIR / in|under|inside|within|from|below|of DIR dir"
    " / in|under|inside|within|from|of dir tree|named? PATH / in|under|inside|within|from|of dir named|tree? DIR / in|under|within dir tree rooted? at|under|of? PATH / startingwith|rooted in|from|at PATH / starting from|at|in dir? PATH / startingwith dir PATH / rooted at PATH",
    "scope file": "in|of|from|inside|within file FILE / in|of|from|inside|within file named? FILE / in|of|from|inside|within FILE file / file FILE / content of FILE / in|from|of text|csv|log|data|input|config file FILE / lines? of FILE",
    "scope two": "in|under|inside|within|from|of dir? PATH and|or PATH2 dir?",
    "depth max": "at? most NUM level deep|down|below? / atmost NUM level deep|down|below? / up to NUM level deep|down|below? / with? max|maximum depth of? NUM / down to NUM level / to depth of? NUM / max|maximum depth of? NUM / maxdepth NUM"
    " / no|not deeper than NUM level? / depth of? NUM or smaller / with? depth of? atmost NUM / within NUM level / limit depth to NUM level? / up to NUM level / only NUM level deep|down? / go? NUM level deep|down / to max|maximum depth of? NUM",
    "depth min": "at? least NUM level deep|down|below? / atleast NUM level deep|down|below? / min|minimum depth of? NUM / depth of? atleast NUM / mindepth NUM / deeper than NUM level",
    "depth exact": "exactly NUM level deep|down|below / at depth NUM / at level NUM / NUM level deep|down|below",
    "depth one": "directly in|under|inside PATH / directly / not recursive / non-recursively / nonrecursively / non-recursive / not in subdir / without|except descending|going|recursing|searching|looking|descend|recurse|search|traversing into|in|to? subdir|dir? / except? subdir"
    " / top level / top-level / at? top level of PATH / in top level of PATH / immediate / not include subdir / not look|search|descend|go|recurse into|in? subdir / not subdir / only in top level / immediately in|under|inside PATH / only in PATH itself / except recursion / without recursion / except recursive / first level / one level / only current|this level / no subdir / not its? subdir / in PATH only / lack subdir / not recurse",
    "recursive": "recursive / including subdir / contain subdir / and subdir / and all of? its subdir / in subdir / and in subdir / in all subdir / and any subdir / and contain of? subdir / dir tree / including all subdir / and everything below|under|in? it? / at any depth|level / anywhere|everywhere in|under|below? / its subdir / as well as in? subdir / in tree / and everything inside? it? / and below / all levels / through subdir / in it and subdir / and sub dir"
    " / including? in? hierarchy / entire tree / whole tree / in dir tree / and file in? subdir / and content of? subdir / including those in subdir / contain those in subdir / and those in subdir / and one in subdir",
    "exclude dir": "except one|those in|under|from|inside dir? DIR dir? / except one|those in|under|from dir? DIR dir? / except in|under|inside|for|of|from|those|file|any|anything|content? in|under|inside|from? dir|folder? DIR dir? / not in|under|inside dir|folder? DIR dir? / outside of? dir? DIR dir? / except content|file|anything of|in|from|inside|under DIR dir? / except DIR dir / except dir DIR / except dir named DIR / not descend|look|search|go into dir? DIR dir? / not descend|look|search|go in dir? DIR dir? / except dir? tree? DIR dir / without|except descending|searching|looking|going into|in? dir? DIR dir? / except subdir DIR / except DIR subdir / prune DIR dir? / except all? dir named DIR / not contain? dir DIR / except dir called DIR",
    "exclude two": "except in|under|inside|for? dir|folder? DIR and|or dir|folder? DIR2 dir? / not in|under dir? DIR and|or|nor in|under? DIR2 dir?",
}
