"""A person with a browser, for the suites of client libraries: pages, their forms, cookies."""

import html.parser
import urllib.parse

import requests


class _Forms(html.parser.HTMLParser):
    """The forms of a page, and the text of what is marked with a class."""

    def __init__(self, page):
        super().__init__()
        self.forms, self.pin, self.depth = [], "", 0
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "form":
            self.forms.append((attributes["action"], {}))
        elif tag == "input" and self.forms:
            self.forms[-1][1][attributes["name"]] = attributes.get("value", "")
        if self.depth or "pin" in attributes.get("class", "").split():
            self.depth += 1

    def handle_endtag(self, tag):
        self.depth = max(0, self.depth - 1)

    def handle_data(self, data):
        if self.depth:
            self.pin += data.strip()


class Browser:
    """Goes where it is sent until that is away from the server."""

    def __init__(self, server, username="ada", password="dev"):
        self.server, self.username, self.password = server, username, password
        self.session = requests.Session()
        self.page = None

    def open(self, url):
        """Opens an address of the public service, or of the server; where it ended up elsewhere."""
        parts = urllib.parse.urlsplit(url)
        return self._follow("GET", urllib.parse.urlunsplit(("", "", parts.path, parts.query, "")))

    def _follow(self, method, path, data=None):
        while True:
            url = urllib.parse.urljoin(self.server.url, path)
            headers = {"Origin": self.server.url} if method == "POST" else {}
            answer = self.session.request(
                method, url, data=data, headers=headers, allow_redirects=False
            )
            if answer.status_code not in (302, 303):
                self.page = answer
                return None
            method, data, path = "GET", None, answer.headers["Location"]
            if not path.startswith("/"):
                return path

    def submit(self, **fields):
        """Fills the page's form in and sends it."""
        action, hidden = _Forms(self.page.text).forms[-1]
        return self._follow("POST", action, hidden | fields)

    def authorize(self, url, decision="allow"):
        """Signs in where that is asked for, and answers the app; the address it is sent to."""
        back = self.open(url)
        if back is None and 'name="password"' in self.page.text:
            back = self.submit(login=self.username, password=self.password)
        return back or self.submit(decision=decision)

    def pin(self):
        """The PIN that the page shows."""
        return _Forms(self.page.text).pin
