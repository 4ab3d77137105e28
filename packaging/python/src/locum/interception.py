"""Leads clients in this process that name the public hosts to a development server."""

from __future__ import annotations

import contextlib
import inspect
import os
import socket
import ssl
import urllib.parse
from collections.abc import Iterator
from typing import Any, Callable

from locum.server import Server, World

BYPASS_VARIABLES = ("NO_PROXY", "no_proxy")
# The address of the emulated hosts. A connection to it that is not intercepted is refused at once.
PLACEHOLDER = "127.76.79.67"


@contextlib.contextmanager
def intercept(target: Server | World) -> Iterator[None]:
    """While it is entered, connections of this process to the emulated hosts reach the server, over TLS with its own
    certificate authority. Other hosts are not affected. The keys that a client uses select the world.

    `socket.getaddrinfo` resolves their names to an address that `connect` of a socket replaces by the server's. A
    handshake for such a name uses a context that trusts the server's authority and nothing else, also if the client made
    its own context earlier. The client's context stays as it is.
    """
    server = target.server if isinstance(target, World) else target
    hosts = server.emulated_hosts
    url = urllib.parse.urlsplit(server.url)
    trusted = ssl.create_default_context(cafile=str(server.ca_file))
    trusted.set_alpn_protocols(["http/1.1"])
    resolve = socket.getaddrinfo

    def getaddrinfo(host: Any, port: Any, *args: Any, **kwargs: Any) -> Any:
        if normalize_host(host) in hosts:
            host = PLACEHOLDER
        return resolve(host, port, *args, **kwargs)

    # Some clients take the address alone from what `getaddrinfo` returns, and the port from the URL.
    def to_server(connect: Callable[..., Any]) -> Callable[..., Any]:
        def connect_to_server(self: socket.socket, address: Any) -> Any:
            is_emulated = isinstance(address, tuple) and address[0] == PLACEHOLDER
            return connect(self, (url.hostname, url.port) if is_emulated else address)

        return connect_to_server

    def with_trusted_context(wrap: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(wrap)

        def wrap_with_trusted_context(*args: Any, **kwargs: Any) -> Any:
            call = signature.bind(*args, **kwargs)
            if normalize_host(call.arguments.get("server_hostname")) in hosts:
                call.arguments["self"] = trusted
                # A session belongs to the context in which it began.
                call.arguments.pop("session", None)
            return wrap(*call.args, **call.kwargs)

        return wrap_with_trusted_context

    with contextlib.ExitStack() as stack:
        stack.enter_context(replaced(socket, "getaddrinfo", getaddrinfo))
        for name in ("connect", "connect_ex"):
            stack.enter_context(replaced(socket.socket, name, to_server(getattr(socket.socket, name))))
        for name in ("wrap_socket", "wrap_bio"):
            patched = with_trusted_context(getattr(ssl.SSLContext, name))
            stack.enter_context(replaced(ssl.SSLContext, name, patched))
        for name in BYPASS_VARIABLES:
            stack.enter_context(hosts_bypass_proxy(name, hosts))
        yield


def normalize_host(host: str | bytes | None) -> str | None:
    text = host.decode("ascii", "replace") if isinstance(host, bytes) else host
    return text.lower().rstrip(".") if isinstance(text, str) else None


@contextlib.contextmanager
def replaced(owner: Any, name: str, value: Any) -> Iterator[None]:
    is_inherited = name not in vars(owner)
    original = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        if is_inherited:
            delattr(owner, name)
        else:
            setattr(owner, name, original)


@contextlib.contextmanager
def hosts_bypass_proxy(variable: str, hosts: frozenset[str]) -> Iterator[None]:
    """A proxy that the environment names would resolve the hosts elsewhere."""
    original = os.environ.get(variable)
    os.environ[variable] = ",".join([*([original] if original else []), *sorted(hosts)])
    try:
        yield
    finally:
        if original is None:
            del os.environ[variable]
        else:
            os.environ[variable] = original
