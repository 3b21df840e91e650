// SPDX-License-Identifier: Apache-2.0
#include "harness/core/own_fault.h"

#include <cerrno>
#include <doctest/doctest.h>
#include <filesystem>
#include <new>
#include <set>
#include <type_traits>

#include "harness/core/error.h"

using namespace gauntlet;

// Whoever is to be excused has to be on the list.
static_assert(!std::is_default_constructible_v<Broken>);
static_assert(!std::is_constructible_v<Broken, const char*>);
static_assert(!std::is_constructible_v<Broken, std::string>);

TEST_CASE("every fault of ours has a name, a sentence of its own, and what helps") {
  std::set<std::string_view> sentences;
  for (int i = 0; i < kOwnFaults; ++i) {
    const auto fault = static_cast<OwnFault>(i);
    CHECK(own_fault_named(name_of(fault)) == fault);
    CHECK(sentence_of(fault).find(": ") != std::string_view::npos);
    sentences.insert(sentence_of(fault));
  }
  CHECK(sentences.size() == kOwnFaults);
  CHECK_THROWS(name_of(static_cast<OwnFault>(kOwnFaults)));
  CHECK_THROWS(own_fault_named("the weather"));
}

TEST_CASE("what an exception stands for") {
  CHECK(own_fault_of(Broken(OwnFault::crypto, "x")) == OwnFault::crypto);
  CHECK(own_fault_of(std::bad_alloc()) == OwnFault::memory);
  CHECK(own_fault_of(UserError("x")) == OwnFault::files);
  CHECK(own_fault_of(std::filesystem::filesystem_error("x", {})) == OwnFault::files);
  CHECK(own_fault_of(std::logic_error("x")) == OwnFault::bug);
}

TEST_CASE("what the kernel's refusals stand for") {
  CHECK(own_fault_of_errno(ENOMEM) == OwnFault::memory);
  CHECK(own_fault_of_errno(EAGAIN) == OwnFault::process);
  CHECK(own_fault_of_errno(ENOSPC) == OwnFault::files);
  CHECK(own_fault_of_errno(EPERM) == OwnFault::kernel);
}

TEST_CASE("a finding that excuses says what happened and whose fault it is") {
  const Finding finding = broken_finding(OwnFault::process, "fork: no");
  CHECK(finding.verdict == Verdict::broken);
  CHECK(finding.summary ==
        "fork: no (our fault: the machine starts no further process: end what else runs here)");
}
