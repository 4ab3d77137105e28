#!/usr/bin/env python3
"""Measures what TLS costs a development server: CPU of kept connections, and handshakes.

    bench/tls.py BINARY [SECONDS]

Needs wrk and openssl. Each figure is the median of three rounds.
"""

import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
ROUNDS = 3


class Server:
    def __init__(self, binary, folder):
        log = open(folder / "log", "wb")
        command = [binary, "--data-dir", folder / "data", "dev", "--port", "0", "--control-port", "0", "--rate-limits",
                   "off", "--json", "--set", "listen.max_connections_per_ip=10000"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
        lines = ""
        while not lines.rstrip().endswith("}"):
            lines += self.process.stdout.readline()
        self.port = json.loads(lines)["base_url"].rsplit(":", 1)[1]
        env = (folder / "data" / "dev.env").read_text()
        self.token = re.search(r"LOCUM_USER_TOKEN=(.*)", env).group(1)
        self.authority = folder / "data" / "ca" / "ca.pem"

    def cpu_seconds(self):
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS


def measure_requests(server, scheme, path, seconds):
    """CPU milliseconds of the server for each request on 16 kept connections."""
    before = server.cpu_seconds()
    command = ["wrk", "-t1", "-c16", f"-d{seconds}s", "-H", f"Authorization: Bearer {server.token}",
               f"{scheme}://127.0.0.1:{server.port}{path}"]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in output:
        sys.exit(output)
    count = int(re.search(r"(\d+) requests in", output).group(1))
    return (server.cpu_seconds() - before) * 1000 / count


def measure_handshakes(server, version, kind, seconds):
    """Handshakes a second of two clients, and CPU milliseconds of the server for each."""
    before = server.cpu_seconds()
    command = ["openssl", "s_time", "-connect", f"127.0.0.1:{server.port}", "-CAfile", server.authority, version, kind,
               "-time", str(seconds)]
    clients = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
               for _ in range(2)]
    counts = [int(re.search(r"(\d+) connections in \d+ real seconds", client.communicate()[0]).group(1))
              for client in clients]
    return sum(counts) / seconds, (server.cpu_seconds() - before) * 1000 / sum(counts)


def main():
    binary, seconds = os.path.abspath(sys.argv[1]), int((sys.argv[2:] or ["5"])[0])
    with tempfile.TemporaryDirectory() as folder:
        server = Server(binary, Path(folder))
        try:
            for path in ["/2/users/me", "/livez"]:
                rounds = [[measure_requests(server, scheme, path, seconds) for scheme in ["http", "https"]]
                          for _ in range(ROUNDS)]
                plain, tls = (statistics.median(column) for column in zip(*rounds))
                print(f"{path}: plain {plain:.4f} ms CPU, TLS {tls:.4f} ms, ratio {tls / plain:.2f}")
            for version, kind in [("-tls1_3", "-new"), ("-tls1_2", "-new"), ("-tls1_2", "-reuse")]:
                rounds = [measure_handshakes(server, version, kind, seconds) for _ in range(ROUNDS)]
                rate, cpu = (statistics.median(column) for column in zip(*rounds))
                print(f"handshakes {version} {kind}: {rate:.0f}/s, {cpu:.3f} ms CPU")
        finally:
            server.process.send_signal(signal.SIGTERM)
            server.process.wait()


main()
