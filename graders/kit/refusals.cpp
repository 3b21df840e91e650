// SPDX-License-Identifier: Apache-2.0
#include "graders/kit/refusals.h"

#include <algorithm>
#include <fmt/format.h>

#include "graders/kit/bits.h"

namespace gauntlet::kit {
namespace {

bool untouched(const Buffer& buffer) {
  if (buffer.direction == Direction::out) return is_poison(buffer.result);
  return std::equal(buffer.result.begin(), buffer.result.end(), buffer.source,
                    buffer.source + buffer.result.size());
}

}  // namespace

void require_refused(Probe& probe, CallBase& call, std::int64_t want) {
  probe.run_for(call, want);
  for (const Buffer& buffer : call.buffers())
    if (buffer.direction != Direction::in && !untouched(buffer))
      probe.fail(fmt::format("{} was written by a call of {} that has to be refused", buffer.name,
                             call.symbol));
}

void naming_flaw(const std::string& name, const std::function<void()>& ask) {
  try {
    ask();
  } catch (CheckEnded& ended) {
    ended.finding.evidence.insert(ended.finding.evidence.begin(),
                                  "what is wrong with the call: " + name);
    throw;
  }
}

}  // namespace gauntlet::kit
