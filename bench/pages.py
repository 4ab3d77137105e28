#!/usr/bin/env python3
"""Counts the instructions of members' pages, and of the API calls that return the same posts with authors, files and polls.

    bench/pages.py target/release/locum
"""

import os
import re
import sys
from urllib.parse import urlencode

import counters
import dataset
import instructions
import rows
import server
from instruction_rows import Request, Row, same
from live_pages import sign_in

POSTS = 20
COUNTED = 20
PASSWORD = "harbour lights at night"
SHOWN = {
    "max_results": POSTS,
    "expansions": "author_id,attachments.media_keys,attachments.poll_ids,referenced_tweets.id",
    "tweet.fields": "created_at,public_metrics,entities,edit_history_tweet_ids,reply_settings,conversation_id",
    "user.fields": "profile_image_url,verified,protected",
    "media.fields": "url,alt_text,type,variants,width,height",
}


def pages(stage, cookies):
    """Page, its cookies, the call and its token, by name."""
    reader, author = stage.world.id(dataset.READER_500), stage.world.id(dataset.PROLIFIC)
    call = lambda path: f"{path}?{urlencode(SHOWN)}"
    home = call(f"/2/users/{reader}/timelines/reverse_chronological")
    return {
        "home timeline": ("/home", cookies, home, stage.reader),
        "profile, signed in": (f"/{dataset.PROLIFIC}", cookies, call(f"/2/users/{author}/tweets"), stage.reader),
        "profile, signed out": (f"/{dataset.PROLIFIC}", "", call(f"/2/users/{author}/tweets"), stage.world.bearer),
    }


def main():
    binary = os.path.abspath(sys.argv[1])
    counter = counters.choose(list(counters.ALL))
    with instructions.work_folder() as work, instructions.measured(binary, counter, work) as measuring:
        stage = measuring.stage
        server.run(binary, stage.server.folder, "user", "password", f"@{dataset.READER_500}", "--password", PASSWORD)
        cookies = sign_in(stage.server, dataset.READER_500, PASSWORD, "127.0.0.1")
        for name, (page, sent, call, token) in pages(stage, cookies).items():
            shown = re.compile(rb'class="post"')

            def check(body):
                rows.expect(f"posts of {name}", len(shown.findall(body)), POSTS)

            of_page = min(measuring.row(Row(COUNTED, same(Request("GET", page, {"Cookie": sent})), check)))
            of_call = min(measuring.row(Row(COUNTED, same(Request("GET", call, {"Authorization": f"Bearer {token}"})))))
            print(f"{name}: {of_page:,.0f} instructions, the API call {of_call:,.0f}, ratio {of_page / of_call:.2f}")


if __name__ == "__main__":
    server.run_program(main)
