// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace gauntlet {

enum class PathAccess {
  read,         // files and folders
  read_known,   // files by their names, while folders cannot be listed
  link,         // nothing: a symbolic link that leads to what other rules allow
  execute,      // read, and start programs
  device,       // read and write an existing file, "/dev/null"
  work_folder,  // everything but starting programs
};

struct PathRule {
  std::filesystem::path path;
  PathAccess access;
};

}  // namespace gauntlet
