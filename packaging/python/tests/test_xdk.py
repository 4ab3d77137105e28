"""The official library, unmodified."""

import requests
from xdk import Client


def test_user_is_found_by_name(world):
    client = Client(bearer_token=world.env["LOCUM_BEARER_TOKEN"])

    assert client.users.get_by_username(world.env["LOCUM_USERNAME"]).data.id == world.env["LOCUM_USER_ID"]


def test_failure_of_the_server_reaches_the_caller(world):
    world.faults.add("status", route="GET /2/users/by/username/:username", status=503, times=1)
    client = Client(bearer_token=world.env["LOCUM_BEARER_TOKEN"])
    name = world.env["LOCUM_USERNAME"]

    try:
        client.users.get_by_username(name)
    except requests.HTTPError as error:
        assert error.response.status_code == 503
    else:
        raise AssertionError("the library reports the failure")
    assert client.users.get_by_username(name).data.username == name
