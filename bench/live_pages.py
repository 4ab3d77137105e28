#!/usr/bin/env python3
"""Measures the share of a core that open home timelines cost while nobody posts: each waits for new posts.

    bench/live_pages.py BINARY [PAGES]

PAGES is 1,000 by default, of as many members as are needed.
"""

import http.cookiejar
import os
import re
import socket
import sys
import time
import urllib.parse
import urllib.request

# Also finds the package of the server for Python.
from emulator import Server, cpu_seconds

# What the server allows each member.
PAGES_OF_MEMBER = 4
# Seconds that are measured, and until a server has come to rest.
MEASURED, SETTLING = 60, 15
SETTINGS = ["--rate-limits", "off"]
for setting in ("listen.trusted_proxies=127.0.0.1", "listen.max_connections=20000", "journal.size=0"):
    SETTINGS += ["--set", setting]


def sign_in(server, username, password, address):
    """The cookies of a member who has signed in."""
    jar = http.cookiejar.CookieJar()
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
    opener.addheaders = [("X-Forwarded-For", address)]
    page = opener.open(f"{server.url}/login").read().decode()
    hidden = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page))
    form = urllib.parse.urlencode({**hidden, "login": username, "password": password})
    opener.open(f"{server.url}/login", form.encode())
    return "; ".join(f"{cookie.name}={cookie.value}" for cookie in jar)


def open_page(server, cookies, address):
    """The connection of an open page, past the head of the response."""
    url = urllib.parse.urlsplit(server.url)
    connection = socket.create_connection((url.hostname, url.port), timeout=30)
    head = ["GET /home/live?after=0 HTTP/1.1", f"Host: {url.netloc}", f"Cookie: {cookies}", f"X-Forwarded-For: {address}"]
    connection.sendall("\r\n".join([*head, "", ""]).encode())
    answer = connection.recv(4096)
    if b" 200 " not in answer.split(b"\r\n")[0]:
        sys.exit(answer.decode())
    return connection


def main():
    binary, count = os.path.abspath(sys.argv[1]), int((sys.argv[2:] or ["1000"])[0])
    with Server(binary=binary, world="empty", arguments=SETTINGS) as server:
        pid, pages = server._process.pid, []
        for number in range(-(-count // PAGES_OF_MEMBER)):
            username, address = f"reader{number}", f"198.18.{number // 250}.{number % 250 + 1}"
            password = f"harbour lights {number} at night"
            server.main.run_command("user", "create", username, "--password", password)
            cookies = sign_in(server, username, password, address)
            pages += [open_page(server, cookies, address) for _ in range(PAGES_OF_MEMBER)]
        time.sleep(SETTLING)
        before = cpu_seconds(pid)
        time.sleep(MEASURED)
        share = (cpu_seconds(pid) - before) / MEASURED
        print(f"{len(pages)} open pages while nobody posts: {share:.2%} of a core")
        for page in pages:
            page.close()
        time.sleep(SETTLING)
        before = cpu_seconds(pid)
        time.sleep(MEASURED)
        print(f"the same server without open pages: {(cpu_seconds(pid) - before) / MEASURED:.2%} of a core")


if __name__ == "__main__":
    main()
