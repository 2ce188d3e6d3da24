# In place of valkey/valkey:8: Debian's Valkey.
FROM stand-in:trixie
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends valkey-server \
    && rm -rf /var/lib/apt/lists/*
