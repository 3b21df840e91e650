// SPDX-License-Identifier: Apache-2.0
#include "harness/core/digest.h"

#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <openssl/evp.h>
#include <vector>

#include "harness/core/error.h"
#include "harness/core/files.h"

namespace gauntlet {

namespace fs = std::filesystem;

namespace {

/// Of one thread, because finding the algorithm costs more than most texts are long.
EVP_MD_CTX* hasher() {
  struct Free {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };
  thread_local const std::unique_ptr<EVP_MD_CTX, Free> context(EVP_MD_CTX_new());
  thread_local const bool ready =
      context && EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1;
  if (!ready) throw Broken(OwnFault::crypto, "OpenSSL has no SHA-256");
  return context.get();
}

}  // namespace

std::array<std::uint8_t, 32> sha256_bytes(std::string_view bytes) {
  std::array<std::uint8_t, 32> hash{};
  EVP_MD_CTX* context = hasher();
  if (EVP_DigestInit_ex(context, nullptr, nullptr) != 1 ||
      EVP_DigestUpdate(context, bytes.data(), bytes.size()) != 1 ||
      EVP_DigestFinal_ex(context, hash.data(), nullptr) != 1)
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
