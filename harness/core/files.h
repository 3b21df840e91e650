#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace gauntlet {

/// Whole file as bytes. Throws UserError naming the file when it cannot be read.
std::string read_file(const std::filesystem::path& file);

/// Writes through a temporary file in the same folder and renames it, so that a reader sees the old
/// or the new content and never half of one. Makes missing parent folders. Throws UserError.
void write_file(const std::filesystem::path& file, std::string_view content);

/// A folder of our own under the system's temporary folder, removed with everything in it.
class ScratchFolder {
 public:
  explicit ScratchFolder(std::string_view purpose);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace gauntlet
