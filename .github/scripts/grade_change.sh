#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Grades the submissions that differ from GAUNTLET_BASE, a branch or commit. Words behind it are
# further options of ./gauntlet ci. Documents and results go to build/ci, which the job keeps.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
base=${GAUNTLET_BASE:-}
if [[ -z $base ]]; then
  echo "grade_change.sh: GAUNTLET_BASE is not set; give the branch or commit to compare with" >&2
  exit 2
fi
# A branch that was pushed for the first time has no commit before it.
[[ $base =~ ^0+$ ]] && base=HEAD~1
exec ./gauntlet --yes ci --base "$base" --out build/ci --results build/ci/results "$@"
