#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clang-tidy, with the checks of .clang-tidy, on the translation units of a unity build: one for each
# folder, so that headers are read once.
#
#   clang_tidy.sh CHECKOUT BUILD            the units of the folders that a change touched: since the
#                                           commit before, or since where a branch left the main one
#   clang_tidy.sh CHECKOUT BUILD as-a-whole all of them, some minutes
set -euo pipefail
cd "$1"
build=$2
whole=${3:-}

program=$(command -v clang-tidy-14 || command -v clang-tidy || true)
if [[ -z $program ]]; then
  echo "clang-tidy is not installed; this test is skipped"
  exit 0
fi

changed_folders() {
  local base
  base=$(git merge-base HEAD origin/HEAD 2>/dev/null || true)
  [[ -n $base && $base != $(git rev-parse HEAD) ]] || base=HEAD~1
  git diff --name-only "$base" -- '*.cpp' '*.h' | xargs -r -n1 dirname | sort -u
}

# Those of the build as it is now: an older one may have left others in its folder.
mapfile -t units < <(grep -oE '"file": "[^"]+/Unity/[^"]+[.]cxx"' "$build"/compile_commands.json |
  cut -d'"' -f4)
if [[ $whole != as-a-whole ]]; then
  if ! folders=$(changed_folders 2>/dev/null); then
    echo "there is no commit to compare with; this test is skipped"
    exit 0
  fi
  [[ -n $folders ]] || { echo "no source changed" && exit 0; }
  mapfile -t units < <(sed "s#^#$PWD/#; s#\$#/[^/]*[.]cpp\"#" <<<"$folders" |
    grep -lEf - "${units[@]}" || true)
fi
((${#units[@]})) || { echo "no unit has a source that changed" && exit 0; }

# Without the compiler's precompiled headers, which no other program reads.
commands=$(mktemp -d)
trap 'rm -rf "$commands"' EXIT
sed -E 's/ -Winvalid-pch -include [^ "]+//' "$build/compile_commands.json" \
  >"$commands/compile_commands.json"

# What the compiler alone knows (-Wno-restrict, --param, -fvect-cost-model) is no complaint. clang-tidy
# ends with an error where it finds something, and where it could not look.
printed=$(printf '%s\0' "${units[@]}" |
  xargs -0 -n1 -P "$(nproc)" "$program" -quiet -p "$commands" \
    --extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-unused-command-line-argument \
    --extra-arg=-Wno-ignored-optimization-argument \
    2>&1) && failed= || failed=1
if [[ -n $failed ]]; then
  grep -E '^/.*(error|warning):' <<<"$printed" | sort -u || printf '%s\n' "$printed"
  exit 1
fi
echo "${#units[@]} units are clean"
