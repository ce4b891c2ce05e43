# The command alone: `docker build -t sfumato .`; docs/running.md says how to run it and what to mount.
FROM python:3.12-slim AS build
WORKDIR /src
COPY . .
RUN pip install --no-cache-dir hatchling && python -m hatchling build -t wheel -d /dist

FROM python:3.12-slim
COPY --from=build /dist /dist
RUN pip install --no-cache-dir "$(ls /dist/*.whl)[duckdb,excel,stats,report]" && rm -r /dist && useradd --create-home sfumato
USER sfumato
WORKDIR /data
ENTRYPOINT ["sfumato"]
CMD ["--help"]
