# What the official image does at the first start, as far as docker-compose.yml relies on it.
set -eu
if [ ! -s "$PGDATA/PG_VERSION" ]; then
    initdb --encoding=UTF8 --locale=C.UTF-8 --username="$POSTGRES_USER" --pwfile="$POSTGRES_PASSWORD_FILE" --auth-host=scram-sha-256 --auth-local=trust
    echo "host all all all scram-sha-256" >> "$PGDATA/pg_hba.conf"
    pg_ctl -w -o "-c listen_addresses= -c unix_socket_directories=/tmp" start
    createdb --host=/tmp --username="$POSTGRES_USER" "$POSTGRES_DB"
    pg_ctl -w -m fast stop
fi
exec postgres -c listen_addresses='*' -c unix_socket_directories=/run/postgresql
