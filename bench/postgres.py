"""Figures on PostgreSQL beside those on SQLite of the same run, and their section of docs/performance.md."""

import json
import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import report
from server import TICKS

BEGIN, END = "<!-- bench-postgres: begin -->", "<!-- bench-postgres: end -->"
DATA = re.compile(r"<!-- figures\n(.*?)\n-->", re.DOTALL)
# At most so many times the CPU time on SQLite, of server and database together.
FACTORS = {"P1 lookup": 2.5, "P3 home-500": 3, "P3 home-5000": 3, "P9 write": 3.5}


def query_server(url, sql):
    ran = subprocess.run(["psql", "-qAtX", url, "-c", sql], capture_output=True, text=True, check=True)
    return ran.stdout.strip()


def process_times(path):
    """The parent of a process, and the ticks of itself (user, system) and of its ended children."""
    fields = path.read_text().rpartition(")")[2].split()
    return int(fields[1]), list(map(int, fields[11:15]))


class DatabaseProcess:
    """The processes of a PostgreSQL server on this machine."""

    def __init__(self, url):
        data = Path(query_server(url, "SHOW data_directory"))
        self.main = int((data / "postmaster.pid").read_text().split("\n", 1)[0])

    def cpu(self):
        """CPU seconds, user and system, with those of sessions that have ended."""
        while True:
            ended, running = self.ended_ticks(), self.running_ticks()
            # Otherwise a session has ended meanwhile, and is in both or in neither.
            if self.ended_ticks() == ended:
                return (ended + running) / TICKS

    def ended_ticks(self):
        return sum(process_times(Path(f"/proc/{self.main}/stat"))[1][2:])

    def running_ticks(self):
        total = 0
        for path in Path("/proc").glob("[0-9]*/stat"):
            try:
                parent, times = process_times(path)
            except OSError: # it has just ended
                continue
            if parent == self.main or int(path.parent.name) == self.main:
                total += sum(times[:2])
        return total


def load_row(key, both):
    row, name, size = report.split(key)
    sqlite, postgres = both["sqlite"], both["postgres"]
    total = postgres["cpu"] + postgres["database_cpu"]
    factor = total / sqlite["cpu"]
    most = FACTORS.get(f"{row} {name}")
    target = "" if most is None else f"≤ {most} ×"
    verdict = "" if most is None else "met" if factor <= most else "**missed**"
    return (
        f"| {row} | {report.TARGETS[f'{row} {name}'][0]} | {size:,} | {report.milliseconds(sqlite['cpu'])} "
        f"| {report.milliseconds(postgres['cpu'])} + {report.milliseconds(postgres['database_cpu'])} "
        f"| {factor:.1f} | {sqlite['rate']:,.0f} | {postgres['rate']:,.0f} "
        f"| {postgres['p50']:.1f} / {postgres['p99']:.1f} | {target} | {verdict} |"
    )


def table(figures):
    lines = [
        "| Row | What | Posts | CPU ms, SQLite | CPU ms, PostgreSQL: node + database | CPU × | req/s, SQLite "
        "| req/s, PostgreSQL | p50 / p99 ms, PostgreSQL | Target | Verdict |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|---|---|",
    ]
    keys = sorted(figures, key=report.order)
    lines += [load_row(key, figures[key]) for key in keys if "database_cpu" in figures[key]["postgres"]]
    others = {key: figures[key]["postgres"] for key in keys if "database_cpu" not in figures[key]["postgres"]}
    rows = list(report.other_rows(others))
    if rows:
        lines += ["", "| Row | What | Posts | Figure, PostgreSQL |", "|---|---|--:|---|"]
        lines += [f"| {row} | {about} | {size:,} | {figure} |" for row, about, size, figure, _, _ in rows]
    return "\n".join(lines)


def keep(both, command, version):
    """Updates the section of docs/performance.md; rows that were not measured are unchanged."""
    document = report.DOCUMENT.read_text(encoding="utf-8")
    before, _, rest = document.partition(BEGIN)
    section, _, after = rest.partition(END)
    found = DATA.search(section)
    kept = json.loads(found.group(1)) if found else {}
    kept |= {key: {engine: rounded(of) for engine, of in one.items()} for key, one in both.items()}
    day = datetime.now(UTC).date().isoformat()
    head = f"{day}, commit {version}, {report.machine()}: `{command}`."
    data = ",\n".join(f'"{key}": {json.dumps(kept[key])}' for key in sorted(kept, key=report.order))
    section = f"\n{head}\n\n{table(kept)}\n\n<!-- figures\n{{\n{data}\n}}\n-->\n"
    report.DOCUMENT.write_text(f"{before}{BEGIN}{section}{END}{after}", encoding="utf-8")


def rounded(one):
    return {name: round(value, 4) for name, value in one.items()}
