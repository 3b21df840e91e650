// A checkpoint as a solution may have written it: read, or refused with the place of the fault.
#include <cstddef>
#include <cstdint>

#include "checkpoint.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gauntlet::GAUNTLET_CHALLENGE;
  try {
    const Checkpoint checkpoint = read_checkpoint({data, size});
    bytes_of(checkpoint);
  } catch (const BadCheckpoint&) {
  }
  return 0;
}
