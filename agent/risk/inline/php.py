"""Read PHP code for what is not on the list of the harmless."""

from __future__ import annotations

import itertools
import re

from agent.risk.inline.reading import Reading, words
from agent.risk.inline.tokens import END, Scanner, Token

_CALLBACKS = {
    "array_map": 0, "array_filter": 1, "array_reduce": 1, "array_walk": 1, "usort": 1, "uasort": 1, "uksort": 1, "preg_replace_callback": 1,
}  # fmt: skip
_READERS = frozenset(("file_get_contents", "file", "readfile", "fopen"))
_VARIABLE = re.compile(r"\$[A-Za-z_]\w*")


class _Php(Scanner):
    space = re.compile(r"(?:\s|(?:#(?!\[)|//)[^\n]*|/\*.*?\*/)+", re.S)
    name = re.compile(r"\\?[A-Za-z_]\w*(?:\\\w+)*", re.A)
    operator = re.compile(r"===|!==|<=>|->|\?->|=>|&&|\|\||\?\?|\.\.\.|\+\+|--|<<|>>|==|!=|<=|>=|::|[^\w\s]")

    def special(self, char: str) -> bool:
        code, at = self.code, self.at
        if char == "$":
            found = _VARIABLE.match(code, at)
            if found is None:
                self.reading.doubt("a variable by name")
                return False
            self.take("var", found.end())
        elif char == "'":
            end = self.quoted(at + 1, "'")
            self.take("text", end + 1, code[at + 1 : end], plain="\\" not in code[at + 1 : end])
        elif char == '"':
            self._text(at + 1)
        else:
            if char in "`\\#" or code.startswith("<<<", at):
                self.reading.doubt("a program" if char == "`" else "a here-document")
            return False
        return True

    def name_is_value(self, name: str) -> bool | None:
        return True

    def _text(self, start: int) -> None:
        index, code = start, self.code
        while index < len(code) and code[index] != '"':
            if code[index] == "\\":
                index += 1
            elif code.startswith("{$", index):
                inner = _Php(code, self.reading, index + 1, self.depth + 1)
                _judge(inner.scan("}"), self.reading)
                index = inner.at - 1
            elif code.startswith("${", index):
                self.reading.doubt("a variable by name")
            index += 1
        if index >= len(code):
            self.reading.doubt("a text without an end")
        text = code[start:index]
        self.take("text", index + 1, text, plain=not re.search(r"[\\$]", text))


def read(code: str) -> Reading:
    """What is not understood of PHP `code`."""
    reading = Reading()
    code = re.sub(r"\A\s*<\?php\b", "", code)
    if "?>" in code or "<?" in code:
        reading.doubt("text around the code")
    _judge(_Php(code, reading).scan(), reading)
    return reading


def _judge(tokens: list[Token], reading: Reading) -> None:
    padded = [END, *tokens, END, END, END]
    own = _defined(tokens)
    for index, token in enumerate(tokens, 1):
        before, after = padded[index - 1], padded[index + 1]
        if token.kind == "name":
            _name(token.text.lower(), padded, index, own, reading)
        elif token.text == "(" and (before.kind in ("var", "text") or before.text in (")", "]", "}")):
            if before.text != ")" or not _of_condition(padded, index - 1):
                reading.doubt("a call of a value")
        elif token.text in ("->", "?->") and after.kind != "name":
            reading.doubt("a member by name")
        elif token.text == "::":
            reading.doubt("a member of a class")
        elif token.kind == "var" and token.text in ("$_ENV", "$_SERVER", "$GLOBALS") and after.text != "[":
            reading.doubt(token.text)


def _defined(tokens: list[Token]) -> set[str]:
    """Functions that the code surely defines: outside of blocks, where PHP refuses a second one of a name."""
    names: set[str] = set()
    depth = 0
    for token, after in itertools.pairwise(tokens):
        depth += {"{": 1, "}": -1}.get(token.text, 0) if token.kind == "op" else 0
        if not depth and token.text.lower() == "function" and after.kind == "name":
            names.add(after.text.lower())
    return names


def _of_condition(padded: list[Token], index: int) -> bool:
    """Whether the bracket that closes at `index` is that of `if (…)` and its like."""
    depth = 0
    while index > 0:
        depth += {")": 1, "(": -1}.get(padded[index].text, 0) if padded[index].kind == "op" else 0
        if not depth:
            return padded[index - 1].text.lower() in ("if", "while", "for", "foreach", "elseif", "switch")
        index -= 1
    return False


def _name(name: str, padded: list[Token], index: int, own: set[str], reading: Reading) -> None:
    before, after = padded[index - 1], padded[index + 1]
    called = after.text == "("
    if before.text in ("->", "?->"):
        if called and name not in METHODS:
            reading.doubt(f"->{name}")
    elif before.text.lower() == "new":
        if name not in CLASSES:
            reading.doubt(f"new {name}")
    elif name == "new" and after.kind != "name":
        reading.doubt("new of a name")
    elif name == "new" or (before.text.lower() == "function" and called):
        return
    elif name == "use":
        if not called:
            reading.doubt("use")
    elif called:
        _call(name, padded, index, own, reading)
    elif name not in KEYWORDS and (name in RESERVED or not padded[index].text.isupper()):
        reading.doubt(name)


def _call(name: str, padded: list[Token], index: int, own: set[str], reading: Reading) -> None:
    following = padded[index + 2]
    if name in _CALLBACKS:
        _callback(_arguments(padded, index + 1), _CALLBACKS[name], reading, own)
    elif name in _READERS:
        _reads(name, _arguments(padded, index + 1), reading)
    elif name == "preg_replace":
        behind = padded[index + 3]
        if following.kind != "text" or behind.text != "," or not re.search(r"[^\w\s][imsxuADU]*\Z", following.text):
            reading.doubt(name)
    elif name == "getenv":
        if following.text == ")":
            reading.doubt(name)
    elif name not in FUNCTIONS | KEYWORDS | own:
        reading.doubt(f"{name}()")


def _arguments(padded: list[Token], opening: int) -> list[list[Token]]:
    """The tokens of each argument of the call whose bracket opens at `opening`."""
    arguments: list[list[Token]] = [[]]
    depth = 0
    for token in padded[opening:]:
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(token.text, 0) if token.kind == "op" else 0
        if not depth:
            break
        if depth == 1 and token.text == "," and token.kind == "op":
            arguments.append([])
        elif depth > 1 or token.text != "(" or arguments[-1]:
            arguments[-1].append(token)
    return arguments


def _callback(arguments: list[list[Token]], position: int, reading: Reading, own: set[str]) -> None:
    """The function that is handed on: written out, or a known one by its name."""
    named = any(len(given) > 1 and given[0].kind == "name" and given[1].text == ":" for given in arguments)
    given = arguments[position] if position < len(arguments) else []
    first = given[0] if given else END
    written = first.text.lower() in ("fn", "function", "static") and first.kind == "name"
    known = len(given) == 1 and first.kind == "text" and first.plain and first.text.lower() in FUNCTIONS | own
    if (
        named
        or any(token.text == "..." for argument in arguments for token in argument[:1])
        or (given and not written and not known)
    ):
        reading.doubt("a function by name")


def _reads(name: str, arguments: list[list[Token]], reading: Reading) -> None:
    path = arguments[0]
    mode = arguments[1] if name == "fopen" and len(arguments) > 1 else []
    if path and path[0].kind == "var" and path[0].text == "$argv":
        known = True
    else:
        known = len(path) == 1 and path[0].kind == "text" and path[0].plain
        if known and "://" in path[0].text:
            known = path[0].text == "php://stdin"
        elif known:
            reading.does("read", path[0].text)
        known = known or (len(path) == 1 and path[0].text == "STDIN")
    if (
        not known
        or any(token.text == "..." for token in path)
        or (name == "fopen" and [part.text for part in mode] not in (["r"], ["rb"]))
    ):
        reading.doubt(name)


KEYWORDS = words(
    """
    and array as bool boolean break case catch const continue default die do echo else elseif empty endfor endforeach endif endwhile
    exit false finally float fn for foreach function global if instanceof int integer isset list match mixed null object or print
    return static string switch throw true try unset use void while xor
    """
)
FUNCTIONS = words(
    """
    abs addslashes array_chunk array_column array_combine array_count_values array_diff array_fill array_flip array_intersect
    array_key_exists array_key_first array_key_last array_keys array_merge array_pad array_pop array_product array_push
    array_reverse array_search array_shift array_slice array_splice array_sum array_unique array_unshift array_values arsort asort
    base64_decode base64_encode base_convert basename bcadd bcdiv bcmul bcpow bcsub bin2hex bindec boolval ceil checkdate chop chr
    class_exists compact cos count crc32 ctype_alpha ctype_digit ctype_lower ctype_upper date date_default_timezone_get decbin
    dechex decoct defined dirname exp explode extension_loaded fclose feof fgetc fgetcsv fgets file_exists filemtime filesize
    floatval floor fmod fread fscanf function_exists get_current_user get_loaded_extensions getcwd gethostname getmypid gettype glob
    gmdate hash hash_algos hex2bin hexdec hrtime html_entity_decode htmlentities htmlspecialchars http_build_query iconv implode
    in_array inet_pton ini_get intdiv intval ip2long is_array is_bool is_dir is_file is_float is_int is_null is_numeric is_readable
    is_string join json_decode json_encode json_last_error_msg krsort ksort lcfirst lcg_value levenshtein log long2ip ltrim max
    mb_str_split mb_strlen mb_strpos mb_strtolower mb_strtoupper mb_substr md5 memory_get_peak_usage memory_get_usage metaphone
    microtime min mktime mt_rand mt_srand nl2br number_format octdec openssl_get_cipher_methods ord parse_url password_hash
    password_verify pathinfo php_ini_loaded_file php_ini_scanned_files php_sapi_name php_uname phpversion pi pow preg_grep
    preg_match preg_match_all preg_quote preg_split print_r printf rand random_bytes random_int range rawurldecode rawurlencode
    realpath round rsort rtrim scandir serialize sha1 shuffle similar_text sin sizeof sleep sort soundex sprintf sqrt srand
    str_contains str_ends_with str_getcsv str_ireplace str_pad str_repeat str_replace str_split str_starts_with str_word_count
    strcasecmp strcmp stream_get_contents stream_get_line strip_tags stripos stripslashes stristr strlen strnatcmp strncmp strpos
    strrchr strrev strrpos strstr strtolower strtotime strtoupper strval substr substr_count sys_get_temp_dir tan time trim ucfirst
    ucwords uniqid urldecode urlencode usleep utf8_decode utf8_encode var_dump var_export vprintf vsprintf wordwrap zend_version
    """
)
METHODS = words(
    """
    add diff format gettimestamp gettimezone modify settimezone sub
    """
)
CLASSES = words(
    """
    dateinterval datetime datetimeimmutable datetimezone exception stdclass
    """
)
RESERVED = words(
    "include include_once require require_once use namespace class trait interface goto clone yield declare new eval extends"
)
