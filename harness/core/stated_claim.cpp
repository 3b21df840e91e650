// SPDX-License-Identifier: Apache-2.0
#include "harness/core/stated_claim.h"

#include <array>
#include <fmt/format.h>
#include <stdexcept>

#include "harness/core/error.h"
#include "harness/core/names.h"
#include "harness/core/text.h"
#include "harness/core/yaml.h"

namespace gauntlet {
namespace {

constexpr NameTable<ClaimKind, 6> kKinds{"claim",
                                         {"bound", "passes_over_input", "saved_bytes",
                                          "peak_workspace", "time_exponent", "memory_exponent"}};
constexpr NameTable<Bound, 2> kBounds{"bound", {"memory", "compute"}};
constexpr NameTable<ClaimSense, 2> kSenses{"sense of a claim", {"figure", "bound"}};

constexpr std::size_t kMostBytes = 16 << 10;

/// The numbers that a claim can be.
struct Span {
  double least;
  double most;
};

Span span_of(ClaimKind kind) {
  switch (kind) {
    case ClaimKind::passes_over_input:
      return {1, 1000};
    case ClaimKind::time_exponent:
    case ClaimKind::memory_exponent:
      return {0, 10};
    default:
      return {0, 1e12};
  }
}

Bound read_bound(YamlFields& in, const std::string& key) {
  const std::string written = in.text(key);
  try {
    return bound_named(written);
  } catch (const std::invalid_argument&) {
    const std::vector<std::string> known(kBounds.words.begin(), kBounds.words.end());
    const std::string hint = did_you_mean(written, known);
    in.refuse(key,
              fmt::format("must be memory or compute, not '{}'{}", printable(written, 80), hint));
  }
}

double read_number(YamlFields& in, const std::string& key, const Span& span) {
  const double value = in.number(key);
  if (value < span.least || value > span.most)
    in.refuse(
        key, fmt::format("must lie between {:g} and {:g}, not {:g}", span.least, span.most, value));
  return value;
}

}  // namespace

std::string_view name_of(ClaimKind kind) {
  return kKinds.of(kind);
}

std::string_view name_of(Bound bound) {
  return kBounds.of(bound);
}

std::string_view name_of(ClaimSense sense) {
  return kSenses.of(sense);
}

ClaimSense sense_of(ClaimKind kind) {
  return kind == ClaimKind::peak_workspace ? ClaimSense::bound : ClaimSense::figure;
}

ClaimKind claim_kind_named(std::string_view name) {
  return kKinds.named(name);
}

Bound bound_named(std::string_view name) {
  return kBounds.named(name);
}

std::vector<StatedClaim> stated_claims_from_yaml(const std::string& text,
                                                 const std::string& shown_name) {
  if (text.size() > kMostBytes)
    throw UserError(fmt::format("{}:1: holds {} bytes, want {} or fewer: six lines say it all",
                                shown_name, text.size(), kMostBytes));
  YamlFields in = YamlFields::of_text(text, shown_name);
  std::vector<StatedClaim> claims;
  for (std::size_t i = 0; i < kKinds.words.size(); ++i) {
    const auto kind = static_cast<ClaimKind>(i);
    const std::string key(name_of(kind));
    if (!in.has(key)) continue;
    if (kind == ClaimKind::bound)
      claims.push_back({kind, read_bound(in, key)});
    else
      claims.push_back({kind, read_number(in, key, span_of(kind))});
  }
  in.refuse_unknown();
  return claims;
}

}  // namespace gauntlet
