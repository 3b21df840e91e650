// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace gauntlet {

/// What is taken from a path that others may have prepared: a regular file, and not more of it than
/// honest ones hold.
struct ReadRule {
  std::uint64_t most_bytes;
  bool follow_links = true;  // a submission's links could show it files that only we can read
};

inline constexpr ReadRule kAnyFile{256 << 20};              // our own: sources, libraries, chapters
inline constexpr ReadRule kModelCardFile{16 << 10, false};  // ten lines say it all
inline constexpr ReadRule kSubmissionFile{1 << 20, false};  // as large as a whole solution may be
inline constexpr ReadRule kJudgementFile{256 << 10};        // 15 times the one that is published
inline constexpr ReadRule kReceiptFile{1 << 20};            // 4000 checks
inline constexpr ReadRule kResultFile{16 << 20};            // observations, scores, audits
inline constexpr ReadRule kLedgerFile{64 << 20};            // 200000 replaced grades

/// Whole file as bytes. Never waits, whatever lies there: a pipe, a device or a socket is refused.
/// Throws UserError naming the file when it cannot be read.
std::string read_file(const std::filesystem::path& file, const ReadRule& rule = kAnyFile);

/// Writes through a temporary file in the same folder and renames it, so that a reader sees the old
/// or the new content and never half of one. Makes missing parent folders. Throws UserError.
void write_file(const std::filesystem::path& file, std::string_view content);

/// Removes what write_file left of these files when its process was killed. Nobody may be writing
/// them meanwhile.
void sweep_temporaries(const std::filesystem::path& folder, const std::vector<std::string>& names);

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
  int claim_ = -1;  // the folder, locked while its owner lives
};

/// Removes the scratch folders of processes of this user that were killed before they could.
void sweep_scratch_folders();

}  // namespace gauntlet
