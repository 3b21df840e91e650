#include "harness/grading/self_test.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <fmt/format.h>
#include <mutex>
#include <optional>
#include <span>
#include <thread>

#include "harness/core/error.h"
#include "harness/core/machine.h"
#include "harness/worker/worker_session.h"

namespace gauntlet {
namespace {

constexpr const char* kSymbol = "self_test";
// More than the prompts grant, so that a busy machine makes no false alarm.
constexpr double kSeconds = 5;

/// How long the tests may take with a wrong solution, after `slowest` seconds with the right ones.
/// A wrong solution that hangs need not be waited for as long; but far more than any right one took
/// is left, so that tests which only wait do not pass for tests that tell right from wrong.
double patience(double slowest) {
  return std::clamp(20 * slowest, 0.5, kSeconds);
}

bool needs_a_clock(const Mutant& mutant, const Grader& grader) {
  return std::all_of(mutant.killers.begin(), mutant.killers.end(), [&](const std::string& killer) {
    return std::any_of(grader.checks.begin(), grader.checks.end(), [&](const Check& check) {
      return check.id == killer && check.section == Section::performance;
    });
  });
}

/// The function takes nothing: its argument struct has no field that it could look at.
struct Nothing {
  char unused;
};

/// What the tests said of one subject; empty: that it is right.
std::string objection(WorkerConfig config, const std::filesystem::path& library) {
  config.library = library;
  WorkerSession session(std::move(config));
  Call<Nothing> call(kSymbol);
  try {
    session.run(call);
  } catch (const SolutionFailure& failure) {
    return failure.what();
  }
  // An int comes back in half a register; the other half is anything.
  const auto returned = static_cast<std::int32_t>(call.returned);
  return returned == 0 ? "" : fmt::format("{} returned {}", kSymbol, returned);
}

/// How the tests fared against the subjects so far.
struct Tally {
  int honest = 0;
  int mutants = 0;
  int killed = 0;
  std::vector<std::string> refused;  // "reference: self_test returned 3"

  void count(const SelfTestSubject& subject, const std::string& said) {
    ++(subject.honest ? honest : mutants);
    if (subject.honest && !said.empty())
      refused.push_back(fmt::format("{}: {}", subject.name, said));
    if (!subject.honest && !said.empty()) ++killed;
  }

  double refused_share() const {
    return honest == 0 ? 0 : static_cast<double>(refused.size()) / honest;
  }
  double earned() const {
    const double kills = mutants == 0 ? 0 : static_cast<double>(killed) / mutants;
    return std::max(0.0, kills - 2 * refused_share());
  }
};

/// Puts the tests to subjects, several at a time.
class Trial {
 public:
  Trial(const Challenge& challenge, const std::filesystem::path& cache, WorkerConfig config,
        const std::function<void(const std::string&)>& busy)
      : challenge_(challenge), cache_(cache), config_(std::move(config)), busy_(busy) {}

  /// What was said of each, given so many seconds for one.
  std::vector<std::string> objections(std::span<const SelfTestSubject> subjects, double seconds) {
    config_.call_seconds = seconds;
    said_.assign(subjects.size(), "");
    next_ = 0;
    std::vector<std::jthread> threads;
    for (int i = 0; i < this_machine().cores; ++i)
      threads.emplace_back([this, subjects] { work_through(subjects); });
    threads.clear();
    if (fault_) std::rethrow_exception(fault_);
    return std::move(said_);
  }

  /// The longest that a subject has taken so far.
  double slowest() const { return slowest_; }

 private:
  void work_through(std::span<const SelfTestSubject> subjects) {
    while (const auto mine = take_next(subjects)) {
      try {
        const std::filesystem::path library = library_of(subjects[*mine]);
        const auto start = std::chrono::steady_clock::now();
        said_[*mine] = objection(config_, library);
        note_time(std::chrono::steady_clock::now() - start);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        fault_ = std::current_exception();
      }
    }
  }

  std::optional<std::size_t> take_next(std::span<const SelfTestSubject> subjects) {
    const std::lock_guard lock(mutex_);
    if (next_ == subjects.size() || fault_) return std::nullopt;
    busy_(subjects[next_].name);
    return next_++;
  }

  void note_time(std::chrono::duration<double> taken) {
    const std::lock_guard lock(mutex_);
    slowest_ = std::max(slowest_, taken.count());
  }

  std::filesystem::path library_of(const SelfTestSubject& subject) const {
    const BuiltSolution built = build_solution(subject.solution, challenge_, cache_);
    if (!built.record.ok)
      throw Broken(fmt::format("{} of {} does not build: {}", subject.name, challenge_.id,
                               built.record.messages));
    return built.library;
  }

  const Challenge& challenge_;
  const std::filesystem::path& cache_;
  WorkerConfig config_;
  const std::function<void(const std::string&)>& busy_;
  std::mutex mutex_;  // of all below but said_, where every thread has elements of its own
  std::size_t next_ = 0;
  double slowest_ = 0;
  std::exception_ptr fault_;
  std::vector<std::string> said_;
};

WorkerConfig config_for(const Workshop& workshop, const Challenge& challenge,
                        const std::filesystem::path& tests) {
  WorkerConfig config;
  config.worker = workshop.worker;
  config.tests = tests;
  config.exports = challenge.exports;
  config.memory_bytes = static_cast<std::size_t>(challenge.memory_mib) << 20;
  config.arena_bytes = std::size_t{1} << 20;  // no buffers
  return config;
}

CheckObservation failed(CheckObservation seen, std::string summary,
                        std::vector<std::string> evidence = {}) {
  seen.verdict = Verdict::wrong;
  seen.finding =
      Finding{Verdict::wrong, kSymbol, std::move(summary), std::move(evidence), std::nullopt};
  return seen;
}

CheckObservation judged(CheckObservation seen, const Tally& tally) {
  seen.facts = {{"mutants that its own tests kill", static_cast<double>(tally.killed),
                 fmt::format("of {}", tally.mutants)},
                {"right solutions that its own tests refuse",
                 static_cast<double>(tally.refused.size()), fmt::format("of {}", tally.honest)}};
  seen.earned = tally.earned();
  if (!tally.refused.empty())
    return failed(std::move(seen),
                  fmt::format("its tests refuse {} of {} right solutions", tally.refused.size(),
                              tally.honest),
                  tally.refused);
  if (tally.killed == 0)
    return failed(std::move(seen), "its tests notice none of the wrong solutions");
  seen.verdict = Verdict::passed;
  return seen;
}

}  // namespace

CheckInfo self_test_info() {
  return {"tests_tell_right_from_wrong",
          "tests that pass whatever they are given, or are not there", Section::engineering, 1,
          Severity::minor};
}

std::vector<SelfTestSubject> self_test_subjects(const Workshop& workshop,
                                                const Challenge& challenge, const Grader& grader) {
  AuditSuite suite = load_audit_suite(workshop.root, challenge.id, grader);
  std::vector<SelfTestSubject> subjects;
  subjects.push_back(
      {"reference", read_solution(workshop.root / "reference" / challenge.id), true});
  for (HonestVariant& variant : suite.honest)
    subjects.push_back({variant.name, std::move(variant.solution), true});
  for (Mutant& mutant : suite.mutants)
    if (!needs_a_clock(mutant, grader))
      subjects.push_back({mutant.name, std::move(mutant.solution), false});
  return subjects;
}

CheckObservation grade_self_test(const Workshop& workshop, const Challenge& challenge,
                                 const SolutionSource& solution,
                                 const std::vector<SelfTestSubject>& subjects,
                                 const std::function<void(const std::string&)>& busy) {
  CheckObservation seen;
  seen.info = self_test_info();
  seen.cases = 1;
  if (!solution.has_tests())
    return failed(std::move(seen), "there is no tests.cpp with an int self_test(void)");
  const auto start = std::chrono::steady_clock::now();
  const BuiltSolution tests = build_tests(solution, challenge, workshop.cache);
  if (!tests.record.ok)
    return failed(std::move(seen), "tests.cpp does not build", {tests.record.messages});
  Trial trial(challenge, workshop.cache, config_for(workshop, challenge, tests.library), busy);
  const auto first_mutant = std::partition_point(
      subjects.begin(), subjects.end(), [](const auto& subject) { return subject.honest; });
  const std::span honest(subjects.begin(), first_mutant);
  const std::span mutants(first_mutant, subjects.end());
  Tally tally;
  for (const auto& group : {honest, mutants}) {
    const bool right = group.data() == honest.data();
    const std::vector<std::string> said =
        trial.objections(group, right ? kSeconds : patience(trial.slowest()));
    for (std::size_t i = 0; i < group.size(); ++i) tally.count(group[i], said[i]);
    if (2 * tally.refused_share() >= 1) break;  // no kill can make up for it
  }
  seen.cases = tally.honest + tally.mutants;
  seen.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return judged(std::move(seen), tally);
}

}  // namespace gauntlet
