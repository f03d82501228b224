# deepcrib with everything for CPUs: `docker build -t deepcrib .`, then
# `docker run --rm -v "$PWD/outputs:/work/outputs" deepcrib train experiment=quick`.
FROM python:3.11-slim

WORKDIR /opt/deepcrib
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY deepcrib deepcrib
COPY conf conf
COPY hydra_plugins hydra_plugins

# With --build-arg TORCH_INDEX=URL of an index with PyTorch's CPU builds the image has no CUDA, which is gigabytes.
ARG TORCH_INDEX=""
RUN PIP_EXTRA_INDEX_URL="$TORCH_INDEX" pip install --no-cache-dir -c constraints.txt '.[plots,play,envs,launchers,orion]'

# Compiled code of the game is kept here, and may be a volume.
ENV XDG_CACHE_HOME=/work/cache
WORKDIR /work
ENTRYPOINT ["deepcrib"]
CMD ["--help"]
