"""Wordings of what is to be done with files that are put into the words that rules know: copies, moves, archives, rights, names, differences; and of room
and ports."""

from __future__ import annotations

from agent.planner.offline.grammar.rewording import Rewording

_PACKED = r"\S+\.(?:tar|tgz|tbz2?|txz|zip|7z|tar\.\w{2,3})"
_SOME = r"(?:all|every|each|any|the|my|those|these) "
_FOLDER = r"(?=[\w~/-]+(?: folder| directory)?\Z)"

ROWS: tuple[Rewording, ...] = (
    # Deleting, where the file is named.
    Rewording("discard eliminate purge destroy", r"\A(?:discard|eliminate|purge|destroy|wipe out) (?=(?:the |all |all the |every )(?:\.?\w+ )?(?:files?|folders?)\b)", "delete "),
    # Copies and moves.
    Rewording("copy copies", rf"\A(?:put|place|leave|save|store|stash|keep|drop|make|create|take) (?:an? |the )?(?:copy|copies|duplicates?) of ((?:{_SOME}).+?|FILE(?: and FILE)*) (?:to|in|into|inside|under|at|over to) (?:the )?{_FOLDER}", r"copy \1 to "),
    Rewording("duplicate mirror clone replicate", rf"\A(?:duplicate|mirror|clone|replicate) ((?:{_SOME}).+? files?(?: \S+ \S+)?) (?:to|into|in) (?:the )?{_FOLDER}", r"copy \1 to "),
    Rewording("put place bring take get stick", rf"\A(?:put|place|bring|take|get|stick) ((?:{_SOME}).+? files?(?: (?:in|from|under|below) \S+)?|FILE(?: and FILE)*) (?:to|into|in|inside|over to) (?:the )?(?!clipboard\b){_FOLDER}", r"move \1 to "),
    # Packing and unpacking.
    Rewording("put package squeeze squash roll stuff wrap turn make cram stow back save press", rf"\A(?:put|package|squeeze|squash|roll|stuff|wrap|turn|make|cram|stow|back|save|press)(?: up)? (.+?)(?: up| together)? (?:in|into|to|as|inside) (?:an? |the )?(?:new )?(?:archive |tarball |zip file |zip |tar |file )?(?:called |named )?(?={_PACKED}\Z)", r"compress \1 into "),
    Rewording("get pull take extract unpack unzip bring", rf"(?:get|pull|take|extract|unpack|unzip|bring) (?:the files|everything|all files|all the files|all of the files|the contents?|all contents|all the contents|the archive|all of it|what is|what's)(?: that is| that's| inside)? ?(?:out of|from|of|in|inside) (?=(?:the archive )?{_PACKED})", "extract "),
    Rewording("explode open take pull blow crack", rf"\A(?:explode|open up|take apart|pull apart|blow up|crack open|break open) (?=(?:the archive )?{_PACKED})", "extract "),
    # Rights and names.
    Rewording("mark render set get have let turn", r"\A(?:mark|render|set|get|have|let|turn) (FILE)(?: to be| be| as)? (executable|runnable|readable|writable|writeable|read-only)", r"make \1 \2"),
    Rewording("mark", r"\Amark as (executable|read-only) (FILE)", r"make \2 \1"),
    Rewording("rename move", r"\A(?:rename|move) (FILE),? (?:so (?:that )?(?:it is|it's|its name is|its new name is|it gets) (?:called|named)?|(?:and )?(?:call|name) it|to be(?: called| named)?|-+>?|=>|new name:?|- new name:?|with the new name|giving it the name) ?(FILE)(?=\s*\Z)", r"rename \1 to \2"),
    Rewording("produce set start build lay open establish", r"\A(?:produce|set up|start|build|lay down|establish) (an? (?:new |fresh |empty )*(?:folder|directory|subfolder|subdirectory|file)) (?=called|named)", r"create \1 "),
    # Differences.
    Rewording("diff differences difference", r"\A(?:(?:see|show|tell|check|find|list|print|display) )?(?:me )?(?:the |a |all |all the |any )*(?:diff|differences?) (?:between|of|in) (FILE) and (FILE)", r"compare \1 and \2"),
    Rewording("differs differ different changed", r"\A(?:(?:see|show|tell|check|find out|list|print|display) )?(?:me )?(?:what|how|where)(?:'s| is| are| has| have| do| does)? (?:differs?|different|changed|different is|different are) (?:between|in|from) (FILE) (?:and|to) (FILE)", r"compare \1 and \2"),
    Rewording("differ differs", r"\A(?:see |show |tell me |check )?(?:how|where|in what) (?:do |does )?(FILE) and (FILE) differ", r"compare \1 and \2"),
    # Lines that are left out.
    Rewording("empty blank comment comments commented header duplicate", r",? (?:and |but )?(?:with all |with )?(?:sans|less|devoid of|free of|stripped of|cleared of|cleaned of|purged of|freed of|hiding|not showing|not including|leaving out|leaving off|dropping|omitting|cutting out|throwing out|throwing away|weeding out|filtering out|taking out|removing|kicking out|screening out|barring) (?:the |any |all |its )*(?=(?:empty|blank|comments?|commented|header|duplicate)\b)", " without "),
    # Ports and room.
    Rewording("port", r"(?:is |has |currently )*(?:sits?|sitting|blocks?|taken|took|owns?|owning|runs?|running|hogs?|hogging|keeps?(?: busy)?|open|bound|claims?|claimed|claiming|camps?|camping|squats?|squatting|grabbed)(?: on| open| up)? (?=(?:the )?port \d)", "uses "),
    Rewording("space room storage", r"\Ahow much (?:of the |of my )?(?:disk |free |free disk )?(?:space|room|storage)(?: do i have| do we have| is there| have i got| have we got| is| does it have| still)*(?: left| remains?| remaining| available| free| unused| over)+(?: (?:on|of) (?:the |my |this )?(?:hard )?(?:disk|drive))?(?=\s*\??\Z)", "how much disk space is free"),
)  # fmt: skip
