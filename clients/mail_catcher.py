"""A mail server that keeps what it gets."""

import quopri
import socketserver
import threading
import time


class _Handler(socketserver.StreamRequestHandler):
    def handle(self):
        self._say("220 catcher")
        for line in self.rfile:
            verb = line.split(None, 1)[0].upper() if line.strip() else b""
            if verb == b"DATA":
                self._say("354 go on")
                self.server.emails.append(self._read_email())
            if verb == b"QUIT":
                return self._say("221 bye")
            self._say("250 ok")

    def _read_email(self):
        lines = []
        for line in self.rfile:
            if line.rstrip(b"\r\n") == b".":
                break
            lines.append(line)
        return quopri.decodestring(b"".join(lines)).decode()

    def _say(self, text):
        self.wfile.write(f"{text}\r\n".encode())


class MailCatcher(socketserver.ThreadingTCPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.emails = []
        self.port = self.server_address[1]
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def wait_for(self, address):
        """The newest email to an address."""
        end = time.monotonic() + 30
        while time.monotonic() < end:
            found = [email for email in self.emails if f"To: {address}" in email]
            if found:
                return found[-1]
            time.sleep(0.1)
        raise AssertionError(f"no email to {address}: {self.emails}")
