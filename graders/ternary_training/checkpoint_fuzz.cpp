// SPDX-License-Identifier: Apache-2.0
// A checkpoint as a solution may have written it: refused with the place of the fault, or read so
// that no byte of it is left out.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "checkpoint.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gauntlet::GAUNTLET_CHALLENGE;
  try {
    const std::vector<std::uint8_t> written = bytes_of(read_checkpoint({data, size}));
    if (!std::equal(written.begin(), written.end(), data, data + size)) std::abort();
  } catch (const BadCheckpoint&) {
  }
  return 0;
}
