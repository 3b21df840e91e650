# SPDX-License-Identifier: Apache-2.0
# bash completion for gauntlet: what it offers, gauntlet itself says.
_gauntlet() {
  local program=${COMP_WORDS[0]/#\~/$HOME} paths word
  COMPREPLY=()
  {
    read -r paths
    while IFS=$'\t' read -r word _; do COMPREPLY+=("$word"); done
  } < <("$program" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  case $paths in
    files) compopt -o default -o filenames ;;
    folders) compopt -o plusdirs -o filenames ;;
  esac
} 2>/dev/null
complete -F _gauntlet gauntlet
