#!/usr/bin/env python3
"""Converts the posts that scripts/fetch-test-data downloaded to the benchmark's input.

usage: posts.py LOCUM_RTWEET_DIR LOCUM_VADER_FILE > posts.tsv
"""

import gzip
import html
import json
import pathlib
import re
import sys


def plain(text):
    return re.sub(r"\s+", " ", html.unescape(text or "")).strip()


def gather(value, found):
    if isinstance(value, dict):
        if "full_text" in value or ("text" in value and "entities" in value and "id_str" in value):
            found[value.get("id_str")] = value
        for inner in value.values():
            gather(inner, found)
    elif isinstance(value, list):
        for inner in value:
            gather(inner, found)


def line(number, user, lang, source, kind, tags, mentions, links, bio, place, text):
    print("\t".join([str(number), user, lang, source, kind, " ".join(tags), " ".join(mentions),
                     " ".join(links), bio, place, text]))


posts = {}
for path in sorted(pathlib.Path(sys.argv[1]).iterdir()):
    data = gzip.open(path).read() if path.suffix == ".gz" else path.read_bytes()
    for exchange in json.loads(data).get("http_interactions", []):
        try:
            gather(json.loads(exchange["response"]["body"]["string"]), posts)
        except (ValueError, KeyError, TypeError):
            pass

seen = set()
for number, post in posts.items():
    text = plain(post.get("full_text") or post.get("text"))
    if not text or text in seen:
        continue
    seen.add(text)
    entities = post.get("entities") or {}
    user = post.get("user") or {}
    media = {m.get("type") for m in (post.get("extended_entities") or entities).get("media", [])}
    kind = "".join(letter for letter, there in [
        ("r", "retweeted_status" in post), ("y", post.get("in_reply_to_status_id_str")),
        ("q", post.get("is_quote_status")), ("i", "photo" in media), ("v", "video" in media),
        ("b", user.get("verified"))] if there)
    line(number, user.get("screen_name") or "somebody", post.get("lang") or "und",
         plain(re.sub(r"<[^>]*>", "", post.get("source") or "")), kind,
         [t["text"] for t in entities.get("hashtags", [])],
         [m["screen_name"] for m in entities.get("user_mentions", [])],
         [u["expanded_url"] for u in entities.get("urls", []) if u.get("expanded_url")],
         plain(user.get("description")), plain((post.get("place") or {}).get("full_name")), text)

for row in open(sys.argv[2], encoding="utf-8"):
    number, _, text = row.rstrip("\n").split("\t", 2)
    text = plain(text)
    if not text or text in seen:
        continue
    seen.add(text)
    line(int(number) << 40, f"person{int(number) % 900}", "en", "", "",
         re.findall(r"#(\w+)", text), re.findall(r"@(\w+)", text),
         re.findall(r"https?://\S+", text), "", "", text)
