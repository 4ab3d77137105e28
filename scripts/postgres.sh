# Functions that start and stop a temporary PostgreSQL server; to be sourced.

# Starts a server under a directory and sets `postgres_url`. Further arguments are settings, `name=value`.
start_postgres() {
  local work=$1 port setting settings=''
  shift
  postgres_bin=$(find /usr/lib/postgresql -mindepth 2 -maxdepth 2 -name bin 2>/dev/null | sort -V | tail -n 1)
  [ -n "$postgres_bin" ] || { echo "no PostgreSQL under /usr/lib/postgresql" >&2; return 1; }
  postgres_data=$work/data
  mkdir "$postgres_data" "$work/socket"
  if [ "$(id -u)" = 0 ]; then
    # PostgreSQL refuses to run as root; the package created this user.
    postgres_user=(setpriv --reuid=postgres --regid=postgres --clear-groups env HOME="$work")
    chown postgres: "$postgres_data" "$work/socket"
  else
    postgres_user=(env)
  fi
  port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  for setting in "$@"; do settings+=" -c $setting"; done
  cd "$work"
  "${postgres_user[@]}" "$postgres_bin/initdb" -D "$postgres_data" -U locum -A trust -E UTF8 --locale=C --no-sync >/dev/null ||
    { echo "initdb failed" >&2; return 1; }
  "${postgres_user[@]}" "$postgres_bin/pg_ctl" -D "$postgres_data" -l "$postgres_data/log" -w -o "-p $port -k $work/socket \
    -c listen_addresses=127.0.0.1 -c max_connections=1000$settings" start >/dev/null ||
    { echo "PostgreSQL did not start: $(tail -n 3 "$postgres_data/log")" >&2; return 1; }
  cd - >/dev/null
  postgres_url=postgres://locum@127.0.0.1:$port/postgres
}

stop_postgres() {
  [ -z "${postgres_data-}" ] ||
    "${postgres_user[@]}" "$postgres_bin/pg_ctl" -D "$postgres_data" -m immediate -w stop >/dev/null 2>&1 || true
}

# Stops the server without a checkpoint and starts it again.
crash_postgres() {
  "${postgres_user[@]}" "$postgres_bin/pg_ctl" -D "$postgres_data" -l "$postgres_data/log" -m immediate -w restart >/dev/null
}
