#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Writes the report with the results of grade_change.sh in it: the site that is published to
# build/report, and what git keeps to reports/, which somebody looks at and commits.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
exec ./gauntlet --yes report --results build/ci/results
