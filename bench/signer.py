"""OAuth 1.0a signatures (RFC 5849) of requests with query parameters."""

import base64
import hashlib
import hmac
import secrets
import time
from urllib.parse import parse_qsl, quote


def encoded(text):
    return quote(text, safe="-._~")


class Signer:
    """Signs requests of one user of one app."""

    def __init__(self, origin, app, token):
        self.origin = origin
        self.key = app["api_key"]
        self.token = token["access_token"]
        secret = f"{encoded(app['api_secret'])}&{encoded(token['access_token_secret'])}"
        self.secret = secret.encode()

    def header(self, path, method="GET"):
        plain, _, query = path.partition("?")
        fields = {
            "oauth_consumer_key": self.key,
            "oauth_nonce": secrets.token_hex(12),
            "oauth_signature_method": "HMAC-SHA1",
            "oauth_timestamp": str(int(time.time())),
            "oauth_token": self.token,
            "oauth_version": "1.0",
        }
        pairs = sorted((encoded(a), encoded(b)) for a, b in [*fields.items(), *parse_qsl(query)])
        parameters = "&".join(f"{a}={b}" for a, b in pairs)
        base = f"{method}&{encoded(self.origin + plain)}&{encoded(parameters)}".encode()
        digest = hmac.new(self.secret, base, hashlib.sha1).digest()
        fields["oauth_signature"] = base64.b64encode(digest).decode()
        return "OAuth " + ", ".join(f'{name}="{encoded(text)}"' for name, text in fields.items())
