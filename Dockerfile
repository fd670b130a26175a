# A server that an MCP client starts:  docker run -i --rm -v textrawl:/data textrawl
# With your own Postgres: add -e TEXTRAWL_DATABASE_URL=postgresql://... -e TEXTRAWL_ACCESS_TOKEN=trl_...
# For a team, over HTTP: compose.yaml. On Kubernetes: deploy/kubernetes.
FROM python:3.13.9-slim-trixie AS build
COPY pyproject.toml README.md LICENSE /source/
COPY textrawl /source/textrawl
COPY sql /source/sql
COPY packages /source/packages
# The versions of a checkout. pip reads PIP_CONSTRAINT for the packages that build textrawl too.
ENV PIP_CONSTRAINT=/versions.txt
RUN python -c "import tomllib; uv = tomllib.load(open('/source/pyproject.toml', 'rb'))['tool']['uv']; \
print(*{*uv['constraint-dependencies'], *uv['build-constraint-dependencies']}, sep='\n')" > /versions.txt \
    && pip wheel --no-cache-dir --wheel-dir /wheels /source/packages/client /source

FROM python:3.13.9-slim-trixie
LABEL org.opencontainers.image.title="textrawl" \
      org.opencontainers.image.description="Shared memory for AI agents on Postgres and pgvector: an MCP server" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.source="https://github.com/textrawl/textrawl" \
      io.modelcontextprotocol.server.name="io.github.textrawl/textrawl"
# tini adopts the child processes that Postgres leaves behind, and passes signals on.
# Its version is that of the release of Debian. A pinned version would disappear with a security fix.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends tini \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 1000 --user-group textrawl \
    && install --directory --owner=textrawl --group=textrawl --mode=0700 /data
# The only version is the one that was built above.
# hadolint ignore=DL3013
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install --no-cache-dir --no-index --find-links=/wheels textrawl
# Kubernetes compares a number with runAsNonRoot, and cannot look a name up.
USER 1000:1000
WORKDIR /home/textrawl
# The keys of encrypted graphs are in the volume too: with the container, their documents would be lost.
ENV TEXTRAWL_DATA_DIR=/data/memory TEXTRAWL_ENCRYPTION_KEY=file:/data/encryption.key PYTHONUNBUFFERED=1
EXPOSE 8000
# There is no HEALTHCHECK, because a server over stdio has no port. compose.yaml and the manifests check /healthz.
ENTRYPOINT ["tini", "--", "textrawl"]
