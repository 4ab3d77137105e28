"""The tables and verdicts, and the section of docs/performance.md that contains them."""

import json
import os
import re
import statistics
import subprocess
from datetime import UTC, datetime

import instruction_figures
from hooks import HOOKS
from load import Load
from rows import ELSEWHERE
from server import ROOT, Failed

DOCUMENT = ROOT / "docs" / "performance.md"
BEGIN, END = "<!-- bench: begin -->", "<!-- bench: end -->"
DATA = re.compile(r"<!-- figures\n(.*?)\n-->", re.DOTALL)
# A row that is slower by more than this factor fails `--check`.
LOST = 0.25
# A cost counts as flat if it differs by at most this factor between sizes.
FLAT = 1.5

# Row and name: description, and targets as (figure, "<=" or ">=", bound, label).
CPU = "cpu"
TARGETS = {
    "P1 lookup": (
        "one post, author expanded, app-only bearer",
        [(CPU, "<=", 100, "≤ 0.1 ms"), ("ratio", ">=", 0.4, "≥ 0.4 ×")],
    ),
    "P2 me": ("`users/me`, OAuth 2.0 user token", [(CPU, "<=", 100, "≤ 0.1 ms")]),
    "P3 home-500": ("home timeline, 100 posts, 500 followed", [(CPU, "<=", 500, "≤ 0.5 ms")]),
    "P3 home-5000": ("home timeline, 100 posts, 5,000 followed", [(CPU, "<=", 1000, "≤ 1 ms")]),
    "P3 home-500-full": ("home timeline, 500 followed, with authors, times and metrics", []),
    "P3 list-500": ("list timeline, 100 posts, 500 members", [(CPU, "<=", 500, "≤ 0.5 ms")]),
    "P3 list-5000": ("list timeline, 100 posts, 5,000 members", [(CPU, "<=", 1000, "≤ 1 ms")]),
    "P4 posts": ("a user's posts, first page of 100", [(CPU, "<=", 500, "≤ 0.5 ms")]),
    "P4 posts-deep": ("a deep page", [(CPU, "<=", 500, "≤ 0.5 ms")]),
    "P4 mentions": ("mentions, first page of 100", [(CPU, "<=", 500, "≤ 0.5 ms")]),
    "P4 mentions-deep": ("a deep page", [(CPU, "<=", 500, "≤ 0.5 ms")]),
    "P4 followers": ("followers, first page of 100", [(CPU, "<=", 500, "≤ 0.5 ms")]),
    "P4 followers-deep": ("a deep page", [(CPU, "<=", 500, "≤ 0.5 ms")]),
    "P4 members": ("members of a list, first page of 100", [(CPU, "<=", 500, "≤ 0.5 ms")]),
    "P4 members-deep": ("a deep page", [(CPU, "<=", 500, "≤ 0.5 ms")]),
    "P4 people": ("users by a common word, page of 100", [(CPU, "<=", 500, "≤ 0.5 ms")]),
    "P8 search": (
        "search, 12 alternating queries, newest 10",
        [("p99", "<=", 20, "p99 ≤ 20 ms")],
    ),
    "P8 search-common": ("search for the most common word", [("p99", "<=", 20, "p99 ≤ 20 ms")]),
    "P8 search-phrase": ("search for a phrase of two words", [("p99", "<=", 20, "p99 ≤ 20 ms")]),
    "P8 search-none": ("search without results", [(CPU, "<=", 1000, "≤ 1 ms")]),
    "P8 counts": (
        "hourly counts over 7 days, most common word, 2 connections",
        [("p50", "<=", 30, "≤ 30 ms")],
    ),
    "P9 write": (
        "`POST /2/tweets`, durable, 64 connections",
        [
            (CPU, "<=", 80, "≤ 0.08 ms"),
            ("ratio", ">=", 0.15, "≥ 0.15 ×"),
            ("p99", "<=", 50, "p99 ≤ 50 ms"),
        ],
    ),
    "P9 like": (
        "`POST` and `DELETE /2/users/{id}/likes`, durable, 64 connections",
        [(CPU, "<=", 80, "≤ 0.08 ms"), ("p99", "<=", 50, "p99 ≤ 50 ms")],
    ),
    "P9 follow": (
        "follow and unfollow the most followed user, durable, 64 connections",
        [(CPU, "<=", 80, "≤ 0.08 ms"), ("p99", "<=", 50, "p99 ≤ 50 ms")],
    ),
    "P12 list": (
        "ads: 200 of 8,000 campaigns with the total count",
        [(CPU, "<=", 1000, "≤ 1 ms")],
    ),
    "P12 list-filters": (
        "of two instruments, by a name's beginning, in the order of budgets",
        [(CPU, "<=", 1000, "≤ 1 ms")],
    ),
    "P12 list-rare": ("by a name's beginning that a few have", [(CPU, "<=", 1000, "≤ 1 ms")]),
    "P12 list-deleted": ("the filters again, with 32,000 deleted ones", []),
}
# Rows whose requests scripts/instructions counts too, and what it calls them.
COUNTED = {
    "P1 lookup": "lookup",
    "P3 home-500": "home",
    "P4 posts": "posts",
    "P4 mentions": "mentions",
    "P8 search-common": "search",
    "P8 counts": "counts",
    "P9 write": "post",
    "P9 like": "like",
    "P9 follow": "follow",
    "P12 list": "campaigns",
    "P12 batch-create": "batch",
}
MEGABYTES_AT_A_MILLION = 400
# Sequential measurements: description, limit in milliseconds, label.
SINGLE = {
    "batch-create": ("ads: batch of 40 new campaigns beside 8,000", None, "one commit"),
    "batch-update": ("ads: batch of 40 changes", None, "one commit"),
    "audience-new": ("ads: 2,500 new members of an audience", 250, "≤ 250 ms"),
    "audience-same": ("ads: the same 2,500 again", 250, "≤ 250 ms"),
    "insight-common": ("ads: keyword insights, the commonest words", 100, "≤ 100 ms"),
    "insight-middle": ("ads: keyword insights, words of rank 100", 100, "≤ 100 ms"),
    "insight-rare": ("ads: keyword insights, words of rank 2,000", 100, "≤ 100 ms"),
}


def judged(figures, targets):
    """"met", or the missed targets."""
    missed = [
        said
        for name, relation, bound, said in targets
        if not (figures[name] <= bound if relation == "<=" else figures[name] >= bound)
    ]
    if not targets:
        return ""
    return "**missed**: " + ", ".join(missed) if missed else "met"


def milliseconds(microseconds):
    return f"{microseconds / 1000:.3f}"


def split(key):
    row, name, size = key.split(" ")
    return row, name, int(size)


def order(key):
    row, name, size = split(key)
    place = list(TARGETS).index(f"{row} {name}") if f"{row} {name}" in TARGETS else 99
    return int(row[1:]), place, name, size


def load_rows(all_figures):
    for key in sorted(all_figures, key=order):
        row, name, size = split(key)
        if f"{row} {name}" in TARGETS:
            yield row, name, size, all_figures[key]


def instructions(all_figures, row, name, size):
    """Thousands of instructions of a request, at the least size that the row was measured at."""
    sizes = [split(key)[2] for key in all_figures if key.startswith(f"{row} {name} ")]
    count = instruction_figures.count_of(COUNTED.get(f"{row} {name}"))
    return f"{count / 1000:,.0f}" if count and size == min(sizes) else ""


def load_table(all_figures):
    lines = [
        "| Row | What | Posts | CPU ms per request | Instructions, thousands | req/s ÷ `/livez` "
        "| CPU ÷ `/livez` | p50 / p99 ms | Target | Verdict |",
        "|---|---|--:|--:|--:|--:|--:|--:|---|---|",
    ]
    for row, name, size, one in load_rows(all_figures):
        about, targets = TARGETS[f"{row} {name}"]
        said = ", ".join(target[3] for target in targets)
        lines.append(
            f"| {row} | {about} | {size:,} | {milliseconds(one['cpu'])} "
            f"| {instructions(all_figures, row, name, size)} | {one['ratio']:.2f} "
            f"| {one['cost']:.1f} | {one['p50']:.2f} / {one['p99']:.2f} "
            f"| {said} | {judged(one, targets)} |"
        )
    return lines


def other_rows(all_figures):
    """Rows not measured as load against the reference: row, description, posts, figure, target, verdict."""
    for key in sorted(all_figures, key=order):
        row, name, size = split(key)
        one = all_figures[key]
        if name.endswith("-cold"):
            followed = name.split("-")[1]
            about = f"home timeline of {followed} followed, first request after a start"
            figure = f"{one['cpu_ms']:.1f} ms CPU, {one['wall']:.1f} ms"
            yield row, about, size, figure, "", None
        elif name == "oauth1":
            figure = f"{one['extra']:.0f} µs more, {milliseconds(one['cpu'])} ms in all"
            about = "OAuth 1.0a signature over OAuth 2.0 bearer, same lookups"
            yield row, about, size, figure, "≤ 20 µs more", one["extra"] <= 20
        elif name == "start":
            about, figure = "cold start to first correct response", f"{one['start']:.2f} s"
            yield row, about, size, figure, "≤ 0.5 s", one["start"] <= 0.5
            figure = f"{one['idle']:.0f} MB ({one['idle_anonymous']:.0f} without files)"
            yield row, "idle RSS", size, figure, "≤ 60 MB", one["idle"] <= 60
        elif name == "loaded":
            figure = f"{one['resident']:.0f} MB ({one['anonymous']:.0f} without files)"
            million = size >= 1_000_000
            target = f"≤ {MEGABYTES_AT_A_MILLION} MB" if million else ""
            met = one["resident"] <= MEGABYTES_AT_A_MILLION if million else None
            yield row, "RSS after the read rows", size, figure, target, met
        elif name == "stream":
            about = "post → filtered stream, 25,000 rules"
            figure = (
                f"p50 {one['p50']:.1f} ms, p99 {one['p99']:.1f} ms while {one['flowing']:,.0f} "
                f"others are written per second ({one['cores']:.2f} cores)"
            )
            yield row, about, size, figure, "p99 ≤ 50 ms", one["p99"] <= 50
        elif name == "idle-streams":
            about = "1,000 idle streams"
            figure = f"{one['share'] * 100:.2f} % of a core, {one['kilobytes']:.0f} kB each"
            yield row, about, size, figure, "≤ 1 % of a core", one["share"] <= 0.01
        elif name == "webhook":
            about = f"post → webhook receiver, {HOOKS} webhooks"
            figure = (
                f"p50 {one['p50']:.1f} ms, p99 {one['p99']:.1f} ms at {one['events']:,.0f} events "
                f"per second; {milliseconds(one['more'])} ms CPU more for each"
            )
            yield row, about, size, figure, "p99 ≤ 250 ms", one["p99"] <= 250
        elif name == "dispatch":
            about = "queued webhook delivery, without TLS"
            figure = f"{milliseconds(one['cpu'])} ms CPU, {one['rate']:,.0f}/s"
            yield row, about, size, figure, "≤ 0.1 ms CPU", one["cpu"] <= 100
        elif name in SINGLE:
            about, most, target = SINGLE[name]
            figure = f"{one['cpu_ms']:.1f} ms CPU, {one['wall']:.1f} ms"
            if count := instructions(all_figures, row, name, size):
                figure += f", {count} thousand instructions"
            if "volume" in one:
                figure += f" ({one['volume']:,.0f} posts, {one['related']:.0f} related keywords)"
            yield row, about, size, figure, target, None if most is None else one["wall"] <= most
        elif name == "index":
            figure = f"{one['posts']:,.0f} posts/s, {one['seconds']:.1f} s"
            yield row, "index built by the first server after an import", size, figure, "", None
        elif name == "findable":
            figure = f"p50 {one['p50']:.1f} ms, p99 {one['p99']:.1f} ms"
            about = "own post found by a search"
            yield row, about, size, figure, "≤ 1 s", one["p99"] <= 1000
        elif name == "import":
            figure = (
                f"{one['posts']:,.0f} posts/s, {one['worked']:.0f} µs CPU each "
                f"({one['seconds']:.1f} s with users and follows)"
            )
            yield row, "import of JSON Lines", size, figure, "≥ 20,000 posts/s", one["posts"] >= 20_000


def other_table(all_figures):
    rows = list(other_rows(all_figures))
    if not rows:
        return []
    lines = ["| Row | What | Posts | Figure | Target | Verdict |", "|---|---|--:|---|---|---|"]
    for row, about, size, figure, target, met in rows:
        verdict = "" if met is None else "met" if met else "**missed**"
        lines.append(f"| {row} | {about} | {size:,} | {figure} | {target} | {verdict} |")
    return lines


def growth(all_figures):
    """The growth of each row's cost from the smallest to the largest size, in /livez requests."""
    sizes = {}
    for row, name, size, one in load_rows(all_figures):
        sizes.setdefault(f"{row} {name}", {})[size] = one["cost"]
    lines = []
    for key, costs in sizes.items():
        if len(costs) > 1:
            factor = costs[max(costs)] / costs[min(costs)]
            verdict = "flat" if factor <= FLAT else "**grows**"
            lines.append(
                f"| {key.replace(' ', ' · ')} | {min(costs):,} → {max(costs):,} "
                f"| × {factor:.2f} | {verdict} |"
            )
    if lines:
        lines = ["| Row | Posts | Cost in `/livez` requests | Verdict |", "|---|---|--:|---|", *lines]
    return lines


def not_built():
    return ["Measured elsewhere: " + ", ".join(f"{row} ({what})" for row, what in ELSEWHERE.items()) + "."]


def text(all_figures):
    parts = [load_table(all_figures), other_table(all_figures), growth(all_figures), not_built()]
    return "\n\n".join("\n".join(part) for part in parts if part)


# Storing.


def git(*arguments):
    ran = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    return ran.stdout.strip()


def commit():
    changed = git("status", "--porcelain", "--", ":!docs", ":!bench", ":!scripts")
    return git("rev-parse", "--short", "HEAD") + (" and changes" if changed else "")


def machine():
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return f"{os.cpu_count()} cores, {pages / 2**30:.0f} GiB of memory"


def parts():
    document = DOCUMENT.read_text(encoding="utf-8")
    before, begin, rest = document.partition(BEGIN)
    section, end, after = rest.partition(END)
    if not begin or not end:
        raise Failed(f"docs/performance.md has no {BEGIN} … {END}")
    return before, section, after


def stored():
    """The figures stored in the document."""
    found = DATA.search(parts()[1])
    return json.loads(found.group(1)) if found else {}


def keep(figures, command, version):
    """Updates the figures in the document; rows that were not measured are unchanged."""
    before, _, after = parts()
    day = datetime.now(UTC).date().isoformat()
    told = stored()
    for key, one in figures.items():
        rounded = {name: round(value, 4) for name, value in one.items()}
        told[key] = {**rounded, "day": day, "commit": version}
    lines = [f'"{key}": {json.dumps(told[key])}' for key in sorted(told, key=order)]
    data = "{\n" + ",\n".join(lines) + "\n}"
    older = sorted({f"{one['day']} ({one['commit']})" for key, one in told.items() if key not in figures})
    head = [f"{day}, commit {version}, {machine()}: `{command}`."]
    if Load.others:
        busy = statistics.median(Load.others)
        head.append(f"Other processes took {busy:.0%} of the cores (median of the rounds).")
    if older:
        head.append("Rows that this run did not measure are of " + ", ".join(older) + ".")
    section = f"\n{' '.join(head)}\n\n{text(told)}\n\n<!-- figures\n{data}\n-->\n"
    DOCUMENT.write_text(f"{before}{BEGIN}{section}{END}{after}", encoding="utf-8")


def draw_again():
    """Writes the tables of the document anew, from the figures that it holds."""
    before, section, after = parts()
    data = DATA.search(section)
    if data:
        head = section.strip().partition("\n")[0]
        section = f"\n{head}\n\n{text(json.loads(data.group(1)))}\n\n{data.group(0)}\n"
        DOCUMENT.write_text(f"{before}{BEGIN}{section}{END}{after}", encoding="utf-8")


# Checking.

# Lower is better, higher is better. Costs are in reference requests of the same run, so that
# figures of different machines are comparable.
LOWER = ("cost", "extra", "start", "worked", "idle_anonymous", "anonymous")
HIGHER = ("ratio",)
# Differences below these are noise.
NOISE = {"extra": 5.0, "start": 0.1}


def losses(figures, kept):
    """Rows that lost more than a quarter, by key: old and new figures."""
    lost = {}
    for key, now in figures.items():
        was = kept.get(key)
        if was is None:
            continue
        for name in LOWER + HIGHER:
            if name not in now or name not in was:
                continue
            bound = was[name] * (1 + LOST) if name in LOWER else was[name] * (1 - LOST)
            worse = now[name] > bound if name in LOWER else now[name] < bound
            if worse and abs(now[name] - was[name]) > NOISE.get(name, 0):
                lost.setdefault(key, []).append(f"{name} was {was[name]:.3g}, is {now[name]:.3g}")
    return lost
