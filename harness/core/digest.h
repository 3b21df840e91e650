// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace gauntlet {

/// SHA-256, and the same as 64 lower-case hex digits.
std::array<std::uint8_t, 32> sha256_bytes(std::string_view bytes);
std::string sha256(std::string_view bytes);

/// One digest over named parts. Each part is length-prefixed, so that moving a byte from one field
/// to the next changes the result.
class Digest {
 public:
  Digest& add(std::string_view name, std::string_view bytes);

  /// Adds every regular file below `folder`, by relative path, in sorted order. A missing folder
  /// counts as empty.
  Digest& add_folder(std::string_view name, const std::filesystem::path& folder);

  std::string hex() const;

 private:
  std::string parts_;
};

}  // namespace gauntlet
