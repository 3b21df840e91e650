// SPDX-License-Identifier: Apache-2.0
#include "harness/core/own_fault.h"

#include <array>
#include <cerrno>
#include <filesystem>
#include <fmt/format.h>
#include <new>

#include "harness/core/error.h"
#include "harness/core/names.h"

namespace gauntlet {
namespace {

constexpr NameTable<OwnFault, kOwnFaults> kNames{
    "fault of ours",
    {"files", "memory", "process", "kernel", "sandbox", "compiler", "worker", "own_solution",
     "timing_lock", "crypto", "interrupted", "cluster", "bug"}};

constexpr std::array<std::string_view, kOwnFaults> kSentences{
    "a file or folder of gauntlet's cannot be used: make room and see who owns it",
    "the grader got no memory: end what else runs here",
    "the machine starts no further process: end what else runs here",
    "the kernel refuses a call that grading needs: ./gauntlet doctor says more",
    "the sandbox cannot be put up: ./gauntlet doctor says which wall",
    "there is no compiler that works here: ./gauntlet doctor says more",
    "the worker fails before it has loaded a solution: build gauntlet again",
    "a solution of gauntlet's own fails here: ./gauntlet audit says more",
    "another grading keeps the machine for itself: wait for it, or end it",
    "OpenSSL does not work here: install it again",
    "a process of the grader was ended from outside: grade again",
    "the cluster took the job away or does not answer: see to it, and grade again",
    "parts of the grader contradict each other: please report it",
};

}  // namespace

std::string_view name_of(OwnFault fault) {
  return kNames.of(fault);
}

OwnFault own_fault_named(std::string_view name) {
  return kNames.named(name);
}

std::string_view sentence_of(OwnFault fault) {
  return kSentences.at(static_cast<std::size_t>(fault));
}

OwnFault own_fault_of_errno(int error) {
  switch (error) {
    case ENOMEM:
      return OwnFault::memory;
    case EAGAIN:  // what fork and clone say of a limit on processes
      return OwnFault::process;
    case ENOSPC:
    case EDQUOT:
    case EROFS:
    case EIO:
      return OwnFault::files;
    default:
      return OwnFault::kernel;
  }
}

OwnFault own_fault_of(const std::exception& error) {
  if (const auto* broken = dynamic_cast<const Broken*>(&error)) return broken->fault;
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return OwnFault::memory;
  if (dynamic_cast<const std::filesystem::filesystem_error*>(&error) != nullptr ||
      dynamic_cast<const UserError*>(&error) != nullptr)  // while grading: a file of ours
    return OwnFault::files;
  return OwnFault::bug;
}

Finding broken_finding(OwnFault fault, const std::string& what) {
  return {Verdict::broken,
          "",
          fmt::format("{} (our fault: {})", what, sentence_of(fault)),
          {},
          std::nullopt};
}

}  // namespace gauntlet
