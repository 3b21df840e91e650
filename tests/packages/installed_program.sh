#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what was built into a scratch prefix, and has the installed program list, validate and
# grade as an ordinary user, in a folder that is no checkout.
#
#   installed_program.sh CHECKOUT BUILD
set -euo pipefail
checkout=$1
build=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
  printf 'installed program: %s\n' "$*" >&2
  exit 1
}
expect() { # expect TEXT WORDS...: that they print it
  local text=$1 said
  shift
  said=$("$@" 2>&1) || fail "'$*' ended with $?: $said"
  [[ $said == *"$text"* ]] || fail "'$*' does not say '$text' but: $said"
}

prefix=$scratch/prefix
cmake --install "$build" --prefix "$prefix" >"$scratch/install.log"
[[ ! -e $prefix/bin/gauntlet-checkout ]] || fail "the installed program would look for a checkout"
grep -qF "$checkout" "$prefix/bin/gauntlet" && [[ -z ${GAUNTLET_SANITIZED:-} ]] &&
  fail "the installed program knows where it was built"

models=$scratch/models
challenge=$("$prefix/bin/gauntlet" list | awk '$1 == "layernorm_backward" || NR == 2 { id = $1 } END { print id }')
mkdir -p "$models/textbook" "$scratch/home"
cp -r "$checkout/submissions/textbook"/{model.yaml,"$challenge"} "$models/textbook"
user=(env -i HOME="$scratch/home" PATH=/usr/bin:/bin)
if ((EUID == 0)); then
  chmod 755 "$scratch"
  chown -R 65534:65534 "$models" "$scratch/home"
  user=(setpriv --reuid 65534 --regid 65534 --clear-groups "${user[@]}")
fi
cd "$models"
gauntlet=("${user[@]}" "$prefix/bin/gauntlet")
expect "$challenge" "${gauntlet[@]}" list
expect 'textbook ok' "${gauntlet[@]}" validate textbook
expect '"failures":[]' "${gauntlet[@]}" reward textbook -c "$challenge" --no-speed --json --quiet
expect 'Next: gauntlet' "${gauntlet[@]}" rerun textbook "$challenge" --patience 0 --quiet
[[ -e $models/results/textbook/$challenge/receipt.json ]] || fail "no results beside the submission"
[[ -d $scratch/home/.cache/gauntlet ]] || fail "compiled code is not in the user's cache"
"$(dirname "$0")/completions.sh" "$prefix" "$challenge"

if command -v mandoc >/dev/null; then
  expect '' mandoc -Tlint -W warning "$prefix/share/man/man1/gauntlet.1"
else
  printf 'mandoc is not installed: the man page is not checked\n'
fi
printf 'installed program: works without a checkout\n'
