"""A browser as far as the pages need one: cookies, and forms with their hidden fields. Scripts are not run."""

import html
import http.client
import http.cookies
import re
import urllib.parse


class FormBrowser:
    """Somebody who visits a network at its public address, through a proxy that terminates TLS."""

    def __init__(self, public_url, port):
        self.origin, self.port, self.cookies = public_url, port, {}
        self.host = urllib.parse.urlsplit(public_url).netloc

    def _send(self, method, target, body=None, **headers):
        headers |= {
            "Host": self.host, "X-Forwarded-Proto": "https", "X-Forwarded-For": "192.0.2.7", "Accept": "text/html",
            "Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items()),
        }
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request(method, target, body, headers)
        response = connection.getresponse()
        for line in response.headers.get_all("set-cookie") or []:
            for name, morsel in http.cookies.SimpleCookie(line).items():
                self.cookies[name] = morsel.value
        text = response.read().decode()
        connection.close()
        return response.status, response.headers.get("location", ""), text

    def get(self, url):
        """The page at a path or at an address of this network."""
        status, location, text = self._send("GET", url.removeprefix(self.origin))
        assert status == 200, f"{url}: {status} {location}\n{text}"
        return text

    def submit(self, page, action, expected=303, **fields):
        """Sends the form of a page; returns where it leads."""
        forms = re.findall(r'<form[^>]*? method="post" action="([^"]*)"[^>]*>(.*?)</form>', page, re.DOTALL)
        form = next(form for leads_to, form in forms if html.unescape(leads_to).split("?")[0] == action)
        target = next(html.unescape(leads_to) for leads_to, own in forms if own == form)
        hidden = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', form)
        body = urllib.parse.urlencode({name: html.unescape(value) for name, value in hidden} | fields)
        status, location, text = self._send(
            "POST", target, body, Origin=self.origin, **{"Content-Type": "application/x-www-form-urlencoded"}
        )
        assert status == expected, f"{target}: {status}\n{text}"
        return location

    def press(self, page, verb):
        """Presses a button below a post or on a profile."""
        values = re.findall(rf'name="act" value="({verb} \d+)"', page)
        assert values, f"no button {verb} on {page}"
        return self.submit(page, "/i/actions", act=values[0])
