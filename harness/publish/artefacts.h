// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/publish/folder.h"

namespace gauntlet {

/// The rule by which a folder goes with all that is in it: it can be made again, and nobody wrote
/// it. Empty: none. A folder that people also use by that name, like build/, goes only where
/// `holds` finds the file in it that a tool puts there.
std::string artefact_folder(const std::string& name,
                            const std::function<bool(const std::string&)>& holds);

/// The rule by which a file goes, told by its name. Empty: none.
std::string artefact_file(const std::string& name);

/// The same, told by how it begins: programs, objects and libraries, whatever they are called.
std::string artefact_content(std::string_view bytes);

/// What a name of a file or folder says that has to be looked at by a person; empty: nothing.
std::string not_ours_to_remove(const FolderEntry& entry);

/// Every rule that removes whole files or folders, for the help and the tests.
std::vector<std::string> artefact_rules();

}  // namespace gauntlet
