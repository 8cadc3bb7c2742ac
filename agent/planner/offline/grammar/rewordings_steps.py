"""Wordings of goals of several steps that are put into the words that rules know: new folders as destinations, endings, packing."""

from __future__ import annotations

from agent.planner.offline.grammar.rewording import Rewording

_VERB = r"(?:move|copy|put|gather|collect|mv|cp|bring|place)"
_NAME = r"([\w][\w+-]*(?:/[\w+-]+)*)"
# Endings that are no words of their own, but said as if they were.
_ENDINGS = "img|iso|bak|dat|deb|rpm|ttf|obj|pyc|swp|orig|rej|tex|bib|epub|ogg|flac|webm|mkv|avi|ini|cfg|proto|tmp|map|lst|db|msg|eml|dmg|apk"
_KINDS = "html|css|js|ts|py|md|txt|pdf|jpg|jpeg|png|gif|svg|csv|json|xml|yaml|yml|sh|c|h|cpp|go|rs|java|log|zip|gz|mp3|mp4|doc|docx"

ROWS: tuple[Rewording, ...] = (
    Rewording("make create add", rf"\A(?:make|create|add) (?:a |the |an )?(?:new )?(?:directory|folder) (?:called |named )?{_NAME}(?:,? and(?: then)?|, then|, and) (?:put|move) (.+?) (?:in there|into there|inside there|there)(?=\Z)", r'move \2 to a new folder "\1"'),
    Rewording("make create add", rf"\A(?:make|create|add) (?:a |the |an )?(?:new )?(?:directory|folder) (?:called |named )?{_NAME}(?:,? and(?: then)?|, then|, and) copy (.+?) (?:in there|into there|inside there|there)(?=\Z)", r'copy \2 to a new folder "\1"'),
    Rewording("new", rf"\A({_VERB} .+?) (?:in|into|to) (?:a|another|the) new (?:folder|directory) (?:called |named |with the name )?{_NAME}(?=\s*(?:[,.;]|\Z))", r'\1 to a new folder "\2"'),
    Rewording(_ENDINGS.replace("|", " "), rf"(?<![\w.*])(?=(?:{_ENDINGS}) (?:files?)\b)", "."),
    Rewording("every each", rf"\A({_VERB}) (?:every|each) ((?:[\w.]+ )?)file (?:that|which) (contain|mention|include|hold|say)s ", r"\1 all \2files that contain "),
    Rewording("ends end ending", r"\Arename (?:each|every|all)(?: of)?(?: the)? \.?(\w+)(?: files?)?((?: (?:in|under|below) \S+)?) so (?:that )?(?:it|they|each)(?: of them)? ends? (?:in|with|on) \.?(\w+)(?=\Z)", r"rename all .\1 files\2 to .\3"),
    Rewording("ending extension endings extensions suffix", r"\A(?:change|turn|switch|set|make) the (?:endings?|extensions?|suffix(?:es)?|file extensions?) of (?:all |every |each |the )*\.?(\w+)(?: files?)?((?: (?:in|under|below) \S+)?) (?:from \.?\w+ )?(?:in)?to \.?(\w+)(?=\Z)", r"rename all .\1 files\2 to .\3"),
    Rewording("contents content everything what all inside", r"\A((?:remove|delete|erase) (?:every|all|each|any) .*?(?:folders?|director(?:y|ies))(?: (?:called|named) \S+)?),? (?:with|including|and|together with|along with) (?:what is in (?:it|them)|everything (?:that is )?in(?:side)? (?:it|them)|(?:all )?(?:its|their) contents?|all (?:that is )?in(?:side)? (?:it|them))(?=\Z|,)", r"\1"),
    Rewording(_KINDS.replace("|", " "), rf"\bthe ((?:(?:{_KINDS}), )*(?:{_KINDS}) and (?:{_KINDS})) (?:of|in|under|below) (?=[\w./])", r"all \1 files in "),
    Rewording("checksum checksums hash hashes", r"\b(checksums?|hash(?:es)?) \((sha256|sha1|md5|sha512|sha-256)\)", r"\2 \1"),
)  # fmt: skip
