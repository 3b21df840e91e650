// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <fmt/format.h>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "graders/kit/domain.h"
#include "harness/grading/probe.h"

namespace gauntlet::kit {

/// Of which 16 bits make 0: who narrows an argument takes it for another one and this much more.
inline constexpr std::int32_t kNarrowed16 = 1 << 16;

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

/// A finding of `ask` says first what is wrong with the call.
void naming_flaw(const std::string& name, const std::function<void()>& ask);

/// A flaw of a call, what has to be said of it, and where it is one while nothing else is wrong.
template <class Args>
struct Invalid {
  Flaw<Args> flaw;
  std::int64_t want = 0;
  std::function<bool(const Assignment&)> beside = [](const Assignment&) { return true; };
};

/// Each value of the field as a flaw of its own: "eps -1".
template <class Args, class Field>
void add_values(std::vector<Invalid<Args>>& to, const char* argument, Field Args::*field,
                std::initializer_list<Field> values, std::int64_t want) {
  for (const Field value : values)
    to.push_back(
        {{fmt::format("{} {}", argument, value), [=](Args& a) { a.*field = value; }}, want});
}

}  // namespace gauntlet::kit
