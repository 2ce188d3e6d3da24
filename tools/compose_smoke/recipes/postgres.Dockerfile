# In place of postgres:17: Debian's PostgreSQL with the same user, folder and variables as far as we use them.
FROM stand-in:trixie
RUN groupadd --gid 999 postgres && useradd --uid 999 --gid 999 --home-dir /var/lib/postgresql postgres \
    && apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends postgresql-17 \
    && rm -rf /var/lib/apt/lists/* /var/lib/postgresql/17 \
    && install -d -m 1777 -o 999 -g 999 /var/lib/postgresql/data
ENV PATH=/usr/lib/postgresql/17/bin:$PATH PGDATA=/var/lib/postgresql/data
COPY postgres.sh /usr/local/bin/entrypoint
VOLUME /var/lib/postgresql/data
ENTRYPOINT ["/bin/sh", "/usr/local/bin/entrypoint"]
STOPSIGNAL SIGINT
