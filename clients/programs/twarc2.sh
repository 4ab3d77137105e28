#!/bin/sh
# Collects a timeline with the command of twarc.
set -eu
twarc2 --bearer-token "$LOCUM_BEARER_TOKEN" --config /dev/null --log "$TMPDIR/twarc.log" \
  timeline --limit 10 "$LOCUM_USERNAME" > "$TMPDIR/timeline.jsonl"
grep -q '"text"' "$TMPDIR/timeline.jsonl"
echo "done"
