"""A Locum development server for tests."""

from locum.control import LocumError
from locum.interception import intercept
from locum.server import Server, World

__all__ = ["LocumError", "Server", "World", "intercept"]
