#include "harness/store/reuse.h"

#include <fmt/format.h>

#include "harness/store/json_fields.h"

namespace gauntlet {
namespace {

/// "the grader changed: 9c1e0f22 -> 77b04d10"; digests are cut, they only have to look different.
std::string changed(std::string_view what, std::string_view from, std::string_view to,
                    std::size_t shown = std::string_view::npos) {
  return fmt::format("{} changed: {} -> {}", what, from.substr(0, shown), to.substr(0, shown));
}

constexpr std::size_t kShownDigest = 8;

bool may_differ_next_time(Verdict verdict) {
  return verdict == Verdict::broken || verdict == Verdict::unmeasured ||
         verdict == Verdict::timed_out;
}

}  // namespace

std::optional<std::string> why_not_reusable(const CellObservation& stored, const ReuseKey& wanted) {
  for (const auto& check : stored.checks)
    if (may_differ_next_time(check.verdict))
      return fmt::format("check {} was {} last time", check.info.id, name_of(check.verdict));
  if (stored.build.stopped) return "the compiler ran into a limit last time";
  if (stored.build.ok && stored.checks.empty()) return "no check ran last time";
  const Provenance& seen = stored.provenance;
  if (stored.device != wanted.device)
    return changed("the device", name_of(stored.device), name_of(wanted.device));
  if (seen.submission_digest != wanted.submission_digest)
    return changed("the submission", seen.submission_digest, wanted.submission_digest,
                   kShownDigest);
  if (seen.grader_digest != wanted.grader_digest)
    return changed("the grader", seen.grader_digest, wanted.grader_digest, kShownDigest);
  if (stored.build.compiler != wanted.compiler)
    return changed("the compiler", stored.build.compiler, wanted.compiler);
  if (stored.build.flags != wanted.flags)
    return changed("the compiler's flags", stored.build.flags, wanted.flags);
  if (seen.cpu != wanted.cpu) return changed("the CPU", seen.cpu, wanted.cpu);
  if (seen.cores != wanted.cores)
    return fmt::format("the number of cores changed: {} -> {}", seen.cores, wanted.cores);
  if (wanted.seed && *wanted.seed != stored.seed)
    return changed("the seed", stored.seed.text(), wanted.seed->text());
  return std::nullopt;
}

}  // namespace gauntlet
