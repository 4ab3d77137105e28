#!/usr/bin/env python3
"""Measures ad statistics (row P13): 20 entities, 7 days, hourly.

    python3 bench/figures.py [--events 10000000] [--requests 50] [--binary target/release/locum]

Fills the ledger of a new server with events of twenty line items over thirty days, and aggregates as
the server writes them; then requests statistics and reads the server's CPU time. The database is
SQLite and removed afterwards; ten million events need 2.5 GB temporarily.
"""

import argparse
import base64
import hashlib
import hmac
import http.client
import json
import os
import secrets
import sqlite3
import sys
import time
from datetime import datetime, timezone
from pathlib import Path
from urllib.parse import quote, urlencode, urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "clients"))

HOUR = 3_600_000
ITEMS = 20
DAYS = 30


class Caller:
    """Signs requests as the first demo user."""

    def __init__(self, server):
        self.url, self.env = server.url, server.env
        self.connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=120)

    def send(self, method, path, **params):
        signed = {
            "oauth_consumer_key": self.env["API_KEY"],
            "oauth_token": self.env["ACCESS_TOKEN"],
            "oauth_signature_method": "HMAC-SHA1",
            "oauth_timestamp": str(int(time.time())),
            "oauth_nonce": secrets.token_hex(12),
            "oauth_version": "1.0",
        }
        said = lambda text: quote(str(text), safe="-._~")
        pairs = sorted((said(name), said(value)) for name, value in {**signed, **params}.items())
        text = "&".join(f"{name}={value}" for name, value in pairs)
        base = f"{method}&{said(self.url + path)}&{said(text)}"
        key = f"{said(self.env['API_SECRET'])}&{said(self.env['ACCESS_TOKEN_SECRET'])}"
        mac = hmac.new(key.encode(), base.encode(), hashlib.sha1).digest()
        signed["oauth_signature"] = base64.b64encode(mac).decode()
        header = ", ".join(f'{name}="{said(value)}"' for name, value in signed.items())
        target = f"{path}?{urlencode(params)}" if params else path
        self.connection.request(method, target, headers={"Authorization": f"OAuth {header}"})
        answer = self.connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise SystemExit(f"{method} {path}: {answer.status} {body[:500]!r}")
        return json.loads(body), len(body)


def number(text):
    return int(text, 36)


def tree(caller):
    """An account with twenty line items: the ids as numbers and as strings."""
    account = caller.send("GET", "/12/accounts")[0]["data"][0]["id"]
    at = f"/12/accounts/{account}"
    instrument = caller.send("GET", f"{at}/funding_instruments")[0]["data"][0]["id"]
    campaign = caller.send(
        "POST", f"{at}/campaigns", funding_instrument_id=instrument, name="Figures",
        daily_budget_amount_local_micro=1_000_000_000,
    )[0]["data"]["id"]
    items = [
        caller.send(
            "POST", f"{at}/line_items", campaign_id=campaign, objective="ENGAGEMENTS",
            product_type="PROMOTED_TWEETS", placements="ALL_ON_TWITTER",
            bid_amount_local_micro=100_000,
        )[0]["data"]["id"]
        for _ in range(ITEMS)
    ]
    return account, instrument, campaign, items


def fill(path, ids, events, begin):
    """Rows as the server writes them, and their aggregates."""
    account, instrument, campaign, items = ids
    span = DAYS * 24 * HOUR
    database = sqlite3.connect(path)
    database.execute("PRAGMA synchronous = OFF")
    columns = [row[1] for row in database.execute("PRAGMA table_info(ad_event)")]
    each = events // ITEMS
    for place, item in enumerate(items):
        values = {
            "line_item_id": number(item),
            "event_time": f"{begin} + CAST(n AS INTEGER) * {span} / {each}",
            "id": f"n + {place * each + 1}",
            "recorded_at": f"{begin} + CAST(n AS INTEGER) * {span} / {each}",
            # One in ten is not an impression.
            "kind": "CASE WHEN n % 10 = 0 THEN 3 + n % 5 ELSE 0 END",
            "account_id": number(account),
            "funding_instrument_id": number(instrument),
            "campaign_id": number(campaign),
            "creative": 5,
            "creative_id": place + 1,
            "subject": place + 1,
            "viewer": "1 + (n * 7919) % 100003",
            "placement": 1,
            "platform": "n % 5",
            "country": "'PT'",
            "metro": "''",
            "age": "25",
            "gender": "1 + n % 2",
            "price_micro": 10_000,
            "billed": "n % 10 = 0",
            "charge_micro": "CASE WHEN n % 10 = 0 THEN 10000 ELSE 0 END",
            "origin": 0,
            "once": f"n + {place * each + 1}",
            "weight": 1,
        }
        chosen = ", ".join(str(values[name]) for name in columns)
        database.execute(
            f"WITH RECURSIVE c(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM c WHERE n + 1 < {each}) "
            f"INSERT INTO ad_event SELECT {chosen} FROM c"
        )
        database.commit()
    sums = [row[1] for row in database.execute("PRAGMA table_info(ad_hour)")][4:]
    counted = {
        "impressions": "SUM(kind = 0)",
        "engagements": "SUM(kind <> 0)",
        "clicks": "SUM(kind IN (3, 4))",
        "url_clicks": "SUM(kind = 3)",
        "app_clicks": "SUM(kind = 4)",
        "card_engagements": "SUM(kind = 5)",
        "carousel_swipes": "SUM(kind = 6)",
        "likes": "SUM(kind = 7)",
        "billed": "SUM(billed)",
        "charge_micro": "SUM(charge_micro)",
    }
    chosen = ", ".join(counted.get(name, "0") for name in sums)
    database.execute(
        f"INSERT INTO ad_hour SELECT 4, line_item_id, event_time / {HOUR} * {HOUR}, 0, {chosen} "
        "FROM ad_event GROUP BY line_item_id, event_time / 3600000"
    )
    database.commit()
    database.close()


def written(ms):
    return datetime.fromtimestamp(ms / 1000, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def used(process):
    """CPU time of a process in milliseconds."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--requests", type=int, default=50)
    parser.add_argument("--binary")
    options = parser.parse_args()
    if options.binary:
        os.environ["LOCUM_BINARY"] = str(Path(options.binary).resolve())
    os.environ.pop("LOCUM_TEST_POSTGRES", None)
    import locum_server

    with locum_server.Server() as server:
        ids = tree(Caller(server))
        now = int(time.time() * 1000) // HOUR * HOUR
        server.stop()
        began = time.monotonic()
        [path] = server.data.glob("*.db")
        fill(path, ids, options.events, now - DAYS * 24 * HOUR)
        took, size = time.monotonic() - began, path.stat().st_size / 1e6
        print(f"{options.events} events in {took:.0f} s, {size:.0f} MB", flush=True)
        server.start()
        caller = Caller(server)
        account, _, _, items = ids
        ask = {
            "entity": "LINE_ITEM", "entity_ids": ",".join(items), "granularity": "HOUR",
            "start_time": written(now - 7 * 24 * HOUR), "end_time": written(now),
            "metric_groups": "ENGAGEMENT,BILLING", "placement": "ALL_ON_TWITTER",
        }
        path = f"/12/stats/accounts/{account}"
        answer, length = caller.send("GET", path, **ask)
        seen = sum(
            sum(entity["id_data"][0]["metrics"]["impressions"]) for entity in answer["data"]
        )
        before, began = used(server.process), time.monotonic()
        for _ in range(options.requests):
            caller.send("GET", path, **ask)
        cpu = (used(server.process) - before) / options.requests
        wall = (time.monotonic() - began) * 1000 / options.requests
        print(f"20 entities x 7 days by hour: {cpu:.1f} ms CPU, {wall:.1f} ms, "
              f"{length / 1000:.0f} kB, {seen} impressions")


if __name__ == "__main__":
    main()
