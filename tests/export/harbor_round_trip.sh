#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Exports challenges and runs them through Harbor's loader, trials and agents; minutes, by hand:
#
#   tests/export/harbor_round_trip.sh [CHALLENGE...]      default: all that the program was built with
#
# Harbor is installed into build/harbor, once, by the first Python of 3.12 or newer that is found;
# GAUNTLET_HARBOR_PYTHON names another, GAUNTLET_PROGRAM another gauntlet.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
version=0.24.0

skip() { printf '%s; this test is skipped\n' "$*"; exit 0; }

new_python() {
  local python
  for python in ${GAUNTLET_HARBOR_PYTHON:+"$GAUNTLET_HARBOR_PYTHON"} python3 python3.14 python3.13 \
    python3.12 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[2-9].*/bin/python3; do
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2>/dev/null || continue
    printf '%s' "$python"
    return
  done
}

export GAUNTLET_PROGRAM=${GAUNTLET_PROGRAM:-$root/build/release/bin/gauntlet}
if [[ ! -x $GAUNTLET_PROGRAM ]]; then
  echo "$GAUNTLET_PROGRAM is not built; run ./gauntlet list first" >&2
  exit 5
fi

harbor=$root/build/harbor
if [[ ! -e $harbor/.is-$version ]]; then
  python=$(new_python)
  [[ $python ]] || skip "Harbor needs Python 3.12 or newer, and there is none"
  rm -rf "$harbor"
  "$python" -m venv "$harbor" || skip "$python makes no virtual environment"
  "$harbor/bin/pip" install --quiet "harbor==$version" ||
    skip "Harbor $version cannot be installed here"
  touch "$harbor/.is-$version"
fi

tasks=$(mktemp -d)
trap 'rm -rf "$tasks"' EXIT
chosen=()
for challenge in "$@"; do chosen+=(-c "$challenge"); done
# Races judge the machine too, which this asks nothing of.
"$GAUNTLET_PROGRAM" export harbor "$tasks" --with-solutions --no-speed "${chosen[@]+"${chosen[@]}"}"
export PYTHONPATH=$here PYTHONDONTWRITEBYTECODE=1
"$harbor/bin/python" "$here/harbor_round_trip.py" "$tasks"
