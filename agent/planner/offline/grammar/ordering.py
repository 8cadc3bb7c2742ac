"""Find the order that a part of a goal starts with: "delete" of "please delete the folder src", nothing of "the folder src"."""

from __future__ import annotations

import re

_LEAD = re.compile(
    r"(?i)\A(?:(?:and|then|also|please|just|now|finally|lastly|next|first(?:ly)?|second(?:ly)?|third(?:ly)?|afterwards?|"
    r"can you|could you|would you|will you"
    r"|i(?:'d| would)? (?:want|need|like) (?:you )?to|i want|i need|let's|to"
    r"|only|simply|quickly|recursively|interactively|forcefully|safely|in the end|at the end|help me(?: to)?)\b[\s,:]*)+"
)
# What "delete a.py and the folder src" can leave out the second time.
_ORDER_WORDS = """
abort activate add amend append apply archive arrange ask assign attach average back backup bisect block boot bring browse build bundle
bzip2 calculate call cancel capitalize cat cd change check check-out checkout cherry-pick chmod chown clean clear clone close collapse
collect combine comment commit compare compile compress compute concatenate configure connect continue convert copy count cp create crop
cut deactivate decode decompress decrypt dedupe deduplicate delete deploy describe detach detect determine df diff disable discard display
divide do download drop du dump duplicate echo edit eject eliminate email empty enable encode encrypt end enumerate erase estimate examine
exclude execute exit expand explain export extract fetch filter find finish fix flip flush follow force format forward free freeze
generate get give go grab grant grep group gunzip gzip halt hash head hide highlight identify ignore import indent init initialize insert
inspect install invert join keep kill launch leave let limit link list load locate lock log look lookup lowercase ls mail make mark
measure merge minify mirror mkdir modify monitor mount move mute mv name note number obtain open order organize output overwrite pack
paste patch pause ping pipe play point post prefix prepend press pretty-print print prune ps pull purge push put quit rank read rebase
reboot rebuild record redirect redo reduce refresh reindex reinstall reload remove rename renew repeat replace report reset resize restart
restore resume retrieve return reverse revert rm rmdir rollback rotate round rsync run save say scale scan schedule search see select send
serve set set-up shorten show shred shrink shuffle shut shutdown sign skip sleep snapshot sort split squash squeeze ssh stage start stash
stat stop store stream strip submit substitute subtract suffix sum sum-up summarize suspend swap switch symlink sync synchronize tabulate
tag tail take tally tar tell terminate test time toggle top total touch track transcode transfer transform translate transpose trash trim
truncate try turn type umount unarchive unblock uncomment uncompress undo uninstall unique unlink unlock unmount unpack unset unstage
unstash untar unzip update upgrade upload uppercase use validate verify view visit wait watch wc wget wipe wrap write xz zip
"""
_QUESTION_WORDS = "how what what's which who whose where when why is are was were do does did has have can could should will would am any"
_ORDERS = frozenset(_ORDER_WORDS.split())
_QUESTIONS = frozenset(_QUESTION_WORDS.split())


def starts_with_order(part: str) -> bool:
    """Tell whether a part of a goal starts with an order or a question, so that it can stand alone."""
    word = _first(part)
    return word in _ORDERS or word in _QUESTIONS


def order_of(part: str) -> str:
    """The order that a part starts with, "" for none."""
    word = _first(part)
    return word if word in _ORDERS else ""


def _first(part: str) -> str:
    rest = _LEAD.sub("", part.strip(), count=1)
    found = re.match(r"[A-Za-z'0-9-]+", rest)
    return found[0].lower() if found else ""
