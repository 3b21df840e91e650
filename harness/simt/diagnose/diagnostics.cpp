// SPDX-License-Identifier: Apache-2.0
#include "harness/simt/diagnose/diagnostics.h"

#include <fmt/format.h>

#include "harness/core/text.h"

namespace gauntlet::simt {
namespace {

constexpr std::size_t kMostDiagnostics = 1000;

}  // namespace

const char* name_of(Fault fault) {
  static constexpr std::array<const char*, 12> kNames{
      "out_of_bounds",     "misaligned",     "freed",
      "read_only",         "undefined_read", "race",
      "divergent_barrier", "stuck_barrier",  "absent_lane",
      "foreign_lane",      "idle_source",    "trap"};
  return kNames.at(static_cast<std::size_t>(fault));
}

std::string Diagnostic::text() const {
  return fmt::format("{} at {} in {}: {}, block ({},{},{}), thread ({},{},{}), {} {}",
                     name_of(fault), source, kernel, detail, block[0], block[1], block[2],
                     thread[0], thread[1], thread[2], count, count == 1 ? "time" : "times");
}

bool Diagnostics::add(Fault fault, std::uint32_t instruction, std::uint64_t lanes) {
  const auto found = seen_.find({instruction, fault});
  if (found != seen_.end()) {
    found->second.count += lanes;
    return false;
  }
  if (seen_.size() >= kMostDiagnostics) return false;
  Diagnostic& made = seen_[{instruction, fault}];
  made.fault = fault;
  made.kernel = one_line(kernel_.name, 200);
  made.source = program_.source_of(kernel_.places.at(instruction));
  made.count = lanes;
  return true;
}

void Diagnostics::describe(Fault fault, std::uint32_t instruction, const Index3& block,
                           const Index3& thread, const std::string& detail) {
  const auto found = seen_.find({instruction, fault});
  if (found == seen_.end()) return;
  found->second.block = block;
  found->second.thread = thread;
  found->second.detail = one_line(detail, 300);
}

std::vector<Diagnostic> Diagnostics::list() const {
  std::vector<Diagnostic> made;
  for (const auto& [key, diagnostic] : seen_) made.push_back(diagnostic);
  return made;
}

}  // namespace gauntlet::simt
