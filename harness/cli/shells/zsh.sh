#compdef gauntlet
# SPDX-License-Identifier: Apache-2.0
# zsh completion for gauntlet: what it offers, gauntlet itself says.
_gauntlet() {
  local -a lines offered
  local line result=1
  lines=("${(@f)$("${(Q)words[1]/#\~/$HOME}" __complete "${(@Q)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)}")
  for line in "${(@)lines[2,-1]}"; do
    offered+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
  done
  (($#offered)) && _describe gauntlet offered && result=0
  case ${lines[1]} in
    files) _files && result=0 ;;
    folders) _files -/ && result=0 ;;
  esac
  return result
}
if [[ $funcstack[1] == _gauntlet ]]; then _gauntlet "$@"; else compdef _gauntlet gauntlet; fi
