"""The control API of a development server, and its testing tools for one world."""

from __future__ import annotations

import datetime
import http.client
import json
import time
import urllib.parse
from collections.abc import Mapping
from typing import Any, Union

JsonObject = dict[str, Any]
JsonObjects = list[JsonObject]
Time = Union[datetime.datetime, str]
Span = Union[datetime.timedelta, str]

# Moving the clock takes up to a minute, and waits for receivers.
TIMEOUT_SECONDS = 120
POLL_SECONDS = 0.02
LONGEST_JOURNAL_PAGE = 1000


class LocumError(Exception):
    """A server that did not start, did not answer, or refused a call; `status` is the HTTP status of a refusal."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class ControlClient:
    """Calls of the control API. Each has a connection of its own, so that threads can share a client."""

    def __init__(self, address: str, token: str, world: str | None = None) -> None:
        self.address = address
        self._headers = {"Authorization": f"Bearer {token}"}
        if world:
            self._headers["X-Locum-World"] = world

    def request(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, Any] | None = None,
    ) -> Any:
        """The answer's `data`, or the whole answer if it has none. `path` is below `/control/v1`. Members of `body`
        and `query` that are None are left out."""
        target = "/control/v1" + path
        if query:
            target += "?" + urllib.parse.urlencode(without_none(query))
        headers, content = self._headers, None
        if method in ("POST", "PUT"):
            headers = {**headers, "Content-Type": "application/json"}
            content = json.dumps(without_none(body or {}))
        connection = http.client.HTTPConnection(self.address, timeout=TIMEOUT_SECONDS)
        try:
            connection.request(method, target, content, headers)
            response = connection.getresponse()
            text = response.read().decode()
        except (OSError, http.client.HTTPException) as error:
            raise LocumError(f"{method} {path}: the server at {self.address} does not answer: {error!r}") from error
        finally:
            connection.close()
        if response.status >= 400:
            raise LocumError(f"{method} {path}: {error_message(text)}", response.status)
        answer = json.loads(text) if text else {}
        return answer.get("data", answer)


def without_none(values: Mapping[str, Any]) -> JsonObject:
    return {name: value for name, value in values.items() if value is not None}


def error_message(text: str) -> str:
    try:
        answer = json.loads(text)
        messages = [error["message"] for error in answer.get("errors", [])]
    except (ValueError, AttributeError, KeyError, TypeError):
        return text.strip()
    return "; ".join(messages) or answer.get("detail") or text.strip()


def format_time(time: Time | None) -> str | None:
    """RFC 3339. A time without a zone is UTC."""
    if not isinstance(time, datetime.datetime):
        return time
    aware = time if time.tzinfo else time.replace(tzinfo=datetime.timezone.utc)
    return aware.astimezone(datetime.timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def format_span(span: Span) -> str:
    if isinstance(span, datetime.timedelta):
        return f"{span // datetime.timedelta(milliseconds=1)}ms"
    return span


class Clock:
    """The world's clock. Methods that move it return a report of what happened on the way."""

    def __init__(self, control: ControlClient) -> None:
        self._control = control

    def show(self) -> JsonObject:
        return self._call("GET", "/clock")

    def now(self) -> datetime.datetime:
        return datetime.datetime.fromisoformat(self.show()["now"].replace("Z", "+00:00"))

    def freeze(self, time: Time | None = None) -> JsonObject:
        """Stops the clock, after moving it to a time if one is given."""
        return self._order("freeze", time=format_time(time))

    def set(self, time: Time) -> JsonObject:
        return self._order("set", time=format_time(time))

    def advance(self, span: Span) -> JsonObject:
        """Moves forward by a span such as `8d`, `1d12h` or a timedelta."""
        return self._order("advance", by=format_span(span))

    def scale(self, factor: float) -> JsonObject:
        return self._order("scale", factor=factor)

    def live(self) -> JsonObject:
        return self._order("live")

    def _order(self, order: str, **body: Any) -> JsonObject:
        report: JsonObject = self._call("POST", f"/clock/{order}", body)["report"]
        return report

    def _call(self, method: str, path: str, body: JsonObject | None = None) -> JsonObject:
        state: JsonObject = self._control.request(method, path, body)
        return state


class Faults:
    """Rules that make requests, streams and webhook deliveries fail."""

    def __init__(self, control: ControlClient) -> None:
        self._control = control

    def add(
        self,
        effect: str,
        *,
        id: str | None = None,
        method: str | None = None,
        route: str | None = None,
        app: str | None = None,
        user: str | None = None,
        account: str | None = None,
        stream: str | None = None,
        webhook: str | None = None,
        nth: int | None = None,
        after: int | None = None,
        every: int | None = None,
        probability: float | None = None,
        times: int | None = None,
        until: Time | None = None,
        **parameters: Any,
    ) -> str:
        """Adds a rule; its id. Further arguments are parameters of the effect, such as `status=503`."""
        match = {
            "method": method,
            "route": route,
            "app": app,
            "user": user,
            "account": account,
            "stream": stream,
            "webhook": webhook,
            "nth": nth,
            "after": after,
            "every": every,
            "probability": probability,
            "times": times,
            "until": format_time(until),
        }
        rule = {"id": id, "match": without_none(match), "effect": {"name": effect, **parameters}}
        ids: list[str] = self._control.request("POST", "/faults", {"rules": [without_none(rule)]})["ids"]
        return ids[0]

    def list(self) -> JsonObjects:
        """The rules in the order in which they are compared, with how often each `matched` and was `applied`."""
        rules: JsonObjects = self._control.request("GET", "/faults")
        return rules

    def remove(self, id: str) -> None:
        self._control.request("DELETE", f"/faults/{urllib.parse.quote(id, safe='')}")

    def clear(self) -> None:
        self._control.request("DELETE", "/faults")


class Journal:
    """The last requests of the world's clients."""

    def __init__(self, control: ControlClient) -> None:
        self._control = control

    def requests(
        self,
        route: str | None = None,
        *,
        method: str | None = None,
        status: int | str | None = None,
        app: str | None = None,
        user: str | None = None,
        label: str | None = None,
        fault: str | None = None,
        since: Time | None = None,
        text: str | None = None,
        limit: int = LONGEST_JOURNAL_PAGE,
    ) -> JsonObjects:
        """The newest requests that match, oldest first, without headers and bodies."""
        query = {
            "route": route,
            "method": method,
            "status": status,
            "app": app,
            "user": user,
            "label": label,
            "fault": fault,
            "since": format_time(since),
            "text": text,
            "limit": limit,
        }
        entries: JsonObjects = self._control.request("GET", "/requests", query=query)
        return entries[::-1]

    def request(self, id: str) -> JsonObject:
        """A request with headers, bodies and what it caused."""
        entry: JsonObject = self._control.request("GET", f"/requests/{urllib.parse.quote(id, safe='')}")
        return entry

    def expect(self, *checks: str | JsonObject, timeout: float = 5) -> None:
        """Waits until all checks hold, such as `POST /2/tweets status=201 count=3`; raises AssertionError with the
        server's account of those that do not hold within `timeout` seconds."""
        # Attempts are counted, because tests replace the clocks.
        attempts = timeout / POLL_SECONDS
        while True:
            outcome = self._control.request("POST", "/assert", {"checks": checks})
            if outcome["passed"]:
                return
            if attempts <= 0:
                break
            attempts -= 1
            time.sleep(POLL_SECONDS)
        failed = [result for result in outcome["results"] if not result["passed"]]
        raise AssertionError("\n".join(map(describe_failed_check, failed)))

    def clear(self) -> None:
        self._control.request("DELETE", "/requests")


def describe_failed_check(result: JsonObject) -> str:
    lines = [f"{result['check']}: {result['count']} requests match"]
    lines += [f"  near miss: {json.dumps(miss)}" for miss in result["near_misses"]]
    return "\n".join(lines)


class Limits:
    """Rate limits."""

    def __init__(self, control: ControlClient) -> None:
        self._control = control

    def show(self, endpoint: str | None = None, *, app: str | None = None, user: str | None = None) -> JsonObject:
        query = {"endpoint": endpoint, "app": app, "user": user}
        limits: JsonObject = self._control.request("GET", "/limits", query=query)
        return limits

    def set_mode(self, mode: str, factor: int | None = None) -> None:
        """`table`, `relaxed`, `off`, or `scale` with a factor."""
        self._control.request("POST", "/limits/mode", {"mode": mode, "factor": factor})

    def exhaust(
        self,
        endpoint: str,
        *,
        app: str | None = None,
        user: str | None = None,
        window_seconds: int | None = None,
    ) -> None:
        """Uses up a window, so that the next call is refused with 429."""
        body = {"endpoint": endpoint, "app": app, "user": user, "window_seconds": window_seconds}
        self._control.request("POST", "/limits/exhaust", body)

    def reset(self, endpoint: str | None = None, *, app: str | None = None, user: str | None = None) -> None:
        self._control.request("POST", "/limits/reset", {"endpoint": endpoint, "app": app, "user": user})


class Snapshots:
    """Saved states of the world. All worlds of a server share the names."""

    def __init__(self, control: ControlClient) -> None:
        self._control = control

    def list(self) -> JsonObjects:
        snapshots: JsonObjects = self._control.request("GET", "/snapshots")
        return snapshots

    def save(self, name: str) -> None:
        self._control.request("POST", "/snapshots", {"name": name})

    def load(self, name: str) -> None:
        self._control.request("POST", f"/snapshots/{urllib.parse.quote(name, safe='')}/load")

    def remove(self, name: str) -> None:
        self._control.request("DELETE", f"/snapshots/{urllib.parse.quote(name, safe='')}")

    def diff(self, name: str, other: str | None = None) -> JsonObject:
        """The rows that changed since a snapshot, up to now or up to another one."""
        path = f"/snapshots/{urllib.parse.quote(name, safe='')}/diff"
        changes: JsonObject = self._control.request("GET", path, query={"with": other})
        return changes
