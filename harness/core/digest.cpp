// SPDX-License-Identifier: Apache-2.0
#include "harness/core/digest.h"

#include <algorithm>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <vector>

#include "harness/core/error.h"
#include "harness/core/files.h"

namespace gauntlet {

namespace fs = std::filesystem;

std::array<std::uint8_t, 32> sha256_bytes(std::string_view bytes) {
  std::array<std::uint8_t, 32> hash{};
  if (EVP_Digest(bytes.data(), bytes.size(), hash.data(), nullptr, EVP_sha256(), nullptr) != 1)
    throw Broken(OwnFault::crypto, "OpenSSL cannot compute SHA-256");
  return hash;
}

std::string sha256(std::string_view bytes) {
  std::string hex;
  for (const std::uint8_t byte : sha256_bytes(bytes)) hex += fmt::format("{:02x}", byte);
  return hex;
}

Digest& Digest::add(std::string_view name, std::string_view bytes) {
  parts_ += fmt::format("{}:{}{}:{}", name.size(), name, bytes.size(), sha256(bytes));
  return *this;
}

Digest& Digest::add_folder(std::string_view name, const fs::path& folder) {
  std::vector<fs::path> files;
  if (fs::is_directory(folder))
    for (const auto& entry : fs::recursive_directory_iterator(folder))
      if (entry.is_regular_file()) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const auto& file : files)
    add(fmt::format("{}/{}", name, fs::relative(file, folder).generic_string()), read_file(file));
  return *this;
}

std::string Digest::hex() const {
  return sha256(parts_);
}

}  // namespace gauntlet
