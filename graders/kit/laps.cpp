#include "graders/kit/laps.h"

#include <fmt/format.h>

namespace gauntlet::kit {

Lap verified_lap(Session& session, CallBase& call,
                 const std::function<std::optional<Miss>()>& miss) {
  session.run(call);
  Lap lap{call.elapsed, std::nullopt};
  const auto refuse = [&lap](std::string summary, std::optional<Miss> found) {
    lap.finding = Finding{Verdict::wrong, "", std::move(summary), {}, std::move(found)};
  };
  if (call.returned != 0)
    refuse(fmt::format("{} returned {}, want 0", call.symbol, call.returned), std::nullopt);
  else if (auto found = miss())
    refuse(describe(*found), std::move(found));
  return lap;
}

}  // namespace gauntlet::kit
