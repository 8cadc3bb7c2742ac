"""Patterns that give away, in code of other languages, that it starts programs, deletes, writes, connects or hides."""

from __future__ import annotations

import re
from functools import lru_cache

_STRING = r"""(?:[rbuf]{0,2})(?P<q>['"`])(?P<s>(?:\\.|(?!(?P=q)).)*)(?P=q)"""


@lru_cache(maxsize=1)
def patterns() -> dict[str, re.Pattern[str]]:
    """The patterns by what they find, compiled at first use; a group `s` is the text of a string."""
    return {
        "shell": re.compile(
            r"(?:\b(?:os\.(?:system|popen)|subprocess\.\w+|commands\.getoutput|pty\.spawn|popen\d?|system|exec|execSync|execFile(?:Sync)?|"
            r"spawn(?:Sync)?|shell_exec|passthru|proc_open|os\.execute|io\.popen|Kernel\.\w+|Open3\.\w+|qx|os\.exec\w*|os\.spawn\w*|"
            r"Process\.spawn|getline|do shell script|spawn -noecho|spawn|pcntl_exec|posix\.exec|callCommand|rawSystem|"
            r"(?:new\s+)?ProcessBuilder|"
            r"getRuntime\(\)\.exec|exec\.Command|async-shell-command|shell-command(?:-to-string)?|call-process|run-shell-command|run-program|"
            r"(?:ansi-)?term|Process\.Start)\s*\(?\s*\[?\s*)" + _STRING,
            re.S,
        ),
        "runs": re.compile(
            r"\b(?:os\.(?:system|popen|exec\w+|(?:posix_)?spawn\w*|fork)|subprocess|pty\.spawn|child_process|shell_exec|passthru|proc_open|"
            r"os\.execute|io\.popen|Open3|IO\.popen|ctypes|importlib|__import__|runpy|ProcessBuilder|getRuntime|exec\.Command|callCommand|"
            r"System\.Process|pcntl_exec|posix\.exec|shell-command|call-process|run-shell-command|run-program|Process\.Start|Start-Process|Deno\.Command|Deno\.run|Bun\.spawn(?:Sync)?|sys\.process|System\.cmd|os\.cmd|os:cmd|system2)\b|"
            r"Bun\.\$`|\bos:cmd\b|['\"\]]\s*\.\s*execute\s*\(\s*\)|['\"]\s*\.\s*!{1,2}(?![=\w])|"
            r"\b(?:system|exec|popen|execSync|spawn|spawnSync|fork)\s*[\s(\"'/$]|%x[\[{(]|\bqx\b|\|\s*getline|\bsyscall\b|do shell script|"
            r"\((?:ansi-)?term\b"
        ),
        "pipes": re.compile(  # perl's and ruby's open("|command"), and the calls of languages that have no shape of their own
            r"\bopen\b[^;]{0,80}?,?\s*['\"](?:\||-\||\|-|[^'\"]{1,200}\|\s*['\"])|\bSys\.command\b|"
            r"\bSystem\.cmd\b|\bopen_port\b|\bshell\s*\(?\s*['\"]"
        ),
        "calls": re.compile(r"\b(?:run|call|check_call|check_output|Popen|cmd)\s*\(\s*\[?(\s*['\"][^\])};]{1,2000})"),
        "list": re.compile(
            r"(?:subprocess\.\w+|spawn(?:Sync)?|execFile(?:Sync)?|system|exec\w{0,20}|\bCommand|Deno\.run|System\.cmd|run-program|call-process|start-process)\s*\(?\s*(?:\{\s*cmd\s*:\s*)?\[?(\s*['\"][^\])};]{1,2000})"
        ),
        "executed": re.compile(r"\]\s*\.\s*execute\b"),  # Groovy's list of words that runs itself: where it ends
        "delete": re.compile(
            r"\b(?:shutil\.rmtree|os\.(?:remove|unlink|rmdir|removedirs)|rmtree|unlink(?:Sync)?|rm_rf?|rm_r|remove_(?:dir|entry|file|tree)\w*|"
            r"rm(?:dir)?(?:Sync)?|FileUtils\.rm\w*|File\.delete|Dir\.(?:delete|rmdir|unlink)|fs\.(?:rm|unlink|rmdir)\w*|rimraf(?:\.sync)?|delete-(?:directory|file)|Deno\.remove(?:Sync)?|file\s+delete|file:del(?:_dir|ete)\w*|del_dir_r)\b"
            r"[\s(]*(?P<arg>" + _STRING + r")?",
            re.S,
        ),
        "deep": re.compile(
            r"rmtree|rm_rf?\b|rm_r\b|remove_tree|remove_dir|recursive\s*:\s*true|rimraf|FileUtils\.rm_r|rmdirSync|removedirs|delete-directory|del_dir_r"
        ),
        "all": re.compile(r"\br?glob\s*\(\s*['\"]\*{1,2}(?:/\*)?['\"]"),
        "write": re.compile(
            r"(?:open(?:Sync)?|IO::File->new|File\.new|SplFileObject)\s*\(?\s*(?:\w{1,60}\s*,\s*)?"
            + _STRING
            + r"\s*,\s*(?:mode\s*=\s*)?['\"](?:[rwax+bt]*[wax+][rwax+bt]*|[>+]{1,2}[^'\"]*)['\"]"
            r"|\.write_(?:text|bytes)\s*\(|writeFile(?:Sync)?\s*\(|appendFile(?:Sync)?\s*\(|file_put_contents|createWriteStream|\bO_(?:WRONLY|RDWR|TRUNC|CREAT)\b|File\.write|IO\.write|"
            r"\bopen\s*\(?(?:[^)o]|o(?!(?<=\bo)pen))*,\s*['\"]?[>+]|copyfile|shutil\.(?:copy|move)\w*|os\.(?:rename|replace|chmod|chown|truncate|symlink|link|mkdir"
            r"|makedirs)|\brename\s*\(|\bchmod\b|truncate",
            re.S,
        ),
        "write_path": re.compile(
            r"(?:(?:open(?:Sync)?|[wW]rite\w{0,30}|put_contents|File\.write|SplFileObject|Path)\s*\(\s*"
            r"|(?:IO::File->new|File\.new|truncate(?:Sync)?)\b[\s(]*|\bsysopen[\s(]+(?:my\s+)?\$?\w+\s*,\s*)" + _STRING,
            re.S,
        ),
        "network": re.compile(
            r"\b(?:urllib|requests|http\.client|httpx|aiohttp|socket|ftplib|smtplib|paramiko|telnetlib|xmlrpc|Net::|LWP|IO::Socket|TCPSocket|"
            r"TCPServer|UDPSocket|open-uri|URI\.open|fetch|XMLHttpRequest|axios|https?\.(?:get|request|createServer)|net\.(?:connect|Socket|"
            r"createConnection)|fsockopen|curl_exec|stream_socket_client|stream_socket_server|socket_create\w*|socket_listen|socket_accept|getstore|HTTP::Tiny|socket_connect|Sockets?|java\.net|net\.Dial|TcpStream|TCPClient|"
            r"WebClient|Invoke-WebRequest|iwr|irm)\b|file_get_contents\s*\(\s*['\"]https?:|require\s*\(?\s*['\"](?:socket|https?|net|tls|dgram)['\"]|"
            r"\bsocket\s+[\w.$]+\s+\d|\bget\s*\(\s*['\"]https?://|__import__[^;]{0,80}['\"]socket['\"]"
        ),
        "send": re.compile(
            r"\.(?:post|put|sendall|send|sendto|sendmail|storbinary)\s*\(|method\s*[:=]\s*['\"](?:POST|PUT)|\bPOST\b|\bPUT\b"
        ),
        "reverse": re.compile(
            r"dup2|/bin/(?:ba|z|da|k)?sh\b|pty\.spawn|STDIN\s*,\s*[\"']>&|exec\s*\(?[\"']/bin/|cmd\.exe|-i\b.*sh"
        ),
        "hidden": re.compile(
            r"b(?:ase)?64[._]?(?:decode|b64decode|urlsafe)?|b64decode|fromhex|unhexlify|codecs\.decode|zlib\.decompress|marshal\.loads|"
            r"atob\s*\(|fromCharCode|hex2bin|strrev\s*\(|map\s*\(\s*chr\b|\bchr\s*\(\s*\w+\s*\)\s*for\b|bytes\s*\(\s*\[\s*\d|bytearray\s*\(\s*\[\s*\d|"
            r"['\"]\s*\[\s*::\s*-\s*1\s*\]|['\"]\.reverse\b|reverse\s*\(?\s*['\"]|\.reverse\(\)\.join|maketrans|Buffer\.from\s*\([^)]{0,1000},\s*['\"](?:base64|hex)|unpack1?\s*\(?\s*['\"][umH]|str_rot13|gzinflate|pack\s*\(?\s*['\"][HCUc]|chr\s*\(\s*\d+\s*\)\s*[+.]",
            re.I,
        ),
        "eval": re.compile(
            r"\b(?:eval|exec|compile|instance_eval|class_eval|assert|create_function|Function)\s*[\s(]|\bexec\b"
        ),
        "secret": re.compile(r"""['"]([^'"\n]{2,200})['"]"""),
        "environment": re.compile(
            r"\bos\.environ\b(?!\s*(?:\[|\.get|\.setdefault))|process\.env\b(?!\s*[.\[])|\bENV\.(?:to_h|each)|%ENV\b"
        ),
        "kill": re.compile(
            r"\bos\.kill(?:pg)?\b|process\.kill|\bkill\s*\(?\s*['\"]?(?:9|KILL|-9)|Process\.kill|posix_kill"
        ),
        "device": re.compile(r"['\"][+>|\s]{0,3}/dev/(?:sd|nvme|hd|vd|mmcblk|disk|mem|kmem)"),
        "backtick": re.compile(r"`([^`]+)`|%x[\[{(]([^\])}]+)[\])}]|\bqx[{(/|!]([^})/|!]+)"),
        "fork": re.compile(
            r"while\s*(?:\(?\s*(?:1|True|true)\s*\)?)\s*[:{(\n]?\s*[^\n]{0,20}fork|fork\s+while|loop\s*(?:\{|do)?\s*\{?\s*fork|os\.fork\(\)\s*while|"
            r"fork\(\)\s+for\s+\w+\s+in\s+(?:iter\(|itertools\.(?:count|cycle|repeat))|fork\s*\(?\)?\s*(?:or|\|\|)?\s*fork\s*\(?\)?\s*while"
        ),
        "sql": re.compile(r"\b(?:DROP|TRUNCATE)\s+(?:TABLE|DATABASE|SCHEMA)\b|\bDELETE\s+FROM\b", re.I),
        "string": re.compile(_STRING, re.S),
        "dynamic": re.compile(
            r"getattr\s*\(\s*(?:os|subprocess|__builtins__|builtins|sys|shutil)\b|__builtins__|globals\(\)\s*\[|process\.binding|vars\(\w+\)\s*\["
        ),
        "setuid": re.compile(
            r"\bset(?:e|re|res|fs)?[ug]id\s*(?:\(|,?\s*0\b)|\$[<>]\s*=\s*0|\bprctl\b|\bsetgroups\s*\("
        ),
        "library": re.compile(
            r"\bdlopen\b|cdll|CDLL|LoadLibrary|Fiddle|package\.loadlib|DynaLoader|\bLibdl\b|process\.dlopen|load_extension|\bload\s+['\"]?[\w./]+\.so"
        ),
        "serve": re.compile(r"\bhttp\.server|SimpleHTTPServer|-run\s|\bhttpd\b|createServer\s*\(|TCPServer|HTTPServer"),
        "path_method": re.compile(
            r"Path\s*\(\s*" + _STRING + r"\s*\)\s*\.(?:unlink|rmdir|rename|replace|touch|chmod|write_\w+)\s*\(", re.S
        ),
    }
