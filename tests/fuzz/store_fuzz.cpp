// SPDX-License-Identifier: Apache-2.0
// A stored observation or receipt, truncated or edited: read as what it says, or refused. What was
// read is written back as the same bytes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "harness/core/error.h"
#include "harness/store/observation_json.h"
#include "harness/store/receipt.h"

namespace {

void read_observation(const std::string& text) {
  try {
    const std::string once = gauntlet::to_json(gauntlet::observation_from_json(text, "fuzzed"));
    const std::string twice = gauntlet::to_json(gauntlet::observation_from_json(once, "written"));
    if (once != twice) std::abort();
  } catch (const gauntlet::UserError&) {
  }
}

void read_receipt(const std::string& text) {
  try {
    if (gauntlet::to_json(gauntlet::receipt_from_json(text, "fuzzed")) != text) std::abort();
  } catch (const gauntlet::UserError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  read_observation({reinterpret_cast<const char*>(data), size});
  read_receipt({reinterpret_cast<const char*>(data), size});
  return 0;
}
