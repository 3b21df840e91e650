#!/bin/bash -p
# SPDX-License-Identifier: Apache-2.0
# Harbor's verifier: grades /app/submission with Gauntlet and writes into /logs/verifier
#   reward.json          "reward", the score / 100, and each section's share, all of 0 to 1
#   reward-details.json  the same with every failure
#   observation.json     all that was measured
# Where there is no verdict, through a fault of the machine or of the grader, no reward is written
# and the exit code says so: a trial without a reward is no bad submission.

# What a variable can change, for a program that is started or for this one, counts for nothing: it
# begins anew without any. In POSIX mode no function can take the place of exec.
POSIXLY_CORRECT=1
case ${1-} in
  --clean) ;;
  *) exec /usr/bin/env -i PATH=/usr/bin:/bin HOME=/ LC_ALL=C.UTF-8 /bin/bash -p -- "$0" --clean ;;
esac
set +o posix
set -u

here=$(cd -P -- "$(dirname -- "$0")" && pwd) || exit 5
root=${here%/tests} # empty in a container; a test of this script has everything below a folder
logs=$root/logs/verifier
handed_in=$root/app/submission
gauntlet=$root@PROGRAM@

say() { printf 'verifier: %s\n' "$*" >&2; }

mkdir -p -- "$logs" || exit 5
cd -P -- "$logs" || exit 5
rm -rf -- reward.json reward.txt reward-details.json observation.json

# Only the verifier's image has this token. An agent's container, which a runner may lead us into
# that knows no separate verifier, has not: whatever is called gauntlet there may be the agent's.
if [[ ! -f $root/etc/gauntlet-verifier || $(<"$root/etc/gauntlet-verifier") != @TOKEN@ ]]; then
  say "this is not the container that tests/Dockerfile makes; nothing in it can be believed and no" \
    "reward is written; run the task where 'environment_mode = \"separate\"' is known (Harbor is)"
  exit 5
fi
if [[ ! -x $gauntlet ]]; then
  say "$gauntlet is no program; the image in tests/Dockerfile must have Gauntlet there, or" \
    "export again with --program PATH"
  exit 5
fi

# Whoever hands nothing in has handed in an empty folder.
if [[ -L $handed_in || ! -d $handed_in ]]; then
  nothing=$(mktemp -d) || exit 5
  trap 'rm -rf -- "$nothing"' EXIT
  mkdir -- "$nothing/submission" || exit 5
  handed_in=$nothing/submission
fi

"$gauntlet" reward "$handed_in" -c @CHALLENGE@ @OPTIONS@--harbor "$logs" --json --quiet
code=$?
case $code in
  0) ;;
  3) say "the submission breaks a rule, as said above: its reward is 0"; code=0 ;;
  *)
    say "there is no verdict (exit code $code); no reward is written"
    rm -rf -- reward.json
    ;;
esac
exit "$code"
