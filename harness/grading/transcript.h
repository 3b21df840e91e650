// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <unordered_set>

#include "harness/store/receipt.h"
#include "harness/worker/session.h"

namespace gauntlet {

/// A solution's session that is listened to, for the receipt: hashes what goes in and what comes
/// back. What the solution gave and is handed again counts as "an output of its own", not by its
/// bytes: one that adds in another order the next time was still asked the same.
class Transcript : public Session {
 public:
  explicit Transcript(Session& session) : session_(session) {}

  /// A check begins.
  void begin();

  /// The rest of the check depends on the clock and is left out.
  void leave_out() { timed_ = true; }

  /// What was heard since the last begin(); id and verdict are the caller's to fill in. A check
  /// without calls judges what an earlier one got: where the clock had a say in that, it has one
  /// here.
  CheckTrace trace() const {
    const bool timed = timed_ || (calls_ == 0 && timed_before_);
    return {"", Verdict::broken, timed, calls_, opening_, inputs_, outputs_};
  }

  void run(CallBase& call) override;
  void run_again(CallBase& call) override { session_.run_again(call); }
  void restart() override { session_.restart(); }
  void keep_threads_apart() override { session_.keep_threads_apart(); }
  void offer_teams(bool offered) override { session_.offer_teams(offered); }
  void watch_threads(bool again) override;
  ThreadUse end_watch() override;
  void enter_race(RaceGround& ground) override { session_.enter_race(ground); }
  void leave_race() override { session_.leave_race(); }
  DeviceControl* device() override { return session_.device(); }
  std::chrono::nanoseconds cpu_time() const override { return session_.cpu_time(); }

 private:
  void hear_inputs(const CallBase& call);
  void hear_outputs(const CallBase& call);

  Session& session_;
  bool timed_ = false;
  bool timed_before_ = false;  // in an earlier check
  bool again_ = false;         // what was heard once, as often as the clock has it
  int calls_ = 0;
  std::uint64_t opening_ = 0;
  std::uint64_t inputs_ = 0;
  std::uint64_t outputs_ = 0;
  std::unordered_set<std::uint64_t> given_;  // hashes of outputs so far
};

}  // namespace gauntlet
