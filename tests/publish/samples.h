// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gauntlet::sample {

/// A rule with what it finds and what it does not. The keys are templates, so that no scanner takes
/// this file's text for keys: "{m:36}" is 36 letters and digits, see filled().
struct RuleSample {
  std::string rule;
  std::string found;
  std::string not_found;  // empty: `found` with half as many characters in each place
};

const std::vector<RuleSample>& rule_samples();

/// The template with characters in its places: m letters and digits, l letters, n digits, x
/// hexadecimal, a lower-case letters and digits, A upper-case ones, B base 32, G age's; "{}" is
/// nothing. Each alphabet is gone through, so that entropy is high; `share` shortens places.
std::string filled(std::string_view text, int share = 1);

/// The bytes of the template that a key consists of: those between the first and the last place.
std::string places_of(std::string_view text);

}  // namespace gauntlet::sample
