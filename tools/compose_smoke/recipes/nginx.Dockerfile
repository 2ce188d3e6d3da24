# In place of nginx:1.28: Debian's nginx.
FROM stand-in:trixie
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends curl nginx-light \
    && rm -rf /var/lib/apt/lists/*
CMD ["nginx", "-g", "daemon off;"]
STOPSIGNAL SIGQUIT
