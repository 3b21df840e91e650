#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A ninth challenge is new folders only: copies one challenge's three folders under another name into
# a scratch checkout that has no other, builds it, grades with it, and checks that no existing file was
# edited.
#
#   ninth_challenge.sh CHECKOUT BUILD
#
# The harness knows no challenge: its libraries are taken from the build of the checkout as they are.
set -euo pipefail

checkout=$1
build=$2
original=layernorm_backward
copy=ninth_challenge
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
  printf 'ninth challenge: %s\n' "$*" >&2
  exit 1
}

# The house without its challenges, to keep the build short: that they do not get in each other's way
# is what every build of the checkout shows.
mkdir -p "$scratch"/{challenges,reference,graders,submissions/textbook}
cp -r "$checkout"/{CMakeLists.txt,CMakePresets.json,LICENSE,README.md,cmake,harness,packaging,tests} "$scratch"
cp "$checkout"/challenges/*.md "$scratch/challenges"
cp -r "$checkout/graders/kit" "$scratch/graders"
cp "$checkout/submissions/textbook/model.yaml" "$scratch/submissions/textbook"
before=$(cd "$scratch" && find . -type f -not -path './build/*' -exec sha256sum {} + | sort -k 2)

for folder in challenges reference graders submissions/textbook; do
  cp -r "$checkout/$folder/$original" "$scratch/$folder/$copy"
done

same=()
for setting in CMAKE_CXX_COMPILER GAUNTLET_SANITIZE; do
  same+=("-D$setting=$(sed -n "s/^$setting:[A-Z]*=//p" "$build/CMakeCache.txt")")
done
cmake -S "$scratch" -B "$scratch/build" -G Ninja -DCMAKE_BUILD_TYPE= -DCMAKE_UNITY_BUILD=ON "${same[@]}" \
  "-DGAUNTLET_ROOMS_OF=$build" >"$scratch/build.log" 2>&1 &&
  cmake --build "$scratch/build" --target gauntlet >>"$scratch/build.log" 2>&1 || {
  tail -n 30 "$scratch/build.log" >&2
  fail "the build with a copied challenge failed"
}

gauntlet=("$scratch/build/bin/gauntlet" --color never)
"${gauntlet[@]}" list | grep -q "$copy" || fail "'list' does not show $copy"
"${gauntlet[@]}" rerun textbook "$copy" --check all_gradients --json >"$scratch/result.json" ||
  fail "grading with $copy failed"
grep -q "\"$copy\"" "$scratch/result.json" || fail "the result does not name $copy"

after=$(cd "$scratch" && printf '%s\n' "$before" | awk '{print $2}' | xargs sha256sum | sort -k 2)
[[ $before == "$after" ]] || fail "a file had to be edited"
printf 'ninth challenge: works, no file edited\n'
