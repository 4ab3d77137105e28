#!/bin/sh
# Reads over HTTP/1.1 and HTTP/2, and is refused by hosts that are not emulated.
set -eu
for version in --http1.1 --http2; do
  curl -fsS "$version" -H "Authorization: Bearer $LOCUM_USER_TOKEN" https://api.x.com/2/users/me |
    grep -q "\"username\":\"$LOCUM_USERNAME\""
done
! curl -sS --max-time 10 https://example.com/ 2> /dev/null
curl -fsS "$LOCUM_BASE_URL/readyz" > /dev/null
echo "done"
