"""Open pull requests on GitHub, or on a GitHub Enterprise server, by its REST interface.

The token goes to the interface's own host and into no log, address or error: `HttpClient` hides it in whatever a server says.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlsplit

import msgspec

from agent.protocol.actions import OpenPullRequest, PullRequest
from agent.protocol.errors import IoError, ProviderError
from agent.providers.http import Deadline, HttpClient
from agent.providers.settings import Endpoint, HttpSettings, checked, is_loopback_host
from agent.struct_types import built

_SECONDS = 60.0
_HEADERS = {"accept": "application/vnd.github+json", "x-github-api-version": "2022-11-28"}
_SHORT_ADDRESS = re.compile(r"(?:[\w.-]+@)?([\w.-]+):(?!//)/?(.*)")
_REPOSITORY = re.compile(r"/?([A-Za-z0-9_.-]{1,100})/([A-Za-z0-9_.-]{1,100}?)(?:\.git)?/?")


class _Head(msgspec.Struct):
    ref: str = ""


class _Pull(msgspec.Struct):
    """As much of a pull request as is needed."""

    number: int
    html_url: str
    head: _Head


@dataclass(frozen=True)
class GitHub:
    """`token(host)`: the key for a host, "" for none. `enterprise`: a host beside github.com that is one (`GH_HOST`)."""

    token: Callable[[str], str]
    enterprise: str = ""
    settings: HttpSettings = field(default_factory=HttpSettings)

    def place(self, remote: str) -> str:
        """Return "host/owner/name" for the address of a remote; "" where that is not GitHub, or there is no token for it."""
        host, path = _parts(remote)
        found = _REPOSITORY.fullmatch(path)
        if not found or ".." in (found[1], found[2]) or not self._interface(host) or not self.token(host):
            return ""
        return f"{host}/{found[1]}/{found[2]}"

    async def open(self, action: OpenPullRequest) -> PullRequest:
        """Open one, or write the texts of the open one anew. Raises IoError."""
        host, owner, name = action.where.split("/")
        given = Endpoint(name=host, base_url=self._interface(host), api_key=self.token(host))
        if not given.api_key:
            raise IoError(f"there is no token for {host}", hint="GITHUB_TOKEN, or a secret of that name in the vault")
        endpoint = checked(given, self.settings)
        key = {"authorization": f"Bearer {endpoint.api_key}"}
        client = HttpClient(endpoint, self.settings, headers={**_HEADERS, **key})
        try:
            return await _Pulls(client, f"/repos/{owner}/{name}/pulls", owner).open(action)
        except ProviderError as error:
            raise IoError(error.message, hint=_hint(error, host, f"{owner}/{name}")) from None
        finally:
            await client.aclose()

    def _interface(self, host: str) -> str:
        """Return the address of the interface of a host, "" where it is not GitHub."""
        if host == "github.com":
            return "https://api.github.com"
        if host.endswith(".ghe.com"):
            return f"https://api.{host}"
        if host and host == self.enterprise.lower():
            plain = is_loopback_host(host.partition(":")[0])
            return f"{'http' if plain else 'https'}://{host}/api/v3"
        return ""


@dataclass(frozen=True)
class _Pulls:
    """The pull requests of one repository. Raises ProviderError."""

    client: HttpClient
    path: str
    owner: str

    async def open(self, action: OpenPullRequest) -> PullRequest:
        known = await self._find(action)
        texts = {"title": action.title, "body": action.body}
        if known is None:
            try:
                made = await self._ask("POST", self.path, {**texts, "head": action.branch, "base": action.base}, _Pull)
                return PullRequest(url=made.html_url, number=made.number, created=True)
            except ProviderError as error:
                known = await self._find(action) if error.status == 422 else None  # somebody was quicker
                if known is None:
                    raise
        await self._ask("PATCH", f"{self.path}/{known.number}", texts, _Pull)
        return PullRequest(url=known.html_url, number=known.number, created=False)

    async def _find(self, action: OpenPullRequest) -> _Pull | None:
        """Return the open one for the branch."""
        query = f"?state=open&head={quote(f'{self.owner}:{action.branch}', safe='')}&per_page=100"
        found = await self._ask("GET", self.path + query, None, list[_Pull])
        return next((each for each in found if each.head.ref == action.branch), None)

    async def _ask(self, method: str, path: str, body: dict[str, Any] | None, shape: Any) -> Any:
        sent = None if body is None else msgspec.json.encode(body)
        async with self.client.request(method, path, sent, Deadline(_SECONDS)) as response:
            data = await response.read()
        try:
            return msgspec.json.decode(data, type=built(shape))
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            raise ProviderError(self.client.endpoint.name, "answered with something that is no pull request") from None


def _parts(remote: str) -> tuple[str, str]:
    """Return host (with its port where one is named for http) and path of an address; a user name or password in it is left out."""
    if "://" not in remote:
        short = _SHORT_ADDRESS.fullmatch(remote)
        return (short[1].lower(), short[2]) if short else ("", "")
    try:
        parts = urlsplit(remote)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError:
        return "", ""
    if parts.scheme not in ("http", "https", "ssh", "git"):
        return "", ""
    return (f"{host}:{port}" if port and parts.scheme in ("http", "https") else host), parts.path


def _hint(error: ProviderError, host: str, repository: str) -> str:
    """Say what to do about it."""
    text = error.message.lower()
    if error.status == 429 or (error.status == 403 and "rate limit" in text):
        wait = f" in {error.retry_after:.0f} s" if error.retry_after else " later"
        return f"{host} takes no more requests for now; try again{wait}"
    if error.status == 401:
        return f"the token for {host} is not accepted; it may have expired"
    if error.status in (403, 404):
        return f"the token has to be allowed to read {repository} and to write its pull requests"
    if error.status == 422:
        return "the branch has to be pushed, and to differ from its base"
    return error.hint if error.status is None else ""
