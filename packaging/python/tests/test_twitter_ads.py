"""The Ads API's library, unmodified, in production and in the sandbox."""

import pytest
from twitter_ads.campaign import Campaign
from twitter_ads.client import Client
from twitter_ads.error import ServiceUnavailable


def ads_client(world, **options):
    names = ("API_KEY", "API_SECRET", "ACCESS_TOKEN", "ACCESS_TOKEN_SECRET")
    return Client(*(world.env[f"LOCUM_{name}"] for name in names), **options)


def new_campaign(account):
    campaign = Campaign(account)
    campaign.funding_instrument_id = account.funding_instruments().first.id
    campaign.daily_budget_amount_local_micro = 1_000_000
    campaign.name = "Made by a test"
    campaign.entity_status = "PAUSED"
    return campaign


def test_campaign_is_saved(world):
    account = ads_client(world).accounts(world.env["LOCUM_ADS_ACCOUNT_ID"])
    campaign = new_campaign(account)
    campaign.save()

    assert Campaign.load(account, campaign.id).name == "Made by a test"
    world.journal.expect(f"POST /11/accounts/{account.id}/campaigns status=200 count=1")


def test_failure_while_saving_is_reported(world):
    account = ads_client(world).accounts(world.env["LOCUM_ADS_ACCOUNT_ID"])
    campaign = new_campaign(account)
    world.faults.add("status", route="POST /12/accounts/*", status=503)

    with pytest.raises(ServiceUnavailable):
        campaign.save()


def test_sandbox_has_accounts_of_its_own(world):
    sandbox = [account.id for account in ads_client(world, options={"sandbox": True}).accounts()]

    assert world.env["LOCUM_ADS_ACCOUNT_ID"] not in sandbox
