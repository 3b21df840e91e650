// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cache.h"
#include "graders/kit/domain.h"
#include "problem.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

template <class Call>
struct Invalid {
  std::string group;
  std::string name;
  std::function<void(Call&)> spoil;
  std::function<bool(const kit::Assignment&)> beside = [](const kit::Assignment&) { return true; };
  std::int64_t want = KV_BAD_ARGUMENT;
};
template <class Call>
using Invalids = std::vector<Invalid<Call>>;

/// Lists of attention that are to be spoilt, and how many sequences there are.
struct Lists {
  Problem problem;
  std::int64_t sequences;
};

/// What each function refuses, as the contract says.
Invalids<PageBytesCall> invalid_page_bytes();
Invalids<AppendCall> invalid_appends();
Invalids<ForkCall> invalid_forks();
Invalids<TruncateCall> invalid_truncations();
Invalids<ReadCall> invalid_reads();
Invalids<AttendCall> invalid_attention();
Invalids<Lists> invalid_lists();
Invalids<MergeCall> invalid_merges();

}  // namespace gauntlet::GAUNTLET_CHALLENGE
