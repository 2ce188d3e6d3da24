# In place of chrislusf/seaweedfs:3: s3rver, another server that speaks S3 and keeps its objects in /data.
# It takes SeaweedFS's arguments, and keys from the same file.
FROM stand-in:trixie
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends libatomic1 wget \
    && rm -rf /var/lib/apt/lists/*
COPY node /usr/local/bin/node
COPY node_modules /srv/node_modules
COPY seaweedfs.js /srv/seaweedfs.js
ENTRYPOINT ["node", "/srv/seaweedfs.js"]
