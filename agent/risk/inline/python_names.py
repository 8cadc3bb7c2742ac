"""Names that Python code may use and still be harmless: built-in functions, members of modules, attributes of values.

Allowed names only compute, read or print, whatever they are given. None of them calls what a text names, and none returns a module.
"""

from __future__ import annotations

import builtins

_BUILTINS = (
    "print len str int float bool complex bytes bytearray memoryview list dict tuple set frozenset sorted reversed sum min max abs round"
    " range enumerate zip map filter any all repr ascii ord chr hex bin oct divmod pow isinstance issubclass hash id iter next slice type"
    " callable object super staticmethod classmethod property input format exit quit unicode xrange raw_input basestring long"
    " __name__ __file__ __doc__ Exception BaseException ValueError TypeError KeyError IndexError OSError IOError StopIteration"
    " RuntimeError KeyboardInterrupt FileNotFoundError AssertionError AttributeError ImportError ZeroDivisionError SystemExit"
    " EOFError UnicodeDecodeError UnicodeEncodeError ArithmeticError OverflowError LookupError NameError NotImplementedError"
    " BrokenPipeError PermissionError Ellipsis NotImplemented"
)
BUILTINS = frozenset(_BUILTINS.split())
RESERVED = frozenset((*(set(dir(builtins)) - BUILTINS), "type", "help", "copyright", "credits", "license"))
"""Built-in names that are not harmless: they keep their meaning where code gives them another one only in passing."""

_MODULES = """
json: load loads dump dumps JSONDecodeError
re: compile match search sub subn split findall finditer fullmatch escape I M S X A IGNORECASE MULTILINE DOTALL VERBOSE ASCII error
math: *
cmath: *
string: ascii_letters ascii_lowercase ascii_uppercase digits hexdigits octdigits punctuation printable whitespace capwords Template
textwrap: wrap fill dedent indent shorten
datetime: datetime date time timedelta timezone UTC MINYEAR MAXYEAR
time: time sleep strftime localtime gmtime ctime asctime perf_counter monotonic process_time time_ns mktime strptime tzname timezone
calendar: month calendar monthrange isleap TextCalendar prcal prmonth weekday day_name month_name timegm leapdays monthcalendar
collections: Counter defaultdict OrderedDict deque namedtuple ChainMap
itertools: *
functools: reduce partial lru_cache cache cmp_to_key wraps
operator: itemgetter add sub mul truediv mod lt le gt ge eq ne not_ neg and_ or_ xor contains countOf floordiv pow
random: random randint choice choices sample shuffle uniform seed randrange gauss getrandbits Random SystemRandom
secrets: token_hex token_urlsafe token_bytes choice randbelow randbits
statistics: mean median mode stdev pstdev variance pvariance quantiles fmean harmonic_mean geometric_mean median_low median_high
fractions: Fraction
decimal: Decimal getcontext ROUND_HALF_UP
uuid: uuid1 uuid3 uuid4 uuid5 UUID NAMESPACE_DNS NAMESPACE_URL
hashlib: md5 sha1 sha224 sha256 sha384 sha512 blake2b blake2s sha3_256 sha3_512 algorithms_available algorithms_guaranteed
hmac: digest compare_digest
binascii: hexlify unhexlify b2a_hex a2b_hex b2a_base64 a2b_base64 crc32
base64: b64encode b64decode urlsafe_b64encode urlsafe_b64decode b32encode b32decode b16encode b16decode b85encode b85decode encodebytes
zlib: compress decompress crc32 adler32
struct: pack unpack calcsize unpack_from
csv: reader DictReader writer DictWriter field_size_limit QUOTE_ALL QUOTE_MINIMAL QUOTE_NONE
html: escape unescape
urllib.parse: quote unquote quote_plus unquote_plus urlencode urlparse urlsplit urlunparse urljoin parse_qs parse_qsl
ipaddress: ip_address ip_network ip_interface IPv4Address IPv4Network IPv6Address IPv6Network summarize_address_range
unicodedata: name category normalize lookup numeric east_asian_width bidirectional combining unidata_version
difflib: unified_diff ndiff get_close_matches SequenceMatcher context_diff
pprint: pprint pformat pp
locale: getpreferredencoding getlocale getdefaultlocale
keyword: kwlist iskeyword
fnmatch: fnmatch fnmatchcase filter translate
glob: glob iglob escape
linecache: getline getlines
bisect: bisect bisect_left bisect_right insort
heapq: heappush heappop heapify nlargest nsmallest merge
copy: copy deepcopy
enum: Enum IntEnum auto
typing: Any List Dict Optional Union
io: StringIO BytesIO
ast: dump parse literal_eval walk
tokenize: generate_tokens
tomllib: load loads
yaml: safe_load safe_load_all safe_dump
platform: platform system release version machine node processor architecture python_version python_implementation uname mac_ver
socket: gethostname getfqdn AF_INET AF_INET6
site: getsitepackages getusersitepackages
sysconfig: get_path get_paths get_config_var get_platform get_python_version
importlib.metadata: version distributions
shutil: which disk_usage get_terminal_size
getpass: getuser
pwd: getpwnam getpwuid getpwall
grp: getgrnam getgrgid getgrall
errno: *
signal: Signals SIGTERM SIGKILL SIGINT SIGHUP
stat: S_ISDIR S_ISREG S_ISLNK S_IMODE ST_MTIME ST_SIZE filemode
os: getcwd listdir scandir walk getpid getppid getuid getgid geteuid getlogin sep linesep name uname cpu_count stat lstat environ getenv
 path fspath get_terminal_size curdir pardir extsep pathsep times getloadavg sched_getaffinity access R_OK W_OK X_OK F_OK readlink
os.path: join exists lexists isfile isdir islink ismount getsize getmtime getctime getatime basename dirname abspath realpath relpath
 expanduser expandvars splitext split sep commonpath commonprefix normpath isabs samefile normcase
pathlib: Path PurePath PosixPath PurePosixPath
sys: argv stdin stdout stderr exit version version_info platform maxsize executable byteorder getsizeof getrecursionlimit prefix
 base_prefix implementation hexversion getdefaultencoding getfilesystemencoding flags float_info maxunicode path setrecursionlimit
asyncio: run sleep gather
zipfile: is_zipfile
tarfile: is_tarfile
gzip: compress decompress
bz2: compress decompress
lzma: compress decompress
codecs: encode decode
this:
__future__: annotations print_function division unicode_literals absolute_import
"""
MODULES: dict[str, frozenset[str]] = {
    name: frozenset(members.split())
    for name, _, members in (line.partition(":") for line in _MODULES.replace("\n ", " ").strip().splitlines())
}
PACKAGES = frozenset(("urllib", "importlib"))  # nothing of their own is used, only modules in them

_ATTRIBUTES = (
    # texts and bytes
    "split rsplit join strip lstrip rstrip upper lower title count index rindex find rfind startswith endswith splitlines replace"
    " format format_map capitalize casefold center ljust rjust zfill partition rpartition swapcase translate maketrans isdigit isalpha"
    " isalnum isspace isupper islower isnumeric isdecimal isidentifier istitle isprintable isascii expandtabs removeprefix removesuffix"
    " encode decode hex fromhex"
    # collections
    " items keys values get setdefault pop popitem sort reverse append extend insert remove clear copy update add discard union"
    " intersection difference symmetric_difference issubset issuperset isdisjoint fromkeys most_common elements subtract total"
    " appendleft popleft extendleft rotate maxlen subnets hosts num_addresses network_address broadcast_address netmask prefixlen"
    " is_private is_global supernet compressed exploded from_iterable"
    # matches, numbers
    " group groups groupdict start end span match search findall finditer fullmatch sub subn pattern string real imag conjugate"
    " bit_length bit_count to_bytes from_bytes is_integer numerator denominator as_integer_ratio quantize limit_denominator"
    # time
    " today now utcnow fromtimestamp utcfromtimestamp isoformat fromisoformat strftime strptime timestamp date time year month day hour"
    " minute second microsecond weekday isoweekday isocalendar days seconds total_seconds utc astimezone tzinfo timetuple combine"
    " toordinal fromordinal tm_year tm_mon tm_mday tm_hour tm_min tm_sec formatmonth formatyear"
    # files that are read, and what they are called
    " read readline readlines close flush seek tell name encoding buffer isatty fileno closed getvalue line_num fieldnames"
    " exists is_file is_dir is_symlink iterdir glob rglob read_text read_bytes stat lstat st_size st_mtime st_mode st_atime st_ctime"
    " st_uid st_gid st_nlink st_ino stem suffix suffixes parent parents resolve absolute expanduser relative_to joinpath home cwd parts"
    " with_suffix with_name as_posix is_absolute total used free namelist infolist getnames writerow writerows writeheader"
    # others
    " hexdigest digest hostname port netloc scheme path query fragment params username geturl hex int version bytes urn fields"
    " ratio get_opcodes get_matching_blocks safe_substitute substitute args exc value major minor micro releaselevel release"
    " node machine columns lines pw_name pw_uid pw_gid pw_dir pw_shell gr_name gr_gid gr_mem metadata id body cache_info kwargs"
    " __name__ __version__ __doc__ __file__ __len__"
)
ATTRIBUTES = frozenset(_ATTRIBUTES.split())
