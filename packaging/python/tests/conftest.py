import pytest

from locum import intercept

pytest_plugins = ["pytester"]


@pytest.fixture
def world(locum):
    """The test's world, reached by clients that name the public hosts."""
    with intercept(locum):
        yield locum
