"""Lists advertising accounts and campaigns, in production and in the sandbox."""

import os

from twitter_ads.client import Client

names = ("LOCUM_API_KEY", "LOCUM_API_SECRET", "LOCUM_ACCESS_TOKEN", "LOCUM_ACCESS_TOKEN_SECRET")
keys = [os.environ[name] for name in names]
account = Client(*keys).accounts().first
assert account.id, account
list(account.campaigns())
sandbox = [account.id for account in Client(*keys, options={"sandbox": True}).accounts()]
assert account.id not in sandbox, sandbox
print("done")
