"""The figures that bench/instructions.json holds: kept, compared, shown in docs/performance.md."""

import hashlib
import json
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path

from instruction_rows import ABOUT
from server import ROOT, Failed

FILE = ROOT / "bench" / "instructions.json"
DOCUMENT = ROOT / "docs" / "performance.md"
BEGIN, END = "<!-- instructions: begin -->", "<!-- instructions: end -->"
# A row that takes more than this much more fails `--check`.
MORE = 0.03


def stored():
    """By cargo profile, counter and row: a figure, and what it is of."""
    return json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}


def stored_by_counter(profile):
    return stored().get(profile, {})


def count_of(row):
    """The figure of a row of the release binary, if there is one."""
    for rows in stored_by_counter("release").values():
        if row in rows:
            return rows[row]["instructions"]
    return None


# Keeping.


def answer(*command):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout.strip()


def product():
    """The last commit that changed more than documents and measuring."""
    paths = ["--", ".", ":!docs", ":!bench", ":!scripts"]
    changed = answer("git", "status", "--porcelain", *paths)
    return answer("git", "log", "-1", "--format=%h", *paths) + (" and changes" if changed else "")


def machine():
    """What decides which code paths libraries select: the processor's features and the C library."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    facts = dict(line.split(":", 1) for line in reversed(lines) if ":" in line)
    facts = {name.strip(): value.strip() for name, value in facts.items()}
    features = hashlib.sha256(facts.get("flags", facts.get("Features", "")).encode()).hexdigest()[:8]
    return f"{facts.get('model name', platform.machine())} {features}, {' '.join(platform.libc_ver())}"


def keep(profile, counter, figures):
    """Stores new figures; those of other rows stay."""
    day, all_figures = datetime.now(UTC).date().isoformat(), stored()
    toolchain = " ".join(answer("rustc", "--version").split()[:2])
    more = {"commit": product(), "day": day, "toolchain": toolchain, "machine": machine()}
    rows = all_figures.setdefault(profile, {}).setdefault(counter, {})
    rows |= {row: {"instructions": count, **more} for row, count in figures.items()}
    FILE.write_text(text_of(all_figures), encoding="utf-8")
    write_table(all_figures)


def text_of(all_figures):
    """JSON with a line for each row."""
    profiles = []
    for profile, by_counter in all_figures.items():
        counters = []
        for counter, rows in by_counter.items():
            lines = [f'  "{row}": {json.dumps(rows[row])}' for row in ABOUT if row in rows]
            counters.append(f'"{counter}": {{\n' + ",\n".join(lines) + "\n}")
        profiles.append(f'"{profile}": {{\n' + ",\n".join(counters) + "\n}")
    return "{\n" + ",\n".join(profiles) + "\n}\n"


def table(all_figures):
    lines = ["| Row | What | Instructions | Build | Counted by | Of |", "|---|---|--:|---|---|---|"]
    for profile, by_counter in all_figures.items():
        for counter, rows in by_counter.items():
            for row in (row for row in ABOUT if row in rows):
                one = rows[row]
                of = f"{one['commit']}, {one['day']}, {one['toolchain']}"
                lines.append(f"| {row} | {ABOUT[row]} | {one['instructions']:,} | {profile} | {counter} | {of} |")
    return "\n".join(lines)


def write_table(all_figures):
    """Puts the table into the document."""
    before, begin, rest = DOCUMENT.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise Failed(f"docs/performance.md has no {BEGIN} … {END}")
    DOCUMENT.write_text(f"{before}{BEGIN}\n{table(all_figures)}\n{END}{after}", encoding="utf-8")


# Comparing.


def are_comparable(profile, counter):
    """Whether some stored figure was counted on a machine like this one: only such a figure is judged."""
    here = machine()
    return any(row["machine"] == here for row in stored_by_counter(profile).get(counter, {}).values())


def comparison(profile, counter, figures):
    """Lines that show each figure beside the stored one, and the rows that take too much more.

    Figures of another machine are shown and not judged."""
    kept, here = stored_by_counter(profile).get(counter, {}), machine()
    lines, lost = [f"{'row':12}{'was':>14}{'is':>14}{'ratio':>8}"], []
    for row, count in figures.items():
        was = kept[row]["instructions"] if row in kept else None
        ratio = count / was if was else None
        is_alike = row in kept and kept[row]["machine"] == here
        if ratio and ratio > 1 + MORE and is_alike:
            lost.append(row)
        columns = f"{was:14,}{count:14,}{ratio:8.3f}" if was else f"{'-':>14}{count:14,}{'-':>8}"
        note = "  more than 3 % more" if row in lost else "" if is_alike else "  counted on another machine"
        lines.append(f"{row:12}{columns}{note}")
    return "\n".join(lines), lost
