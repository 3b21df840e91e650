// SPDX-License-Identifier: Apache-2.0
#include "harness/store/receipt_signature.h"

#include <array>
#include <charconv>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <span>
#include <vector>

#include "harness/core/error.h"

namespace gauntlet {
namespace {

constexpr std::size_t kKeyBytes = 32;
constexpr std::size_t kSignatureBytes = 64;

using KeyPair = std::unique_ptr<evp_pkey_st, void (*)(evp_pkey_st*)>;
using SignContext = std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)>;

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

std::string hex_of(std::span<const unsigned char> bytes) {
  std::string hex;
  for (const unsigned char byte : bytes) hex += fmt::format("{:02x}", byte);
  return hex;
}

/// Empty unless `hex` are digits for so many bytes.
std::vector<unsigned char> from_hex(const std::string& hex, std::size_t bytes) {
  std::vector<unsigned char> found(bytes);
  if (hex.size() != 2 * bytes) return {};
  for (std::size_t i = 0; i < bytes; ++i) {
    const char* digits = hex.data() + 2 * i;
    if (std::from_chars(digits, digits + 2, found[i], 16).ptr != digits + 2) return {};
  }
  return found;
}

}  // namespace

// OpenSSL overwrites the private half before it frees it.
ReceiptKey::ReceiptKey() : pair_(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"), EVP_PKEY_free) {
  if (!pair_) throw Broken(OwnFault::crypto, "OpenSSL cannot make an Ed25519 key");
}

std::string ReceiptKey::public_key() const {
  std::array<unsigned char, kKeyBytes> bytes{};
  std::size_t size = bytes.size();
  if (EVP_PKEY_get_raw_public_key(pair_.get(), bytes.data(), &size) != 1)
    throw Broken(OwnFault::crypto, "OpenSSL cannot show an Ed25519 key");
  return hex_of(bytes);
}

std::string ReceiptKey::sign(std::string_view text) && {
  const KeyPair key = std::move(pair_);
  const SignContext context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  std::array<unsigned char, kSignatureBytes> bytes{};
  std::size_t size = bytes.size();
  if (!context || EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key.get()) != 1 ||
      EVP_DigestSign(context.get(), bytes.data(), &size, bytes_of(text), text.size()) != 1)
    throw Broken(OwnFault::crypto, "OpenSSL cannot sign with an Ed25519 key");
  return hex_of(bytes);
}

bool is_signed(std::string_view text, const std::string& public_key, const std::string& signature) {
  const auto key_bytes = from_hex(public_key, kKeyBytes);
  const auto signed_bytes = from_hex(signature, kSignatureBytes);
  if (key_bytes.empty() || signed_bytes.empty()) return false;
  const KeyPair key(
      EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, key_bytes.data(), key_bytes.size()),
      EVP_PKEY_free);
  const SignContext context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  return key && context &&
         EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
         EVP_DigestVerify(context.get(), signed_bytes.data(), signed_bytes.size(), bytes_of(text),
                          text.size()) == 1;
}

}  // namespace gauntlet
