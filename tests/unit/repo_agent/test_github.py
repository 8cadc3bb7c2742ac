"""Pull requests on GitHub, against a real server that speaks its documented interface."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from agent.protocol.actions import OpenPullRequest, PullRequest
from agent.protocol.errors import ConfigError, IoError
from agent.providers.settings import HttpSettings
from agent.repo_agent.github import GitHub
from tests.support.each import each
from tests.support.github_server import Answer, GitHubServer


@pytest.fixture
def server() -> Iterator[GitHubServer]:
    with GitHubServer() as server:
        yield server


def github(server: GitHubServer, token: str | None = None) -> GitHub:
    key = server.token if token is None else token
    return GitHub(lambda host: key if host == server.host else "", server.host, HttpSettings(max_retries=0))


def action(server: GitHubServer, title: str = "feat(task 10): Greet", body: str = "Ünï\n") -> OpenPullRequest:
    where = github(server).place(server.remote)
    return OpenPullRequest(root="/r", where=where, branch="agent/task-10", base="main", title=title, body=body)


def opened(server: GitHubServer, given: OpenPullRequest | None = None) -> PullRequest:
    return asyncio.run(github(server).open(given or action(server)))


def failed(server: GitHubServer) -> IoError:
    with pytest.raises(IoError) as caught:
        opened(server)
    said = f"{caught.value.message} {caught.value.hint} {caught.value!r}"
    assert server.token not in said and caught.value.__cause__ is None
    return caught.value


@pytest.mark.covers("S2-11", "S2-23")
def test_one_is_opened_with_title_body_head_and_base(server: GitHubServer) -> None:
    done = opened(server)
    assert done == PullRequest(url=f"https://{server.host}/ada/project/pull/1", number=1, created=True)
    assert [(method, path.partition("?")[0]) for method, path, _, _ in server.requests] == [
        ("GET", "/api/v3/repos/ada/project/pulls"),
        ("POST", "/api/v3/repos/ada/project/pulls"),
    ]
    assert server.requests[1][3] == {
        "title": "feat(task 10): Greet", "body": "Ünï\n", "head": "agent/task-10", "base": "main"
    }  # fmt: skip
    assert all(server.token not in path for _, path, _, _ in server.requests)


def test_the_open_one_of_the_branch_gets_the_new_texts(server: GitHubServer) -> None:
    opened(server)
    again = opened(server, action(server, "new title", "new body"))
    assert (again.number, again.created, len(server.pulls)) == (1, False, 1)
    assert (server.pulls[0]["title"], server.pulls[0]["body"]) == ("new title", "new body")


def test_closed_ones_and_those_of_other_branches_do_not_count(server: GitHubServer) -> None:
    server.add({"head": "agent/task-10"}, state="closed")
    server.add({"head": "agent/task-1"})
    assert opened(server).number == 3


def test_a_server_that_ignores_the_filter_does_not_make_us_write_to_another(server: GitHubServer) -> None:
    other = server.add({"head": "agent/task-1", "title": "keep"})
    server.answers = [Answer(200, [other])]
    assert opened(server).created
    assert server.pulls[0]["title"] == "keep"


def test_one_that_somebody_opens_meanwhile_is_taken(server: GitHubServer) -> None:
    server.add({"head": "agent/task-10"})
    server.answers = [Answer(200, [])]
    assert (opened(server).created, len(server.pulls)) == (False, 1)


@pytest.mark.parametrize(
    ("answer", "said", "hint"),
    [
        (Answer(401, {"message": "Bad credentials"}), "401", "may have expired"),
        (Answer(403, {"message": "Resource not accessible by personal access token"}), "not accessible", "allowed"),
        (Answer(403, {"message": "API rate limit exceeded for user"}), "rate limit", "no more requests for now"),
        (Answer(429, {"message": "slow down"}, {"retry-after": "30"}), "429", "in 30 s"),
        (Answer(404, {"message": "Not Found"}), "404", "ada/project"),
        (Answer(500, {"message": "oops"}), "500", ""),
        (Answer(200, b"<html>login</html>"), "no pull request", ""),
        (Answer(200, [{"number": "x"}]), "no pull request", ""),
        (Answer(301, {}, {"location": "http://elsewhere.example/"}), "moved", ""),
        (Answer(drop=True), "broke", ""),
    ],
)
def test_what_goes_wrong_is_said_with_what_to_do(server: GitHubServer, answer: Answer, said: str, hint: str) -> None:
    server.answers = [answer]
    error = failed(server)
    assert said in error.message and hint in error.hint


def test_what_the_server_finds_wrong_with_it_is_said(server: GitHubServer) -> None:
    server.unpushed.add("agent/task-10")
    error = failed(server)
    assert "No commits between main and agent/task-10" in error.message and "has to be pushed" in error.hint


def test_a_server_that_quotes_the_token_does_not_give_it_away(server: GitHubServer) -> None:
    server.answers = [Answer(400, {"message": f"what is {server.token}?"})]
    assert "[key]" in failed(server).message


def test_the_token_goes_nowhere_but_to_the_interface(server: GitHubServer) -> None:
    with GitHubServer() as elsewhere:
        server.answers = [Answer(307, {}, {"location": f"http://{elsewhere.host}/api/v3/repos/ada/project/pulls"})]
        failed(server)
        assert elsewhere.requests == []


def test_without_a_token_nothing_is_asked(server: GitHubServer) -> None:
    with pytest.raises(IoError, match="no token"):
        asyncio.run(github(server, "").open(action(server)))
    assert server.requests == []


def test_a_key_does_not_cross_the_internet_unencrypted() -> None:
    hub = GitHub(lambda host: "k" * 20, "127.0.0.1.evil.example", HttpSettings())
    assert hub._interface("127.0.0.1.evil.example").startswith("https://")
    with pytest.raises((IoError, ConfigError)):
        asyncio.run(
            hub.open(OpenPullRequest(root="/", where="other.example/a/b", branch="x", base="y", title="", body=""))
        )


@each(
    ("remote", "place"),
    [
        ("https://github.com/ada/project.git", "github.com/ada/project"),
        ("https://github.com/ada/project", "github.com/ada/project"),
        ("https://ada:ghp_x@github.com/ada/project.git", "github.com/ada/project"),
        ("https://GitHub.com/ada/project/", "github.com/ada/project"),
        ("git@github.com:ada/project.git", "github.com/ada/project"),
        ("github.com:ada/pro.ject.git", "github.com/ada/pro.ject"),
        ("ssh://git@github.com:22/ada/project.git", "github.com/ada/project"),
        ("https://acme.ghe.com/ada/project", "acme.ghe.com/ada/project"),
        ("git@git.acme.example:ada/project.git", "git.acme.example/ada/project"),
        ("https://gitlab.com/ada/project.git", ""),
        ("https://github.com.evil.example/ada/project.git", ""),
        ("https://evil.example/github.com/ada/project.git", ""),
        ("https://github.com@evil.example/ada/project.git", ""),
        ("https://github.com/ada/../project", ""),
        ("https://github.com/ada", ""),
        ("https://github.com/a/b/c", ""),
        ("https://github.com/ada/proj?x=ect", "github.com/ada/proj"),
        ("https://github.com:8443/ada/project", ""),
        ("https://github.com:x/ada/project", ""),
        ("/srv/git/project.git", ""),
        ("file:///srv/github.com/ada/project.git", ""),
        ("../project.git", ""),
        ("", ""),
    ],
)
def test_the_address_of_a_remote_says_where(remote: str, place: str) -> None:
    assert GitHub(lambda host: "k", "git.acme.example").place(remote) == place
    assert GitHub(lambda host: "", "git.acme.example").place(remote) == ""
