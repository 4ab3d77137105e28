"""Fixtures for pytest: `locum_server`, and `locum`, a world for each test."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from locum.control import JsonObject
    from locum.server import Server, World

SHOWN_REQUESTS = 20
MARKER = "locum_world"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("locum")
    group.addoption("--locum-binary", metavar="FILE", help="The server's binary instead of that of the package")
    group.addoption("--locum-seed", type=int, metavar="N", help="The seed of the server's generated ids and keys")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", f"{MARKER}(source): what the test's world is made of (demo by default)")


@pytest.fixture(scope="session")
def locum_server(pytestconfig: pytest.Config) -> Iterator[Server]:
    """A development server for all tests; with xdist, one for each worker."""
    from locum.server import Server

    binary, seed = pytestconfig.getoption("--locum-binary"), pytestconfig.getoption("--locum-seed")
    with Server(binary=binary, seed=seed) as server:
        yield server


@pytest.fixture
def locum(locum_server: Server, request: pytest.FixtureRequest) -> Iterator[World]:
    """A world for this test alone."""
    marker = request.node.get_closest_marker(MARKER)
    source = (marker.args or (marker.kwargs["source"],))[0] if marker else "demo"
    with locum_server.world(source=source) as world:
        yield world


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, None]:
    report: pytest.TestReport = (yield).get_result()
    world = getattr(item, "funcargs", {}).get("locum")
    if report.failed and report.when != "teardown" and world is not None:
        report.sections.append(("locum requests", list_requests(world)))


def list_requests(world: World) -> str:
    from locum.control import LocumError

    try:
        entries = world.journal.requests(limit=SHOWN_REQUESTS)
    except LocumError as error:
        return str(error)
    return "\n".join(map(format_request, entries)) or "none"


def format_request(entry: JsonObject) -> str:
    app, user, fault = entry["app"], entry.get("username"), entry["injected_fault"]
    words = [entry["received_at"], str(entry["status"]), entry["method"], entry["path"]]
    words += [f"{entry['duration_ms']} ms"]
    words += [f"app={app['name']}"] if app else []
    words += [f"user=@{user}"] if user else []
    words += [f"fault={fault}"] if fault else []
    return " ".join(words)
