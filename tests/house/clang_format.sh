#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every source of ours is laid out as .clang-format says. Contracts and submissions are not: people
# and models read the first as they were written, and the second are strangers'.
#
#   clang_format.sh CHECKOUT
set -euo pipefail
cd "$1"

# Each version lays out a little differently; this is the one that the sources were formatted with.
version=14
program=$(command -v "clang-format-$version" || command -v clang-format || true)
if [[ -z $program ]] || ! "$program" --version | grep -q "version $version\."; then
  echo "clang-format $version is not installed; this test is skipped"
  exit 0
fi
# It ends with an error where it finds something, which says less than what it prints.
printed=$(find harness graders tests reference \( -name '*.h' -o -name '*.cpp' \) -print0 |
  xargs -0 "$program" --dry-run --Werror --ferror-limit=1 2>&1) && failed= || failed=1
if [[ -n $failed ]]; then
  grep -E ' (error|warning): ' <<<"$printed" | cut -d: -f1 | sort -u |
    sed 's/.*/& is not formatted; mend it with: clang-format -i &/' || printf '%s\n' "$printed"
  exit 1
fi
echo "all sources are formatted"
