// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/scaling.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "harness/measure/awake_cores.h"
#include "harness/measure/lost_time.h"

namespace gauntlet {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMostRounds = 7;
constexpr auto kVisit = std::chrono::milliseconds(20);
constexpr std::size_t kFewestSizes = 3;  // an exponent needs two, its error a third

struct Size {
  std::int64_t n = 0;
  double fastest_ns = std::numeric_limits<double>::infinity();  // of the laps that count
  double fastest_of_all_ns = std::numeric_limits<double>::infinity();
};

/// One measurement on its way.
class Laps {
 public:
  Laps(const ScalingQuestion& question, const Seed& secret, Session& solution)
      : question_(question), secret_(secret), solution_(solution), lost_time_(awake_, {&solution}) {
    for (const std::int64_t n : question.sizes) sizes_.push_back({n});
  }

  Growth run() {
    solution_.restart();
    solution_.keep_threads_apart();
    lap(sizes_.front());  // warms up; what is wrong with it shows again
    disturbed_ = {};
    rounds();
    if (fault_.empty() && !std::isfinite(slowest())) judge_disturbances();
    Growth growth{question_.axis, {}, fault_};
    for (const Size& size : sizes_)
      if (std::isfinite(size.fastest_ns))
        growth.points.emplace_back(static_cast<double>(size.n), size.fastest_ns);
    return growth;
  }

 private:
  /// All sizes in turn, so that a moment of the machine meets no size alone. Smaller ones come
  /// first: where the solution is slow, theirs are the times that there are.
  void rounds() {
    const auto start = Clock::now();
    for (int round = 0; round < kMostRounds; ++round)
      for (std::size_t i = 0; i < sizes_.size(); ++i) {
        const bool late = Clock::now() - start > question_.time;
        if (late && (round > 0 || i >= kFewestSizes)) {
          if (round == 0) sizes_.resize(i);
          return;
        }
        visit(sizes_[i]);
        if (!fault_.empty()) {
          sizes_.resize(i);
          return;
        }
      }
  }

  /// A late thread weighs most in short laps: there are several of them.
  void visit(Size& size) {
    const auto start = Clock::now();
    do lap(size);
    while (fault_.empty() && Clock::now() - start < kVisit);
  }

  void lap(Size& size) {
    const Seed own = derive(secret_, fmt::format("lap {}", ++laps_));
    Rng inputs(derive(own, "inputs"));
    Rng judge(derive(own, "judge"));
    lost_time_.start();
    const auto run = question_.at(size.n, inputs, judge);
    const double lost = lost_time_.share();
    try {
      const Lap lap = run(solution_);
      if (lap.finding)
        fault_ = lap.finding->summary;
      else
        keep(size, static_cast<double>(lap.elapsed.count()), lost);
    } catch (const SolutionFailure& failure) {
      fault_ = failure.what();
    }
  }

  void keep(Size& size, double ns, double lost) {
    size.fastest_of_all_ns = std::min(size.fastest_of_all_ns, ns);
    if (lost > question_.others)
      disturbed_.count(lost);
    else
      size.fastest_ns = std::min(size.fastest_ns, ns);
  }

  /// Some sizes had no lap that counts. All of them do when the solution has disturbed itself.
  void judge_disturbances() {
    if (busy_without(solution_, awake_, question_.others))
      fault_ = disturbed_.text("laps");
    else
      for (Size& size : sizes_) size.fastest_ns = size.fastest_of_all_ns;
  }

  /// Infinite where a size had no lap that counts.
  double slowest() const {
    double slowest = 0;
    for (const Size& size : sizes_) slowest = std::max(slowest, size.fastest_ns);
    return slowest;
  }

  const ScalingQuestion& question_;
  const Seed secret_;
  int laps_ = 0;
  Session& solution_;
  AwakeCores awake_;
  LostTime lost_time_;
  Disturbed disturbed_;
  std::vector<Size> sizes_;
  std::string fault_;
};

}  // namespace

Growth measure_growth(const ScalingQuestion& question, const Seed& secret, Session& solution) {
  return Laps(question, secret, solution).run();
}

}  // namespace gauntlet
