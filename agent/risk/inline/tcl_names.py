"""What Tcl code may use and still be harmless: names that only compute, read or print, whatever they are given."""

from agent.risk.inline.reading import listed, words

COMMANDS = words(
    """
    append break close concat continue eof error exit fconfigure flush format gets glob global incr join lappend lindex linsert list
    llength lrange lrepeat lreplace lreverse lsearch lsort parray pid puts pwd read regexp regsub return scan set split unset
    variable
    """
)
MEMBERS = listed(
    """
    string: compare equal first index is last length map match range repeat replace reverse tolower totitle toupper trim trimleft
     trimright
    dict: append create exists get incr keys lappend set size unset values
    array: exists get names set size unset
    info: exists hostname nameofexecutable patchlevel tclversion
    clock: clicks format microseconds milliseconds scan seconds
    file: dirname exists extension isdirectory isfile join mtime normalize readable rootname size split tail
    encoding: names system
    """
)
FUNCTIONS = words(
    """
    abs atan bool ceil cos double entier exp floor fmod hypot int isqrt log log10 max min pow rand round sin sqrt srand tan wide
    """
)
