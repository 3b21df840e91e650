#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing and builds, so that the steps after it spend their time on grading.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
./gauntlet --yes doctor
