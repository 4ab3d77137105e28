"""Reads with asyncio; aiohttp ignores proxy variables."""

import asyncio
import os

import tweepy.asynchronous


async def main():
    client = tweepy.asynchronous.AsyncClient(os.environ["LOCUM_BEARER_TOKEN"])
    response = await client.get_user(username=os.environ["LOCUM_USERNAME"])
    assert str(response.data.id) == os.environ["LOCUM_USER_ID"]
    await client.session.close() if client.session else None


asyncio.run(main())
print("done")
