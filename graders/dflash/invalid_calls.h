// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "call.h"
#include "graders/kit/domain.h"
#include "graders/kit/refusals.h"

/// What the contract refuses.
namespace gauntlet::GAUNTLET_CHALLENGE {

/// What may be wrong with one argument, what has to be said of it, and what it can stand beside.
template <class What>
struct InvalidGroup {
  std::string name;
  std::vector<kit::Flaw<What>> flaws = {};
  std::int64_t want = DFLASH_BAD_ARGUMENT;
  std::function<bool(const kit::Assignment&)> beside = [](const kit::Assignment&) { return true; };
  std::vector<kit::Corner> always = {};
};

/// Flaws of calls, which change numbers of theirs but no sizes of arrays.
std::vector<InvalidGroup<BuildCall>> invalid_builds();
std::vector<InvalidGroup<VerifyCall>> invalid_verifies();
std::vector<InvalidGroup<GenerateCall>> invalid_generates();

/// A drafter's answer, of which entry k is to be spoilt.
struct DraftAnswer {
  DflashDraft& ask;
  CallbackRequest& raw;
  std::size_t k = 0;
};
std::vector<InvalidGroup<DraftAnswer>> invalid_drafts();

/// The first, a middle and the last of `count`, which is at least one.
inline constexpr std::size_t kPlaces = 3;
inline std::size_t at_place(std::size_t place, std::size_t count) {
  return (count - 1) * place / (kPlaces - 1);
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
