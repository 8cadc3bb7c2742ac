"""Judge PowerShell code by what its cmdlets would do."""

from __future__ import annotations

import base64
import binascii
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from agent.risk.inline.programs import suspect_text
from agent.risk.reader.invocation import Invocation
from agent.risk.reader.words import UNKNOWN, Word

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_READS = re.compile(
    r"(?:get|select|where|sort|group|measure|format|test|compare|write-(?:output|host|verbose)|out-(?:string|host|null|default)|convertto|"
    r"convertfrom|foreach|show|resolve|join-path|split-path|import-csv|find)(?:-|\b)|[$@\"'(\d]|%|\?|echo\b|ls\b|dir\b|cat\b|gci\b|gc\b|pwd\b|ps\b"
    r"|if\b|else|\}|\{|function\b|param\b|return\b|#",
    re.I,
)


@lru_cache(maxsize=1)
def _effects() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Kinds of effect, with what shows them."""
    return tuple(
        (kind, re.compile(pattern, re.I))
        for kind, pattern in (
            ("reverse-shell", r"TCPClient|TcpListener|Sockets\.Socket"),
            (
                "security-off",
                r"DisableRealtimeMonitoring|Add-MpPreference\s.*Exclusion|AmsiUtils|amsiInitFailed|Set-NetFirewallProfile.*False",
            ),
            (
                "erase-log",
                r"Clear-(?:EventLog|History|RecycleBin)|wevtutil\s+cl|Remove-EventLog|HistorySaveStyle\s+SaveNothing",
            ),
            ("device-write", r"Format-Volume|Clear-Disk|Initialize-Disk|Remove-Partition"),
            ("power", r"Stop-Computer|Restart-Computer"),
            ("account", r"(?:New|Remove|Set|Enable|Disable)-LocalUser|Add-LocalGroupMember|net\s+user\s"),
            ("persist", r"(?:New|Register)-ScheduledTask|New-Service|CurrentVersion\\Run|New-ItemProperty.*\\Run"),
            ("kill", r"Stop-Process|\bspps\b|\bkill\b"),
            ("service-stop", r"Stop-Service|Remove-Service|Set-Service.*Disabled"),
            ("package-install", r"Install-(?:Module|Package|Script)"),
            (
                "secret",
                r"Get-Credential|SecureString|Export-PfxCertificate|Get-Secret\b|gci\s+env:|Get-ChildItem\s+env:",
            ),
            ("send", r"-Method\s+(?:Post|Put)|UploadString|UploadFile|Send-MailMessage"),
            (
                "download",
                r"Invoke-WebRequest|\biwr\b|Invoke-RestMethod|\birm\b|DownloadFile|DownloadString|Start-BitsTransfer",
            ),
        )
    )


def decoded(text: str) -> str:
    try:
        return base64.b64decode(text + "===").decode("utf-16-le", "replace")
    except (binascii.Error, ValueError):
        return UNKNOWN


def judge_cmdlets(walker: Walker, invocation: Invocation, code: str) -> None:
    """Findings for PowerShell code; none for code that only gets, filters and shows."""
    place = invocation.place
    if UNKNOWN in code:
        walker.add("run-opaque", [], place)
    found = False
    for kind, pattern in _effects():
        if pattern.search(code):
            found = True
            walker.add(kind, [], place, rule=f"{kind}.powershell")
    if re.search(r"\biex\b|Invoke-Expression|\.Invoke\(|ScriptBlock\]::Create", code, re.I):
        fetched = re.search(r"Download|WebClient|\biwr\b|\birm\b|Invoke-(?:WebRequest|RestMethod)", code, re.I)
        walker.add("run-remote" if fetched else "run-opaque", [], place)
        return
    if re.search(r"FromBase64String|-join\s*\[char", code, re.I):
        walker.add("run-decoded", [], place)
    for match in re.finditer(r"(?:Remove-Item|\brm|\bri|\bdel|\brmdir|\berase)\s+([^;|\n]*)", code, re.I):
        found = True
        paths = [
            re.sub(r"^[A-Za-z]:", "", part.strip("\"'")) or "/" for part in match.group(1).split() if part[0] != "-"
        ]
        deep = re.search(r"-r(?:ecurse|ec)?\b", match.group(1), re.I) is not None
        words = [
            Word(path.replace("\\", "/"), *place, glob="*" in path) for path in paths[:4] if path[0] not in "01234567$"
        ]
        walker.add(
            "delete", words or [Word(UNKNOWN, *place, taint="var")], place, recursive=deep, invocation=invocation
        )
    suspect_text(walker, invocation, code)  # programs that are no cmdlets run as in any shell
    parts = [part.strip() for part in re.split(r"[;|\n]", code) if part.strip()]
    if not found and any(_READS.match(part) is None for part in parts):
        walker.add("run", [Word("PowerShell code", *place)], place, rule="run.powershell")
