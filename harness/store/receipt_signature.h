// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

struct evp_pkey_st;  // OpenSSL's

namespace gauntlet {

/// An Ed25519 key pair for one receipt. The public half is part of what a run commits itself to;
/// the private half never leaves this process and is gone with it: what it signed when the run
/// ended cannot be signed again for something else.
class ReceiptKey {
 public:
  ReceiptKey();  // throws Broken
  ReceiptKey(const ReceiptKey&) = delete;
  ReceiptKey& operator=(const ReceiptKey&) = delete;

  std::string public_key() const;              // 64 hex digits
  std::string sign(std::string_view text) &&;  // 128 hex digits; once

 private:
  std::unique_ptr<evp_pkey_st, void (*)(evp_pkey_st*)> pair_;
};

/// Whether who has the private half of `public_key` signed `text`. Never for what is no key and no
/// signature.
bool is_signed(std::string_view text, const std::string& public_key, const std::string& signature);

}  // namespace gauntlet
