"""A real HTTP server on loopback that speaks GitHub's documented interface for pull requests, or fails as it is told to."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit


@dataclass(frozen=True)
class Answer:
    """Given instead of what the interface would answer; `drop`: the connection just ends."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    drop: bool = False


class GitHubServer:
    """`pulls` are those of ada/project; `token` is accepted. `answers` are given first, one a request, None for the usual one."""

    def __init__(self, token: str = "ghp_" + "s3cret" * 6) -> None:
        self.token = token
        self.pulls: list[dict[str, Any]] = []
        self.answers: list[Answer | None] = []
        self.requests: list[tuple[str, str, dict[str, str], Any]] = []
        self.unpushed: set[str] = set()

    def __enter__(self) -> GitHubServer:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *words: Any) -> None:
                pass

            def _any(self) -> None:
                length = int(self.headers.get("content-length") or 0)
                body = json.loads(self.rfile.read(length)) if length else None
                outer.requests.append((self.command, self.path, dict(self.headers.items()), body))
                answer = outer.answers.pop(0) if outer.answers else None
                answer = answer or outer.answer(self.command, self.path, self.headers, body)
                if answer.drop:
                    self.close_connection = True
                    return
                data = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
                self.send_response(answer.status)
                for name, value in {
                    "content-type": "application/json; charset=utf-8",
                    "content-length": str(len(data)),
                    **answer.headers,
                }.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_PATCH = _any

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self._server.server_address[1]}"

    @property
    def remote(self) -> str:
        return f"http://{self.host}/ada/project.git"

    def answer(self, method: str, path: str, headers: Any, body: Any) -> Answer:
        if headers.get("authorization") != f"Bearer {self.token}":
            return Answer(401, {"message": "Bad credentials", "documentation_url": "https://docs.github.com/rest"})
        assert headers["accept"] == "application/vnd.github+json" and headers["x-github-api-version"] == "2022-11-28"
        parts = urlsplit(path)
        base = "/api/v3/repos/ada/project/pulls"
        if not parts.path.startswith(base):
            return Answer(404, {"message": "Not Found"})
        if method == "GET":
            query = parse_qs(parts.query)
            head = query["head"][0]
            found = [each for each in self.pulls if each["state"] in query["state"] and each["head"]["label"] == head]
            return Answer(200, found)
        if method == "POST":
            return self._create(body)
        number = int(parts.path.rpartition("/")[2])
        pull = next(each for each in self.pulls if each["number"] == number)
        pull.update({key: body[key] for key in ("title", "body") if key in body})
        return Answer(200, pull)

    def _create(self, body: dict[str, Any]) -> Answer:
        def refused(message: str) -> Answer:
            error = {"resource": "PullRequest", "code": "custom", "message": message}
            return Answer(422, {"message": "Validation Failed", "errors": [error]})

        if body["head"] in self.unpushed:
            return refused(f"No commits between {body['base']} and {body['head']}")
        label = f"ada:{body['head']}"
        if any(each["head"]["label"] == label and each["state"] == "open" for each in self.pulls):
            return refused(f"A pull request already exists for {label}.")
        return Answer(201, self.add(body))

    def add(self, body: dict[str, Any], state: str = "open") -> dict[str, Any]:
        number = len(self.pulls) + 1
        pull = {
            "number": number,
            "html_url": f"https://{self.host}/ada/project/pull/{number}",
            "state": state,
            "title": body.get("title", ""),
            "body": body.get("body", ""),
            "head": {"ref": body["head"], "label": f"ada:{body['head']}", "sha": "0" * 40},
            "base": {"ref": body.get("base", "main")},
        }
        self.pulls.append(pull)
        return pull
