#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what was built into a scratch prefix, and has the installed program list, validate and
# grade as an ordinary user, in a folder that is no checkout.
#
#   installed_program.sh CHECKOUT BUILD
set -euo pipefail
checkout=$1
build=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
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

as_expected() { # as_expected CODE WORDS...: that they end with it
  local wanted=$1 code=0
  shift
  "$@" || code=$?
  ((code == wanted))
}

prefix=$scratch/prefix
cmake --install "$build" --prefix "$prefix" >"$scratch/install.log"
[[ ! -e $prefix/bin/gauntlet-checkout ]] || fail "the installed program would look for a checkout"

models=$scratch/models
challenge=$("$prefix/bin/gauntlet" list | awk '$1 == "layernorm_backward" || NR == 2 { id = $1 }
  END { print id }')
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
check=$("${gauntlet[@]}" list checks -c "$challenge" | awk 'NR == 2 { print $1 }')
expect 'Reproduce:  gauntlet rerun' "${gauntlet[@]}" rerun textbook "$challenge" --check "$check" --quiet
[[ -d $scratch/home/.cache/gauntlet ]] || fail "compiled code is not in the user's cache"
(cd textbook && expect "$models/results holds no results" as_expected 4 "${gauntlet[@]}" score)
"$here/completions.sh" "$prefix" "$challenge"

if command -v mandoc >/dev/null; then
  said=$(mandoc -Tlint "$prefix/share/man/man1/gauntlet.1") || fail "the man page: $said"
else
  printf 'mandoc is not installed: the man page is not checked\n'
fi
printf 'installed program: works without a checkout\n'
