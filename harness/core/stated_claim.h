// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace gauntlet {

/// What a submission may say of its own solution: the keys of claims.yaml.
enum class ClaimKind {
  bound,              // the ceiling of the machine that holds it up
  passes_over_input,  // how often the main input comes from memory; not what a cache serves again
  saved_bytes,        // kept between calls, in the unit that the challenge's grader names
  peak_workspace,     // no more MiB besides the caller's arrays, in the challenge's memory question
  time_exponent,      // e where time grows as N^e
  memory_exponent,    // the same of that workspace
};

enum class Bound { memory, compute };

/// What a claim says of what is measured: that it is this, or that it is no more than this. The
/// prompts say which is which.
enum class ClaimSense { figure, bound };
ClaimSense sense_of(ClaimKind kind);

std::string_view name_of(ClaimKind kind);
std::string_view name_of(Bound bound);
std::string_view name_of(ClaimSense sense);

/// Throw std::invalid_argument for an unknown word.
ClaimKind claim_kind_named(std::string_view name);
Bound bound_named(std::string_view name);

/// One line of a submission's claims.yaml. A stated claim is the submission's; the sentences of a
/// report are other claims, ours (harness/report/model/claims.h).
struct StatedClaim {
  ClaimKind kind = ClaimKind::bound;
  std::variant<double, Bound> value;
};

/// Reads a claims.yaml, in the order of the kinds. Throws UserError (file, line, key, what was
/// wanted) for a key or a value that is none.
std::vector<StatedClaim> stated_claims_from_yaml(const std::string& text,
                                                 const std::string& shown_name);

}  // namespace gauntlet
