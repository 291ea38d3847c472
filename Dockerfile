FROM vllm/vllm-openai:v0.33.0 AS vllm
RUN useradd --create-home --uid 10001 steadyeval \
    && install --directory --owner=steadyeval --mode=700 /cache
# All that vLLM and its libraries keep goes there.
ENV HOME=/cache USER=steadyeval
USER steadyeval
VOLUME /cache

FROM python:3.12.13-slim-trixie AS wheel
WORKDIR /src
COPY . .
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.12.13-slim-trixie
# The default brings torch without CUDA; for a GPU give https://download.pytorch.org/whl/cu130.
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
COPY --from=wheel /wheels /wheels
RUN pip install --no-cache-dir --extra-index-url "$TORCH_INDEX" "$(echo /wheels/*.whl)[embedded]" \
    && useradd --create-home --uid 10001 steadyeval \
    && install --directory --owner=steadyeval --mode=700 /data

USER steadyeval
# It listens beyond the container, so it starts once a key has been made: steadyeval keys create
ENV STEADYEVAL_HOME=/data HF_HOME=/data/huggingface PYTHONUNBUFFERED=1
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=15s --timeout=5s --start-period=10m --retries=4 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8080/readyz', timeout=4)"]
ENTRYPOINT ["steadyeval"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8080"]
