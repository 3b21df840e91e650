// SPDX-License-Identifier: Apache-2.0
#include "harness/grading/self_test.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <fmt/format.h>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <thread>

#include "harness/core/error.h"
#include "harness/core/machine.h"
#include "harness/core/rng.h"
#include "harness/core/text.h"
#include "harness/grading/subject_libraries.h"
#include "harness/worker/worker_session.h"

namespace gauntlet {
namespace {

constexpr const char* kSymbol = "self_test";
// More than the prompts grant, so that a busy machine makes no false alarm. The same for all: the
// right solutions are anywhere in the order, so that nothing can be learned from them first. Tests
// that hang with every wrong solution cost 5 s for each, on every core at once.
constexpr double kSeconds = 5;
constexpr std::size_t kWords = 160;  // bytes that a finding quotes

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

/// How the tests took one subject.
struct Answer {
  bool asked = false;
  std::string objection;  // "self_test returned 3"; empty: that it is right
};

/// What the tests printed last: mostly which assertion failed, and where it stands. The C library
/// puts the program's name before it.
std::string last_words(std::string_view printed, const std::string& program) {
  constexpr const char* kBlank = " \t\r\n";
  const std::size_t end = printed.find_last_not_of(kBlank) + 1;
  if (end == 0) return "";
  const std::size_t start = printed.find_last_of('\n', end - 1) + 1;
  std::string_view line = printed.substr(start, end - start);
  if (line.starts_with(program + ": ")) line.remove_prefix(program.size() + 2);
  return fmt::format(" and printed \"{}\"", one_line(line, kWords));
}

std::string objection(WorkerConfig config, const std::filesystem::path& library) {
  config.library = library;
  const std::string program = config.worker.filename();
  WorkerSession session(std::move(config));
  Call<Nothing> call(kSymbol);
  try {
    session.run(call);
  } catch (const SolutionFailure& failure) {
    return failure.what() + last_words(session.output(), program);
  }
  // An int comes back in half a register; the other half is anything.
  const auto returned = static_cast<std::int32_t>(call.returned);
  if (returned == 0) return "";
  return fmt::format("{} returned {}", kSymbol, returned) + last_words(session.output(), program);
}

/// "merged_rows: self_test returned 3; it is right all the same: rows of a request may stand ...".
std::string refusal_of(const SelfTestSubject& subject, const std::string& objection) {
  std::string text = fmt::format("{}: {}", subject.name, objection);
  if (!subject.uses.empty()) text += fmt::format("; it is right all the same: {}", subject.uses);
  return text;
}

/// How the tests fared against the subjects that they met.
struct Tally {
  int honest = 0;
  int mutants = 0;
  int killed = 0;
  std::vector<std::string> refused;  // "reference: self_test returned 3"

  Tally(const std::vector<SelfTestSubject>& subjects, const std::vector<Answer>& answers) {
    std::set<std::string> refused_names;
    for (std::size_t i = 0; i < subjects.size(); ++i) {
      if (!subjects[i].honest || !answers[i].asked) continue;
      ++honest;
      if (answers[i].objection.empty()) continue;
      refused.push_back(refusal_of(subjects[i], answers[i].objection));
      refused_names.insert(subjects[i].name);
    }
    for (std::size_t i = 0; i < subjects.size(); ++i) {
      if (subjects[i].honest || !answers[i].asked) continue;
      ++mutants;
      const bool noticed = !answers[i].objection.empty();
      if (noticed && !refused_names.contains(subjects[i].made_of)) ++killed;
    }
  }

  /// No kill can make up for it.
  bool hopeless() const { return honest > 0 && 2 * refused.size() >= std::size_t(honest); }

  double earned() const {
    if (hopeless()) return 0;
    const double kills = mutants == 0 ? 0 : static_cast<double>(killed) / mutants;
    const double share = honest == 0 ? 0 : static_cast<double>(refused.size()) / honest;
    return std::max(0.0, kills - 2 * share);
  }
};

/// Puts the tests to subjects, several at a time, in an order that they cannot know.
class Trial {
 public:
  Trial(const std::vector<SelfTestSubject>& subjects, const SubjectLibraries& libraries,
        WorkerConfig config, const std::function<void(const std::string&)>& busy)
      : subjects_(subjects),
        libraries_(libraries),
        config_(std::move(config)),
        busy_(busy),
        answers_(subjects.size()),
        order_(subjects.size()) {
    config_.call_seconds = kSeconds;
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    Rng(entropy()).shuffle(order_);
    for (const SelfTestSubject& subject : subjects) honest_ += subject.honest ? 1 : 0;
  }

  /// Ends early when half of the right ones are refused.
  std::vector<Answer> answers() {
    std::vector<std::jthread> threads;
    for (int i = 0; i < this_machine().cores; ++i) threads.emplace_back([this] { work_through(); });
    threads.clear();
    if (fault_) std::rethrow_exception(fault_);
    return std::move(answers_);
  }

 private:
  void work_through() {
    while (const auto mine = take_next()) {
      try {
        std::string said = objection(config_, libraries_.library(*mine));
        const std::lock_guard lock(mutex_);
        refused_ += subjects_[*mine].honest && !said.empty() ? 1 : 0;
        answers_[*mine] = {true, std::move(said)};
      } catch (...) {
        const std::lock_guard lock(mutex_);
        fault_ = std::current_exception();
      }
    }
  }

  std::optional<std::size_t> take_next() {
    const std::lock_guard lock(mutex_);
    const bool hopeless = honest_ > 0 && 2 * refused_ >= honest_;
    if (next_ == order_.size() || fault_ || hopeless) return std::nullopt;
    busy_(fmt::format("{} of {}", next_ + 1, order_.size()));
    return order_[next_++];
  }

  const std::vector<SelfTestSubject>& subjects_;
  const SubjectLibraries& libraries_;
  WorkerConfig config_;
  const std::function<void(const std::string&)>& busy_;
  std::mutex mutex_;  // of all below
  std::vector<Answer> answers_;
  std::vector<std::size_t> order_;
  std::size_t next_ = 0;
  int honest_ = 0;
  int refused_ = 0;
  std::exception_ptr fault_;
};

WorkerConfig config_for(const GradingEnvironment& environment, const Challenge& challenge,
                        const std::filesystem::path& tests) {
  WorkerConfig config;
  config.worker = environment.worker;
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

std::vector<std::pair<std::string, const SolutionSource*>> sources_of(
    const std::vector<SelfTestSubject>& subjects) {
  std::vector<std::pair<std::string, const SolutionSource*>> sources;
  for (const SelfTestSubject& subject : subjects)
    sources.emplace_back(subject.name, &subject.solution);
  return sources;
}

}  // namespace

CheckInfo self_test_info() {
  return {"tests_tell_right_from_wrong",
          "tests that pass whatever they are given, or are not there", Section::engineering, 1,
          Severity::minor};
}

bool has_self_tests(Device device) {
  return device == Device::cpu;
}

bool asks_self_test(const CellRequest& request) {
  const auto& only = request.only_checks;
  return request.grade_tests && !request.null_solution && request.solution.has_tests() &&
         has_self_tests(request.solution.device) &&
         (only.empty() || std::find(only.begin(), only.end(), self_test_info().id) != only.end());
}

std::vector<SelfTestSubject> self_test_subjects(const GradingEnvironment& environment,
                                                const Challenge& challenge, const Grader& grader) {
  AuditSuite suite = load_audit_suite(environment.root, challenge.id, Device::cpu, grader);
  std::vector<SelfTestSubject> subjects;
  std::set<std::string> right;
  const auto add_right = [&](const std::string& name, SolutionSource solution) {
    std::string uses = freedom_taken(solution);
    if (right.insert(name).second)
      subjects.push_back({name, std::move(solution), true, std::move(uses), ""});
  };
  add_right("reference", read_solution(environment.root / "reference" / challenge.id));
  for (HonestVariant& variant : suite.honest) add_right(variant.name, std::move(variant.solution));
  for (Mutant& mutant : suite.mutants) {
    if (needs_a_clock(mutant, grader)) continue;
    if (!mutant.made_of.empty()) add_right(mutant.made_of, std::move(mutant.original));
    subjects.push_back({mutant.name, std::move(mutant.solution), false, "", mutant.made_of});
  }
  return subjects;
}

void compile_subjects(const GradingEnvironment& environment, const Challenge& challenge,
                      const Grader& grader, const std::function<void(const std::string&)>& busy) {
  const auto subjects = self_test_subjects(environment, challenge, grader);
  assemblies_of(sources_of(subjects), challenge, environment.cache, busy);
}

CheckObservation grade_self_test(const GradingEnvironment& environment, const Challenge& challenge,
                                 const SolutionSource& solution,
                                 const std::vector<SelfTestSubject>& subjects,
                                 const std::function<void(const std::string&)>& busy) {
  CheckObservation seen;
  seen.info = self_test_info();
  seen.cases = 1;
  if (!solution.has_tests())
    return failed(std::move(seen), "there is no tests.cpp with an int self_test(void)");
  const auto start = std::chrono::steady_clock::now();
  const BuiltSolution tests = build_tests(solution, challenge, environment.cache);
  if (!tests.record.ok)
    return failed(std::move(seen), "tests.cpp does not build", {tests.record.messages});
  const SubjectLibraries libraries(sources_of(subjects), challenge, environment.cache, busy);
  Trial trial(subjects, libraries, config_for(environment, challenge, tests.library), busy);
  const Tally tally(subjects, trial.answers());
  seen.cases = tally.honest + tally.mutants;
  seen.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return judged(std::move(seen), tally);
}

}  // namespace gauntlet
