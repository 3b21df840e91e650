// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "harness/grading/probe.h"

namespace gauntlet {

/// Arguments of a call that only a script sees.
struct Nothing {
  std::int64_t nothing;
};

/// A solution that does what a test tells it to.
struct Scripted : Session {
  std::function<void(CallBase&)> script = [](CallBase&) {};
  int restarts = 0;
  void run(CallBase& call) override { script(call); }
  void restart() override { ++restarts; }
};

inline Probe probe_of(Scripted& session) {
  return Probe({"check_id", "a fault", Section::correctness, 1, Severity::major}, 7,
               {.solution = session});
}

}  // namespace gauntlet
