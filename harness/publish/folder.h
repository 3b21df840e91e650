// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <sys/stat.h>
#include <system_error>
#include <vector>

namespace gauntlet {

/// What lies in a folder, by its path from the working folder.
struct FolderEntry {
  enum class Kind { file, folder, link, other };
  std::string path;
  Kind kind;
  std::uint64_t bytes = 0;
  std::string target;  // of a link

  std::string name() const { return path.substr(path.rfind('/') + 1); }
};

/// A file's bytes, and how it was when they were read.
struct FileContent {
  std::string bytes;
  struct stat about {};
};

/// A folder that strangers filled. No link in it is followed, however it comes to lie on a path:
/// every path is walked folder by folder, from the one that was opened first. What cannot be done
/// throws std::system_error.
class WorkingFolder {
 public:
  explicit WorkingFolder(const std::filesystem::path& path);
  ~WorkingFolder();
  WorkingFolder(const WorkingFolder&) = delete;
  WorkingFolder& operator=(const WorkingFolder&) = delete;

  /// Sorted by name. "" is the working folder itself.
  std::vector<FolderEntry> entries(const std::string& path) const;

  FileContent read(const std::string& file, std::uint64_t most_bytes) const;

  /// The old or the new content is there whatever happens, and never less. Refuses a file that is
  /// another one than was read.
  void replace(const std::string& file, const FileContent& was, const std::string& bytes) const;

  /// A file, or a folder with all that is in it.
  void remove(const FolderEntry& entry) const;

 private:
  int root_;
};

/// What a file is called while it is written. One that is found is of a run that was killed.
inline constexpr const char* kHalfWritten = ".gauntlet-sanitize-";

}  // namespace gauntlet
