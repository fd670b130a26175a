# A server that an MCP client starts:  docker run -i --rm -v textrawl:/data textrawl
# With your own Postgres: add -e TEXTRAWL_DATABASE_URL=postgresql://... -e TEXTRAWL_ACCESS_TOKEN=trl_...
# For a team, over HTTP: compose.yaml.
FROM python:3.13.9-slim-trixie AS build
COPY pyproject.toml README.md LICENSE /source/
COPY textrawl /source/textrawl
COPY sql /source/sql
RUN pip wheel --no-cache-dir --wheel-dir /wheels /source

FROM python:3.13.9-slim-trixie
# tini adopts the child processes that Postgres leaves behind, and passes signals on.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends tini \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home textrawl \
    && install --directory --owner=textrawl --group=textrawl --mode=0700 /data
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install --no-cache-dir --no-index --find-links=/wheels textrawl
USER textrawl
WORKDIR /home/textrawl
ENV TEXTRAWL_DATA_DIR=/data/memory PYTHONUNBUFFERED=1
EXPOSE 8000
ENTRYPOINT ["tini", "--", "textrawl"]
