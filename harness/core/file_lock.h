// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <optional>

namespace gauntlet {

/// A lock on a file, which the kernel gives back however its holder ends: with the last of the
/// processes that it forked and that begin no other program. The file stays where it is.
class FileLock {
 public:
  enum class Mode { shared, exclusive };

  /// Waits until nobody holds it otherwise; `on_wait` is called once where it has to. Makes missing
  /// folders and the file. Throws UserError where that cannot be, or where another user owns the
  /// file, who could keep us waiting.
  FileLock(const std::filesystem::path& file, Mode mode, const std::function<void()>& on_wait = {});

  /// Nothing where somebody holds it otherwise.
  static std::optional<FileLock> try_now(const std::filesystem::path& file, Mode mode);

  ~FileLock();
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  explicit FileLock(int fd) : fd_(fd) {}

  int fd_ = -1;
};

}  // namespace gauntlet
