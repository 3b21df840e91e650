# SPDX-License-Identifier: Apache-2.0
# The agent's container: the compiler that graded solutions are built with, and the contract.
# Graders and references are in the verifier's image only, see tests/Dockerfile.
FROM debian:12
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
      ca-certificates curl g++ gdb git make python3 \
 && rm -rf /var/lib/apt/lists/*
COPY submission /app/submission
WORKDIR /app
