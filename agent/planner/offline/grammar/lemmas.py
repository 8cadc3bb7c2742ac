"""Map words to lemmas of the grammar: one for each group of forms and synonyms."""

from __future__ import annotations

_GROUPS = {
    "show": "list lists listed display displays displaying print prints printing printed shows showing output outputs"
    " outputting give report reports return returns view see get dump echo enumerate fetch",
    "find": "finds finding search searches searching locate locates look identify discover searchs grep scan",
    "count": "counts counting counted tally",
    "sort": "sorted sorts sorting order ordered orders ordering arrange arranged rank ranked",
    "delete": "deletes deleting deleted remove removes removing removed erase erases rm drop discard eliminate strip stripping"
    " stripped clear omit omitting unlink purge",
    "replace": "replaces replacing replaced substitute substituting substituted swap",
    "change": "changes changing modify modifies alter update set sets turn",
    "convert": "converts converting transform transforms translate", "copy": "copies copying copied cp duplicate-to",
    "move": "moves moving moved mv relocate", "rename": "renames renaming renamed",
    "create": "creates creating created make makes making generate",
    "archive": "compress compresses compressed compressing pack gzip tar zip bundle archives tarball",
    "extract": "extracts extracting extracted", "append": "appends appending appended",
    "prepend": "prepends prepending prefix prefixed", "add": "adds adding added insert inserting inserts put putting",
    "save": "saves saving saved write writes writing written store storing stored redirect redirected redirecting",
    "join": "joins joined joining merge merged merging combine combined concatenate concatenated concatenating concat",
    "split": "splits splitting",
    "compute": "calculate calculates calculating computes computing calculated determine obtain evaluate",
    "file": "files document documents", "dir": "folder folders directory directories dirs",
    "subdir": "subfolder subfolders subdirectory subdirectories subdirs sub-directories sub-folders sub-directory",
    "link": "links symlink symlinks softlink", "line": "lines row rows record records", "word": "words token tokens",
    "char": "character characters chars letter letters", "byte": "bytes", "col": "column columns field fields",
    "name": "names filename filenames basename basenames", "path": "paths pathname pathnames filepath filepaths",
    "size": "sizes filesize filesizes", "permission": "permissions perms mode modes rights",
    "owner": "owners ownership", "extension": "extensions suffix suffixes ext", "content": "contents",
    "contain": "contains containing contained include includes including included mention mentions mentioning hold holds"
    " holding", "have": "has having had", "match": "matches matching matched", "lack": "lacking lacks",
    "reverse": "reversed reversing backwards backward", "desc": "descending decreasing descendingly desc",
    "asc": "ascending increasing ascendingly asc", "num": "numerically numeric numerical numeric-sort",
    "alpha": "alphabetically alphabetical lexicographically lexicographic alphanumerically alphanumeric dictionary",
    "large": "largest biggest highest greatest heaviest", "small": "smallest lowest shortest tiniest",
    "new": "newest latest", "old": "oldest earliest",
    "larger": "bigger greater over above exceeding exceeds more exceed",
    "smaller": "less below under-size fewer lower", "one": "ones",
    "unpack": "unpacks unpacking unpacked untar unzip decompress decompresses decompressed uncompress gunzip unarchive inflate",
    "unique": "distinct different uniq uniquely uniques",
    "dup": "duplicate duplicates duplicated repeated repeating repeats",
    "occurrence": "occurrences appearances appearance instances instance",
    "occur": "occurs occurring appear appears appearing", "frequency": "frequencies often frequent",
    "total": "totals altogether overall", "sum": "sums summing summed", "average": "mean avg", "max": "maximum",
    "min": "minimum", "blank": "blanks", "digit": "digits numbers numerals", "whitespace": "whitespaces",
    "uppercase": "upper capital capitals capitalized upper-case", "lowercase": "lower lower-case downcase",
    "delimiter": "separator delimiters separators delim", "separated": "delimited", "permitted": "allowed",
    "modified": "changed edited updated touched", "modification": "change-time mtime modify-time",
    "accessed": "opened access-time", "recursive": "recursively", "named": "called titled",
    "except": "excluding exclude excludes ignoring ignore ignores skipping skip skips without but besides",
    "human": "human-readable", "human-readable": "", "executable": "executables", "process": "processes",
    "user": "users", "hash": "checksum checksums hashes digest", "md5": "md5sum md5sums md5-sum",
    "sha256": "sha256sum sha256sums", "sha1": "sha1sum sha1sums",
    "text": "string strings texts phrase pattern expression substring",
    "entry": "entries item items result results element elements", "end": "ends",
    "begin": "begins beginning start starts front", "disk-usage": "usage", "detail": "details detailed",
    "space": "spaces", "each": "every", "level": "levels", "beside": "alongside", "group": "groups", "number": "",
    "value": "values", "target": "targets destination destinations", "archive-file": "", "times": "time", "empty": "",
}  # fmt: skip
LEMMAS: dict[str, str] = {}
for _lemma, _forms in _GROUPS.items():
    LEMMAS[_lemma] = _lemma
    for _form in _forms.split():
        LEMMAS.setdefault(_form, _lemma)
# Words that rules use as they are, though a group has them.
for _word in ("times", "human-readable", "under-size"):
    LEMMAS[_word] = _word
LEMMAS["time"] = "time"


def lemma_of(low: str, known: set[str]) -> str:
    """The lemma of a lower-case word; a form of a word that rules use is that word; anything else stands for itself."""
    found = LEMMAS.get(low)
    if found is not None:
        return found
    if low in known:
        return low
    for ending in ("s", "es", "ed", "d", "ing", "'s", "’s"):
        if low.endswith(ending) and len(low) - len(ending) >= 3:
            stem = low[: -len(ending)]
            for form in (stem, stem + "e"):
                if form in LEMMAS:
                    return LEMMAS[form]
                if form in known:
                    return form
    return low
