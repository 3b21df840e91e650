// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "harness/core/verdict.h"
#include "harness/simt/count/counters.h"

namespace gauntlet {

/// What the device process says about one call. Bytes unless a name says otherwise.
struct DeviceReport {
  /// A fault at one line of one kernel, however often.
  struct Diagnostic {
    std::string fault;    // "race", as simt::name_of(Fault)
    std::string source;   // "solution.cu:12"
    std::uint64_t count;  // lanes
    std::string text;     // a sentence
  };
  /// All launches of one kernel together.
  struct Kernel {
    std::string name;  // mangled
    std::uint64_t launches = 0;
    std::string status;  // "completed", as simt::name_of(Status): of the first that did not
    std::string why;
    simt::Counters counters;
    std::vector<Diagnostic> diagnostics;
    std::string output;          // of printf
    bool races_complete = true;  // false where there was too much memory to look at all of it
  };
  /// An input or output of the grader's, or a variable of the program.
  struct Buffer {
    std::string name;
    std::string role;  // "input", "output", "variable"
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    std::uint64_t copied_in = 0;   // by the worker, from its memory
    std::uint64_t copied_out = 0;  // by the worker, to its memory
    std::uint64_t unwritten = 0;   // bytes that nobody has written
    std::uint64_t from_host = 0;   // bytes that came from the worker's memory, by whatever way
                                   // within the device but through kernels
  };
  /// Why the call cannot count, and whose word it is.
  struct Complaint {
    Verdict verdict;
    std::string text;
  };

  std::vector<Kernel> kernels;  // in the order of their first launches
  std::vector<Buffer> buffers;  // by address
  std::uint64_t copied_in = 0;  // of all copies from the host, also to memory of the worker's own
  std::uint64_t copied_out = 0;
  std::uint64_t commands = 0;         // that the worker sent
  std::uint64_t allocations = 0;      // that it made
  std::uint64_t scratch_bytes = 0;    // of its own that are there still
  std::uint64_t scratch_peak = 0;     // the most of its own that were there at once in the call
  std::uint64_t left_behind = 0;      // launches, fills and copies that were queued when the call's
                                      // stream was settled, and that it did not depend on
  std::uint64_t budget_left = 0;      // instructions of warps
  std::vector<std::string> refusals;  // commands that got an error, the first of them
  std::string text;                   // all of it as JSON

  /// Nothing where the kernels ran to their ends and the worker kept to the protocol. Races and
  /// undefined reads are no complaint: a check asks for them.
  std::optional<Complaint> complaint;

  const Buffer* buffer(std::string_view name) const;  // null where there is none
  std::vector<Diagnostic> diagnostics() const;        // of all kernels
};

/// Throws nlohmann::json::exception where it is none.
DeviceReport device_report_from(const nlohmann::json& json);

}  // namespace gauntlet
