"""What Lua code may use and still be harmless: names that only compute, read or print, whatever they are given."""

from agent.risk.inline.reading import listed, words

NAMES = words(
    """
    _VERSION and arg assert break do else elseif end error false for function goto if in ipairs local next nil not or pairs pcall
    print repeat return select self then tonumber tostring true type unpack until while
    """
)
MEMBERS = listed(
    """
    string: byte char find format gmatch gsub len lower match pack rep reverse sub unpack upper
    table: concat insert move pack remove sort unpack
    os: clock date difftime getenv time
    io: lines open read stderr stdin stdout write
    math: abs ceil cos exp floor fmod huge log max maxinteger min mininteger modf pi pow random randomseed sin sqrt tan tointeger
     type
    utf8: char charpattern codepoint codes len
    jit: arch os version
    bit: band bor bxor lshift rshift
    """
)
METHODS = words(
    """
    byte close find flush format gmatch gsub len lines lower match read rep reverse sub upper write
    """
)
RESERVED = words(  # mean something else than what the code gives them, where it gives it to them only in passing
    """
    require load loadstring dofile loadfile package debug _G _ENV setfenv getfenv module collectgarbage rawset rawget rawequal rawlen
    setmetatable getmetatable coroutine newproxy ffi
    """
)
