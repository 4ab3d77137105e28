"""A running cluster with people, apps, streams and webhooks, and what the checks ask it."""

import base64
import os
import subprocess
import sys
import time
from http.client import HTTPConnection
from urllib.parse import urlencode

from server import ROOT, Failed, Server

sys.path.insert(0, str(ROOT / "examples" / "cluster"))

from cluster import Cluster
from cluster_load import BALANCER, MARK, Load, Person, Stream
from cluster_trial import LIMIT

PEOPLE, WEBHOOKS = 9, 6
# Of a test on one machine: receivers with private addresses, no rate limits, and short retries.
SETTINGS = {
    "limits.rate_limits": "off",
    "limits.danger_rate_limits": "true",
    "webhooks.danger_targets": "true",
    "webhooks.allow_private": "all",
    "webhooks.allow_http": "true",
    "webhooks.retry": "1s,1s,2s,2s,5s,5s,5s,5s,5s,10s,10s,10s,10s",
    "observe.log_level": "warn",
}


class Endpoint(Server):
    """The requests of a server that another program has started."""

    def __init__(self, address):
        self.address = address

    def client(self):
        return HTTPConnection(self.address, timeout=10)


class Setup:
    def __init__(self, folder, binary, has_namespaces, has_patroni, previous=None):
        self.cluster = Cluster(folder, binary, has_namespaces, SETTINGS, has_patroni)
        # Both versions of an upgrade.
        self.binary, self.previous = self.cluster.binary, previous and previous.resolve()
        for node in self.cluster.nodes:
            node.binary = self.previous or self.binary
        self.has_namespaces = has_namespaces
        # Names of the streams whose node was stopped in this scenario.
        self.restarted = set()

    def start(self):
        cluster = self.cluster
        cluster.start()
        self.record_insertions()
        self.run("user", "create", "owner", "--password", "a long secret")
        self.app = self.create_app("load")
        targets = {BALANCER: cluster.address} | {node.name: node.address for node in cluster.nodes}
        self.load = Load(targets, cluster.network.front_host, self.app["api_secret"])
        self.load.start()
        self.load.has_started.wait()
        self.subscribe_webhooks(self.create_people())
        self.load.streams += [self.create_stream(name, address) for name, address in targets.items()]
        self.load.people += self.created

    def create_people(self):
        self.created = []
        for number in range(PEOPLE):
            person = self.run("user", "create", f"person{number}", "--password", "a long secret")
            token = self.run("token", "mint", "--app", self.app["id"], "--user", f"person{number}", "--ttl", "never")
            self.created.append(Person(person["id"], token["token"]))
        reader = self.created[0]
        for other in self.created[1:3]:
            body = {"target_user_id": other.id}
            self.balancer().change("POST", f"/2/users/{reader.id}/following", reader.token, body)
        return self.created[:WEBHOOKS]

    def create_app(self, name):
        levels = ["--access-level", "enterprise", "--permission", "messages", "--callback", "http://127.0.0.1/"]
        return self.run("app", "create", name, "--owner", "owner", *levels)

    def subscribe_webhooks(self, people):
        self.subscribed, bearer = people, self.app["bearer_token"]
        for number, person in enumerate(people):
            url = {"url": f"{self.load.receiver}/{number}"}
            hook = self.balancer().change("POST", "/2/webhooks", bearer, url)["id"]
            body = {"event_type": "post.create", "filter": {"user_id": person.id}, "webhook_id": hook}
            self.balancer().change("POST", "/2/activity/subscriptions", bearer, body)

    def create_stream(self, name, address):
        app = self.create_app(f"stream of {name}")
        rule = {"add": [{"value": MARK}]}
        self.balancer().change("POST", "/2/tweets/search/stream/rules", app["bearer_token"], rule)
        return Stream(name, address, app["bearer_token"])

    def balancer(self):
        return Endpoint(self.cluster.address)

    def node(self, node):
        return Endpoint(node.address)

    def run(self, *arguments):
        """A locum command, on the first node that is ready."""
        for node in self.cluster.nodes:
            if node.is_running() and (node.readiness() or [0])[0] == 200:
                return node.run(*arguments)
        raise Failed("no node is ready")

    def run_fsck(self):
        return self.run("fsck").get("sound") is True

    def sql(self, statement):
        return self.cluster.database.primary.sql(statement)

    def record_insertions(self):
        """Adds a row to each transaction that stores a post: the post's own row is written anew when its views are
        counted, and then has the time of that."""
        self.sql(
            "CREATE TABLE insertion (post_id BIGINT PRIMARY KEY);"
            "CREATE FUNCTION record_insertion() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS"
            " 'BEGIN INSERT INTO insertion VALUES (NEW.id); RETURN NULL; END';"
            "CREATE TRIGGER insertion AFTER INSERT ON post FOR EACH ROW EXECUTE FUNCTION record_insertion()"
        )

    def stored_posts(self):
        """Text and time of commit, in seconds, by id."""
        time = "extract(epoch FROM pg_xact_commit_timestamp(insertion.xmin))"
        sql = f"SELECT id, text, {time} FROM post JOIN insertion ON post_id = id"
        rows = (line.split("|") for line in self.sql(sql).splitlines())
        return {id: (text, float(at or 0)) for id, text, at in rows}

    def stream_gap_limit(self, trial):
        """A node that is cut off from a client notices after 30 s, when it gives up writing; until then, the app's
        connection counts as open, and the client cannot open another one."""
        return 30 if trial.name == "cut-front" else LIMIT

    def event_delay_limit(self, trial):
        """A node that is cut off from the receivers, but not from the database, keeps trying."""
        return 100 if trial.name == "cut-front" else 10

    def mint_tokens(self, count):
        """Tokens to revoke."""
        mint = ["token", "mint", "--app", self.app["id"], "--user", "person8", "--ttl", "never"]
        self.tokens = [self.run(*mint)["token"] for _ in range(count)]

    def time_revocation(self, issuer, checker, patience):
        """Seconds from the answer of a revocation on one node until another one refuses the token."""
        token = self.tokens.pop()
        self.node(checker).ask("/2/users/me", token)
        keys = f"{self.app['client_id']}:{self.app['client_secret']}".encode()
        headers = {
            "Authorization": f"Basic {base64.b64encode(keys).decode()}",
            "Content-Type": "application/x-www-form-urlencoded",
        }
        client = HTTPConnection(issuer.address, timeout=10)
        client.request("POST", "/2/oauth2/revoke", urlencode({"token": token}), headers)
        answer = client.getresponse()
        if answer.status != 200:
            raise Failed(f"a revocation returned {answer.status}: {answer.read()[:300]!r}")
        begun, reader = time.monotonic(), self.node(checker).client()
        while (passed := time.monotonic() - begun) < patience:
            try:
                if self.node(checker).get("/2/users/me", token, reader)[0] == 401:
                    return time.monotonic() - begun
            except OSError:
                reader = self.node(checker).client()
            time.sleep(0.01)
        return passed

    def await_whole(self):
        """Waits until all nodes are ready; returns the seconds that it took."""
        begun = time.monotonic()
        for node in self.cluster.nodes:
            node.await_ready()
        return time.monotonic() - begun

    def stop(self):
        if hasattr(self, "load"):
            self.load.stop()
        self.cluster.stop()


def installed(package):
    ran = subprocess.run(["dpkg-query", "-W", "-f", "${Status}", package], capture_output=True, text=True)
    return "ok installed" in ran.stdout


def install(packages):
    """Installs Debian packages that are missing."""
    missing = [package for package in packages if not installed(package)]
    if not missing:
        return
    prefix = [] if os.getuid() == 0 else ["sudo"]
    subprocess.run([*prefix, "apt-get", "update", "-qq"], check=True)
    environment = ["env", "DEBIAN_FRONTEND=noninteractive"]
    command = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *missing]
    subprocess.run([*prefix, *environment, *command], check=True, stdout=subprocess.DEVNULL)
