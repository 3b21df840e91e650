#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Has bash, zsh and fish complete lines of an installed gauntlet, those that are here.
#
#   completions.sh PREFIX CHALLENGE
set -euo pipefail
prefix=$1
challenge=$2
export PATH=$prefix/bin:$PATH
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/submissions/bravo"
cd "$scratch"
export HOME=$scratch

check=$(gauntlet list checks -c "$challenge" | awk 'NR == 2 { print $1 }')
# A line, and a word that has to be offered at its end.
lines=(
  'gauntlet gra' grade
  'gauntlet grade --fail' --fail-under
  'gauntlet grade bra' bravo
  "gauntlet grade bravo -c ${challenge:0:4}" "$challenge"
  "gauntlet rerun bravo $challenge --check " "$check"
  'gauntlet completion ' fish
)

in_bash() {
  bash --norc --noprofile -c '
    source "$1/share/bash-completion/completions/gauntlet"
    read -ra COMP_WORDS <<<"$2"
    [[ $2 != *" " ]] || COMP_WORDS+=("")
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    _gauntlet
    printf "%s\n" "${COMPREPLY[@]}"' - "$prefix" "$1"
}

# A real zsh at a terminal of its own, which lists what it would complete.
in_zsh() {
  zsh -f -c '
    zmodload zsh/zpty
    zpty shell zsh -f -i
    zpty -w shell "PS1=; fpath=($1/share/zsh/site-functions \$fpath); LISTMAX=9999"
    zpty -w shell "autoload -U compinit; compinit -u -d \$HOME/dump"
    zpty -w shell "listed() { print ALL_LISTED }; zle -N listed"
    zpty -w shell "bindkey \"^I\" list-choices; bindkey \"^G\" listed"
    zpty -wn shell "$2"$'"'\t\a'"'
    zpty -r shell seen "*ALL_LISTED }*ALL_LISTED*"
    print -r -- "$seen"' - "$prefix" "$1" | sed 's/\x1b[[][0-9;?]*[A-Za-z]/ /g' |
    grep -oE -- '[[:alnum:]_.-]+'
}

in_fish() {
  fish --no-config -c '
    source $argv[1]/share/fish/vendor_completions.d/gauntlet.fish
    complete -C $argv[2]' "$prefix" "$1" | cut -f 1
}

for shell in bash zsh fish; do
  if ! command -v "$shell" >/dev/null; then
    printf '%s is not installed: its completion is not tried\n' "$shell"
    continue
  fi
  for ((i = 0; i < ${#lines[@]}; i += 2)); do
    offered=$("in_$shell" "${lines[i]}") || true
    grep -qxF -- "${lines[i + 1]}" <<<"${offered//\//}" || {
      printf "%s offers for '%s' no %s but:\n%s\n" "$shell" "${lines[i]}" "${lines[i + 1]}" "$offered" >&2
      exit 1
    }
  done
  printf '%s completes\n' "$shell"
done
