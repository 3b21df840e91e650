# SPDX-License-Identifier: Apache-2.0
# fish completion for gauntlet: what it offers, gauntlet itself says.
function __gauntlet_complete
    set -l typed (commandline -ct)
    set -l words (commandline -opc)
    set -l lines ($words[1] __complete $words[2..] "$typed" 2>/dev/null)
    switch "$lines[1]"
        case files
            __fish_complete_path $typed
        case folders
            __fish_complete_directories $typed
    end
    string join \n -- $lines[2..]
end
complete -c gauntlet -f -a '(__gauntlet_complete)'
