#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The project's own tests; words behind it are those of ./gauntlet test.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
exec ./gauntlet --yes test "$@"
