"""The world of somebody who looks after a few machines: settings, logs, scripts, certificates, releases, backups, a web site."""

from __future__ import annotations

import gzip

from benchmarks.nl2sh_maker import Maker, noise

VISITORS = ("198.51.100.4", "10.2.0.77", "198.51.100.4", "203.0.113.50", "198.51.100.4", "10.2.0.77", "198.51.100.4")
VISITED = ("/cart", "/", "/cart", "/login", "/cart", "/", "/", "/cart", "/images/hero.png", "/login", "/cart")
ANSWERS = (200, 200, 200, 404, 200, 200, 304, 200, 500, 200, 404, 200)


def server(home: str) -> None:
    """A machine of web shop and blog, as its guardian sees it."""
    make = Maker(home)
    _settings(make, "server")
    _tables(make, "server")
    _logs(make, "server/log")
    _scripts(make, "server/scripts")
    _site(make, "server/www")
    _kept(make, "server")
    make.done()


def _settings(make: Maker, s: str) -> None:
    make.lines(
        f"{s}/etc/nginx/nginx.conf",
        "user www-data;",
        "worker_processes 4;",
        "",
        "# how many at once",
        "events {",
        "    worker_connections 1024;",
        "}",
        "",
        "http {",
        "    # small answers",
        "    gzip on;",
        "    keepalive_timeout 65;",
        "    include sites/*.conf;",
        "}",
    )
    make.lines(
        f"{s}/etc/nginx/sites/shop.conf",
        "server {",
        "    listen 80;",
        "    server_name shop.example www.shop.example;",
        "    location /cart { proxy_pass http://127.0.0.1:9001; }",
        "    location /pay { proxy_pass http://127.0.0.1:9002; }",
        "}",
    )
    make.lines(
        f"{s}/etc/nginx/sites/blog.conf",
        "server {",
        "    listen 443 ssl;",
        "    server_name blog.example;",
        "    ssl_certificate /certs/blog.crt;",
        "}",
    )
    make.lines(f"{s}/etc/nginx/sites/wiki.conf.disabled", "server {", "    listen 8090;", "}")
    make.lines(
        f"{s}/etc/ssh/sshd_config",
        "# made by the installer",
        "Port 2222",
        "",
        "#PermitRootLogin yes",
        "PermitRootLogin no",
        "PasswordAuthentication no",
        "",
        "AllowUsers dana eli",
        "#X11Forwarding yes",
    )
    make.lines(
        f"{s}/etc/crontab",
        "# m h dom mon dow command",
        "15 3 * * * /scripts/backup.sh",
        "*/10 * * * * /scripts/check.sh",
        "MAILTO=dana",
        "0 6 * * 1 /scripts/report.pl",
        "#30 1 * * * /scripts/cleanup.sh",
        when="2023-11-05 14:20",
    )
    make.lines(
        f"{s}/etc/app.env",
        "APP_NAME=shop",
        "APP_PORT=9001",
        "DB_HOST=10.2.0.11",
        "DB_USER=shop",
        "CACHE_TTL=300",
        "LOG_LEVEL=debug",
        mode=0o640,
    )
    make.lines(f"{s}/.netrc", "machine files.example login dana", mode=0o600)
    make.lines(f"{s}/www/shop/.htaccess", "Deny from all")


def _tables(make: Maker, s: str) -> None:
    make.lines(
        f"{s}/accounts.txt",
        "root:x:0:0:root:/root:/bin/bash",
        "daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin",
        "www-data:x:33:33:www-data:/var/www:/usr/sbin/nologin",
        "postgres:x:114:120:PostgreSQL:/var/lib/postgresql:/bin/bash",
        "dana:x:1000:1000:Dana Reed:/home/dana:/bin/bash",
        "eli:x:1001:1001:Eli Park:/home/eli:/bin/zsh",
        "mira:x:1002:1002:Mira Sol:/home/mira:/bin/zsh",
        "noor:x:1003:1003:Noor Haddad:/home/noor:/bin/fish",
    )
    make.lines(
        f"{s}/inventory.csv",
        "host;address;system;memory;role",
        "web1;10.2.0.21;debian;8;web",
        "web2;10.2.0.22;debian;12;web",
        "db1;10.2.0.11;ubuntu;64;database",
        "db2;10.2.0.12;ubuntu;32;database",
        "cache1;10.2.0.31;alpine;16;cache",
        "mail1;10.2.0.41;debian;4;mail",
        "build1;10.2.0.51;fedora;24;build",
        "spare1;10.2.0.99;debian;2;",
    )
    make.lines(
        f"{s}/services.txt",
        "nginx 80 running",
        "postgres 5432 running",
        "redis 6379 stopped",
        "smtp 25 running",
        "ftp 21 disabled",
        "grafana 3000 running",
        "mysql 3306 stopped",
    )


def request_lines(count: int) -> list[str]:
    """Lines of the web server's log, the same every time: visitor, time, request, state, bytes."""
    lines = []
    for n in range(count):
        moment = f"{11 + n // 20}/Mar/2024:{n % 20:02}:{n * 17 % 60:02}:{n * 29 % 60:02} +0000"
        method = "POST" if n % 6 == 4 else "GET"
        lines.append(
            f'{VISITORS[n % 7]} - - [{moment}] "{method} {VISITED[n % 11]} HTTP/1.1" {ANSWERS[n * 5 % 12]} {150 + n * 53 % 1200}'
        )
    return lines


def _logs(make: Maker, d: str) -> None:
    make.lines(f"{d}/access.log", *request_lines(48), age=0)
    make.lines(
        f"{d}/syslog",
        "Mar 11 06:25:01 cedar CRON[2201]: (root) CMD (/scripts/check.sh)",
        "Mar 11 06:31:12 cedar sshd[2240]: Accepted publickey for dana from 10.2.0.77 port 50112",
        "Mar 11 06:40:55 cedar sshd[2288]: Failed password for invalid user oracle from 203.0.113.50 port 4411",
        "Mar 11 06:41:02 cedar sshd[2288]: Failed password for invalid user test from 203.0.113.50 port 4412",
        "Mar 11 07:02:19 cedar kernel: eth0: link up",
        "Mar 11 07:15:00 cedar postgres[881]: ERROR: deadlock detected",
        "Mar 11 07:15:01 cedar postgres[881]: connection from 10.2.0.21 closed",
        "Mar 11 08:00:00 cedar systemd[1]: Started daily cleanup",
        age=0,
    )
    make.lines(f"{d}/syslog.1", "Mar 10 06:25:01 cedar CRON[1101]: (root) CMD (/scripts/backup.sh)", age=1)
    old = (
        b"Mar  9 04:00:00 cedar app[77]: read timeout\n"
        b"Mar  9 04:00:09 cedar app[77]: retry\n"
        b"Mar  9 05:10:00 cedar app[77]: write timeout\n"
    )
    make.file(f"{d}/syslog.2.gz", gzip.compress(old, mtime=0), age=8)
    make.lines(
        f"{d}/deploy.log",
        "checking out 1.10.0",
        "BEGIN migration",
        "table orders altered",
        "table users altered",
        "END migration",
        "Traceback (most recent call last):",
        "  File migrate.py, line 9",
        "KeyError: 'total'",
        "rolled back",
        age=6,
    )
    make.lines(f"{d}/nginx/error.log", "[warn] conflicting server name", "[error] upstream timed out", age=5)
    make.file(f"{d}/nginx/unused.log", "", age=200)


def _scripts(make: Maker, d: str) -> None:
    make.lines(f"{d}/backup.sh", "#!/bin/bash", "set -eu", "tar -czf /backups/files.tar.gz /srv", mode=0o755)
    make.lines(f"{d}/check.sh", "#!/bin/sh", "curl -fsS http://127.0.0.1/ > /dev/null", mode=0o644)
    make.lines(f"{d}/cleanup.sh", "#!/bin/sh", "find /tmp -mtime +7 -delete", mode=0o644)
    make.lines(f"{d}/report.pl", "#!/usr/bin/perl", "print qq(fine\\n);", mode=0o755)
    make.lines(f"{d}/migrate.py", "import sys", "print('moved', len(sys.argv))")
    make.lines(f"{d}/lib/common.sh", 'log() { echo "$(date) $*"; }')


def _site(make: Maker, w: str) -> None:
    make.lines(f"{w}/shop/index.php", "<?php include 'head.php'; ?>", "<h1>Shop</h1>")
    make.lines(f"{w}/shop/cart.php", "<?php", "$db = new mysqli('10.2.0.11');", "$db->query('select 1');")
    make.lines(f"{w}/shop/checkout.php", "<?php", "$db = new mysqli('10.2.0.11');", "// TODO taxes")
    make.lines(f"{w}/shop/head.php", "<title>Shop</title>")
    make.lines(f"{w}/shop/css/site.css", "body { margin: 0; }", "a { color: navy; }")
    make.lines(f"{w}/shop/css/print.css", "nav { display: none; }")
    make.lines(f"{w}/shop/js/cart.js", "// TODO remove jquery", "let items = [];")
    make.file(f"{w}/shop/js/vendor/jquery.min.js", noise(31_000, 41))
    make.file(f"{w}/shop/images/hero.png", noise(90_500, 42))
    make.file(f"{w}/shop/images/Banner.PNG", noise(47_000, 43))
    make.file(f"{w}/shop/images/thumb.jpeg", noise(6_200, 44))
    make.lines(f"{w}/shop/images/logo.svg", "<svg/>")
    make.lines(f"{w}/blog/index.html", "<h1>Blog</h1>", '<a href="2023/rain.html">Rain</a>')
    make.lines(f"{w}/blog/2022/snow.html", "<p>Snow again.</p>", when="2022-12-12 12:00")
    make.lines(f"{w}/blog/2023/rain.html", "<p>Rain, rain.</p>", when="2023-04-04 12:00")
    make.lines(f"{w}/blog/feed.xml", "<feed/>")


def _kept(make: Maker, s: str) -> None:
    for number, day in enumerate(("mon", "tue", "wed", "thu", "fri")):
        make.file(
            f"{s}/backups/daily/db-{day}.sql", noise(20_000 + 3_000 * (number * 3 % 5), 50 + number), age=7 - number
        )
    for number in (1, 2, 3):
        dump = "".join(f"insert into orders values ({n * number});\n" for n in range(40))
        make.file(f"{s}/backups/weekly/week{number}.sql.gz", gzip.compress(dump.encode(), mtime=0), age=40 - 7 * number)
    make.file(f"{s}/backups/files.img", noise(260_000, 60), age=70)
    make.file(f"{s}/backups/photos.img", noise(140_000, 61), age=120)
    for version in ("1.4.0", "1.5.0", "1.10.0"):
        make.lines(f"{s}/releases/{version}/VERSION", version)
        make.lines(f"{s}/releases/{version}/notes.txt", f"What is new in {version}", "Faster.")
    make.link(f"{s}/current", "releases/1.10.0")
    make.link(f"{s}/previous", "releases/1.4.0")
    make.link(f"{s}/stable", "releases/1.0.0")
    make.lines(f"{s}/run/nginx.pid", "811")
    make.lines(f"{s}/run/redis.pid", "902")
    make.file(f"{s}/run/app.lock")
    make.file(f"{s}/tmp/sess_a1", "cart=3\n", age=3)
    make.file(f"{s}/tmp/sess_b2", "cart=0\n", age=45)
    make.file(f"{s}/tmp/sess_c3", "", age=90)
    make.file(f"{s}/tmp/upload.part", noise(12_000, 62), age=33)
    make.file(f"{s}/tmp/core.4242", noise(204_800, 63), age=150)
    make.file(f"{s}/certs/shop.key", noise(1_704, 64), mode=0o600)
    make.file(f"{s}/certs/shop.crt", noise(1_310, 65), mode=0o644)
    make.file(f"{s}/certs/blog.key", noise(3_272, 66), mode=0o644)
    make.file(f"{s}/certs/blog.crt", noise(1_980, 67), mode=0o640)
    make.file(f"{s}/certs/root-ca.pem", noise(2_100, 68), mode=0o444)
