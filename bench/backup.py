#!/usr/bin/env python3
"""Backs up a large network, restores it elsewhere and checks the result.

    python3 bench/backup.py [--posts 1000000] [--binary target/release/locum]
"""

import argparse
import json
import shutil
import tempfile
import time
from pathlib import Path

import server as bench
from server import run_program



def timed(binary, folder, *arguments):
    """Seconds and JSON output of a command."""
    begun = time.monotonic()
    answer = bench.run(binary, folder, *arguments)
    return round(time.monotonic() - begun, 1), answer


def exported_lines(binary, folder, file):
    """The exported network, sorted, since an export has no order between kinds."""
    bench.run(binary, folder, "export", "--jsonl", file)
    return sorted(file.read_bytes().splitlines())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--posts", type=int, default=1_000_000)
    parser.add_argument("--binary", type=Path)
    options = parser.parse_args()
    binary = (options.binary or bench.binary()).resolve()
    work = Path(tempfile.mkdtemp(prefix="locum-backup-"))
    try:
        old, new, archive = work / "old", work / "new", work / "network.tar"
        passphrase = work / "passphrase"
        passphrase.write_text("only for this measurement")
        passphrase.chmod(0o600)
        bench.fill(binary, old, bench.lines(options.posts, 7))
        key = ["--key-passphrase-file", passphrase]
        backup, _ = timed(binary, old, "backup", archive, *key)
        new.mkdir()
        restore, _ = timed(binary, new, "restore", archive, *key, "--master-key", new / "master.key")
        check, report = timed(binary, new, "fsck")
        before, after = (exported_lines(binary, one, work / f"{one.name}.jsonl") for one in (old, new))
        differences = len(set(before) ^ set(after)) + abs(len(before) - len(after))
        figure = {
            "posts": options.posts,
            "archive_mb": round(archive.stat().st_size / 2**20, 1),
            "backup_seconds": backup,
            "restore_seconds": restore,
            "fsck_seconds": check,
            "lines_compared": len(before),
            "differences": differences + (not report["sound"]),
        }
    finally:
        shutil.rmtree(work, ignore_errors=True)
    print("figure:", json.dumps(figure))
    return 1 if figure["differences"] else 0


if __name__ == "__main__":
    run_program(main)
