// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "harness/grading/probe.h"

namespace gauntlet::kit {

/// One thing wrong with an otherwise good call. `What` is what the fault is put into: the argument
/// struct, or a grader's own description of the call.
template <class What>
struct Flaw {
  std::string name;
  std::function<void(What&)> spoil = [](What&) {};
  std::string_view missing = {};  // an array whose pointer is null
};

/// Runs a call that has to be turned down: it must return `want` and leave every output as it was,
/// poison in `out` buffers and the source's bytes in `inout` ones. Otherwise the check ends.
void require_refused(Probe& probe, CallBase& call, std::int64_t want);

}  // namespace gauntlet::kit
