"""Worlds of tables, lists and logs, with contents that have one right answer."""

from __future__ import annotations

import gzip

from benchmarks.nl2sh_maker import Maker

PEOPLE = """\
id,name,department,salary,city
1,Alice Moore,Engineering,82000,Berlin
2,Bob Stone,Sales,54000,Paris
3,Carla Diaz,Engineering,91000,Madrid
4,Dan Ives,Support,41000,Paris
5,Eva Lind,Sales,58000,Oslo
6,Finn Berg,Engineering,77000,Berlin
7,Gina Rossi,Marketing,62000,Rome
8,Hugo Kent,Support,39000,Berlin
9,Ida Holm,Marketing,66000,Oslo
10,Jon Park,Sales,54000,Paris
"""
SALES = """\
date,region,product,units,price
2024-01-05,north,apple,10,1.50
2024-01-06,south,pear,4,2.00
2024-01-06,north,plum,7,3.25
2024-01-09,west,apple,12,1.50
2024-02-01,south,apple,3,1.50
2024-02-03,east,plum,9,3.25
2024-02-14,north,pear,5,2.00
2024-03-01,west,plum,2,3.25
2024-03-08,south,apple,8,1.50
"""


def data(home: str) -> None:
    """Tables, lists and texts."""
    make = Maker(home)
    d = "data"
    make.file(f"{d}/employees.csv", PEOPLE)
    make.file(f"{d}/sales.csv", SALES)
    make.lines(f"{d}/grades.tsv", "student\tmath\tart", "zoe\t71\t90", "adam\t88\t64", "mia\t93\t85", "leo\t55\t77")
    make.lines(f"{d}/stock.txt", "bolt 120 0.10", "nut 80 0.05", "screw 200 0.08", "washer 40 0.02", "hinge 15 2.50")
    make.lines(f"{d}/fruits.txt", "banana", "apple", "cherry", "apple", "date", "banana", "apple", "elderberry")
    make.lines(f"{d}/numbers.txt", "42", "7", "100", "3", "19", "7", "256", "88")
    make.lines(f"{d}/decimals.txt", "1.5", "2.25", "0.75", "10.5")
    make.lines(f"{d}/names.txt", "Lovelace Ada", "Turing Alan", "Hopper Grace", "Dijkstra Edsger", "Hamilton Margaret")
    make.lines(
        f"{d}/poem.txt",
        "The morning sun climbs over the hill",
        "and the river answers in silver.",
        "",
        "Nothing moves but the wind,",
        "the wind and the small grey bird.",
        "",
        "The sun will go, the wind will stay.",
    )
    make.lines(
        f"{d}/emails.txt",
        "ada@example.org",
        "bob@mail.example",
        "not an address",
        "carl@example.org",
        "ADA@example.org",
    )
    make.lines(f"{d}/old_list.txt", "ant", "bee", "cat", "dog", "eel")
    make.lines(f"{d}/new_list.txt", "ant", "bear", "cat", "dog", "fox")
    make.lines(f"{d}/left.txt", "1 red", "2 green", "3 blue")
    make.lines(f"{d}/right.txt", "1 apple", "2 leaf", "3 sky")
    make.file(f"{d}/dos.txt", "first line\r\nsecond line\r\nthird line\r\n")
    make.file(f"{d}/tabs.txt", "one\ttwo\tthree\nfour\tfive\tsix\n")
    make.lines(
        f"{d}/spaces.txt", "too   many    blanks", "trailing blanks   ", "   leading blanks", "", "", "fine line"
    )
    make.lines(
        f"{d}/config.conf",
        "# main settings",
        "port=8080",
        "host=localhost",
        "",
        "# paths",
        "root=/srv/www",
        "debug=false",
    )
    make.lines(
        f"{d}/hosts.txt", "10.0.0.5 web1", "10.0.0.7 web2", "192.168.1.20 printer", "10.0.0.5 web1", "172.16.0.9 db"
    )
    make.lines(
        f"{d}/users.txt",
        "root:x:0:0:root:/root:/bin/bash",
        "dana:x:1000:1000:Dana Reed:/home/dana:/bin/bash",
        "bin:x:2:2:bin:/bin:/usr/sbin/nologin",
        "mail:x:8:8:mail:/var/mail:/usr/sbin/nologin",
        "eli:x:1001:1001:Eli Park:/home/eli:/bin/zsh",
    )
    make.lines(f"{d}/letters.txt", *"dacbfe")
    make.lines(f"{d}/versions.txt", "1.10.0", "1.2.0", "1.9.3", "2.0.1", "1.2.10")
    make.lines(f"{d}/sizes.txt", "10K a", "2M b", "512 c", "1G d", "300K e")
    make.lines(f"{d}/months.txt", "Mar", "Jan", "Dec", "Feb")
    make.lines(
        f"{d}/page.html",
        "<h1>News</h1>",
        '<a href="https://one.example/a">One</a>',
        '<a href="https://two.example/b">Two</a>',
        "<!-- draft -->",
    )
    make.file(f"{d}/nonewline.txt", "first\nlast without newline")
    make.file(f"{d}/blob.bin", bytes(range(256)) * 4)
    _json(make, d)
    make.done()


def _json(make: Maker, d: str) -> None:
    make.lines(
        f"{d}/people.json",
        '[{"name": "Ann", "age": 31, "email": "ann@example.org", "tags": ["admin", "dev"]},',
        ' {"name": "Ben", "age": 25, "email": "ben@example.org", "tags": []},',
        ' {"name": "Cleo", "age": 44, "email": "cleo@example.org", "tags": ["dev"]}]',
    )
    make.lines(
        f"{d}/shop.json",
        '{"shop": {"name": "Orchard", "open": true, "address": {"city": "Oslo", "zip": "0150"}}, "items": ['
        '{"sku": "A1", "price": 3.5, "qty": 10}, {"sku": "B2", "price": 12, "qty": 0}, {"sku": "C3", "price": 7.25, "qty": 4}]}',
    )
    make.lines(
        f"{d}/events.jsonl",
        '{"id": 1, "type": "login", "user": "ann"}',
        '{"id": 2, "type": "buy", "user": "ben"}',
        '{"id": 3, "type": "login", "user": "cleo"}',
        '{"id": 4, "type": "logout", "user": "ann"}',
    )


ADDRESSES = ("10.1.1.4", "10.1.1.9", "172.20.0.3", "10.1.1.4", "192.168.7.7", "10.1.1.4", "172.20.0.3")
PAGES = ("/", "/login", "/apples", "/apples/7", "/static/app.js", "/admin")
STATES = (200, 200, 404, 200, 301, 500, 200, 403, 200)
AGENTS = ("Mozilla/5.0", "curl/8.5", "bot/1.0")


def access_lines(count: int) -> list[str]:
    """Lines of a web server's log, the same every time."""
    lines = []
    for n in range(count):
        moment = f"{1 + n // 24:02}/May/2024:{n % 24:02}:{n * 7 % 60:02}:{n * 13 % 60:02} +0000"
        method = "POST" if n % 5 == 1 else "GET"
        page, state = PAGES[n * n % 6], STATES[n * 4 % 9]
        lines.append(
            f'{ADDRESSES[n % 7]} - - [{moment}] "{method} {page} HTTP/1.1" {state} {200 + n * 37 % 900} "-" "{AGENTS[n % 3]}"'
        )
    return lines


def logs(home: str) -> None:
    """Logs of servers, new and rotated."""
    make = Maker(home)
    d = "logs"
    make.lines(f"{d}/access.log", *access_lines(60), age=0)
    levels = ("INFO", "INFO", "DEBUG", "WARN", "INFO", "ERROR", "INFO", "DEBUG")
    words = (
        "user logged in",
        "cache hit",
        "query took 12 ms",
        "disk at 91%",
        "job 17 done",
        "connection refused",
        "job 18 done",
        "heartbeat",
    )
    make.lines(
        f"{d}/app.log",
        *(
            f"2024-05-{1 + n // 8:02} {8 + n % 8:02}:{n * 11 % 60:02}:00 [{levels[n * 5 % 8]}] worker-{n % 3}: {words[n * 5 % 8]}"
            for n in range(40)
        ),
        age=0,
    )
    make.lines(
        f"{d}/auth.log",
        "May  3 10:01:02 cedar sshd[811]: Accepted password for dana from 10.0.0.5 port 5022",
        "May  3 10:04:40 cedar sshd[815]: Failed password for root from 203.0.113.9 port 4022",
        "May  3 10:04:44 cedar sshd[815]: Failed password for root from 203.0.113.9 port 4022",
        "May  3 10:05:01 cedar CRON[900]: session opened for user root",
        "May  3 11:30:09 cedar sshd[950]: Failed password for admin from 198.51.100.7 port 6001",
        "May  3 12:00:00 cedar sudo: dana : COMMAND=/usr/bin/apt-get update",
        age=2,
    )
    for month in range(1, 5):
        make.lines(
            f"{d}/old/app-2023-0{month}.log",
            f"2023-0{month}-01 start",
            f"2023-0{month}-15 ERROR number {month}",
            f"2023-0{month}-28 stop",
            when=f"2023-0{month}-28 23:00",
        )
    packed = gzip.compress("\n".join(access_lines(12)).encode() + b"\n", mtime=0)
    make.file(f"{d}/old/access.log.2.gz", packed, when="2024-01-02 00:00")
    make.lines(f"{d}/mail.log", "queued", "sent", "sent", "bounced", "sent", "deferred", age=33)
    make.lines(f"{d}/service/db.log", "ready", "checkpoint", "ERROR deadlock detected", "checkpoint", age=8)
    make.lines(f"{d}/service/web.log", "ready", "warning: slow", "error: upstream closed", "Warning: slow", age=1)
    make.file(f"{d}/service/idle.log", "", age=15)
    make.lines(
        f"{d}/trace.txt",
        "begin",
        "step 1",
        "Traceback (most recent call last):",
        "  File main.py, line 3",
        "ValueError: bad input",
        "end",
        age=5,
    )
    make.done()
