// SPDX-License-Identifier: Apache-2.0
#include "harness/core/verdict.h"

#include "harness/core/names.h"

namespace gauntlet {
namespace {

constexpr NameTable<Verdict, 9> kVerdicts{"verdict",
                                          {"passed", "wrong", "crashed", "timed_out", "over_memory",
                                           "rejected", "cheated", "unmeasured", "broken"}};

}  // namespace

std::string_view name_of(Verdict verdict) {
  return kVerdicts.of(verdict);
}

Verdict verdict_named(std::string_view name) {
  return kVerdicts.named(name);
}

bool blames_submission(Verdict verdict) {
  return verdict != Verdict::passed && verdict < Verdict::unmeasured;
}

}  // namespace gauntlet
