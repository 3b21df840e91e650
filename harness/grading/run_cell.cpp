// SPDX-License-Identifier: Apache-2.0
#include "harness/grading/run_cell.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <memory>

#include "harness/core/digest.h"
#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/core/seed.h"
#include "harness/grading/ask_check.h"
#include "harness/grading/probe.h"
#include "harness/grading/provenance_of.h"
#include "harness/grading/reference_sessions.h"
#include "harness/grading/self_test.h"
#include "harness/grading/timing_gate.h"
#include "harness/grading/transcript.h"
#include "harness/grading/warning_free_build.h"
#include "harness/store/observation_json.h"
#include "harness/store/receipt_signature.h"
#include "harness/store/result_store.h"

namespace gauntlet {
namespace {

// A solution that hangs in three checks has shown its verdict; the others need not wait for it.
constexpr int kPatience = 3;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Adds to a sum the seconds that it lives.
class Stopwatch {
 public:
  explicit Stopwatch(double& sum) : sum_(sum) {}
  ~Stopwatch() { sum_ += seconds_since(start_); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& sum_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

bool wanted(const CellRequest& request, const CheckInfo& check) {
  const auto& only = request.only_checks;
  return only.empty() || std::find(only.begin(), only.end(), check.id) != only.end();
}

/// One cell on its way from source to observation.
class CellRun {
 public:
  CellRun(const GradingEnvironment& environment, const CellRequest& request,
          const Progress& progress)
      : environment_(environment),
        request_(request),
        progress_(progress),
        budget_(request.challenge.check_seconds, request.challenge.cell_seconds),
        gate_(environment.gate(),
              [this](const std::string& text) {
                tell(CellEvent::Kind::waiting, text, Verdict::passed);
              }),
        references_(environment, request.challenge) {
    Grader grader = grader_on(request.challenge.id, request.solution.device);
    for (Check& check : grader.checks)
      if (wanted(request, check)) checks_.push_back(std::move(check));
    scaling_ = std::move(grader.scaling);
  }

  GradedCell run() {
    cell_.key = request_.key();
    cell_.provenance = provenance_of(environment_, request_);
    read_claims();
    gate_.share();
    std::unique_ptr<Session> solution = request_.null_solution ? null_session() : build();
    commit();
    if (solution) ask_all(*solution);
    close_receipt();
    timings_.races = gate_.seconds_owned();
    timings_.waiting = gate_.seconds_waited();
    return {std::move(cell_), std::move(receipt_), timings_};
  }

 private:
  /// The seed is drawn after the build, so that nothing in the sources can know it.
  void draw_seed() { cell_.seed = request_.seed ? *request_.seed : Seed::fresh(); }

  /// What is wrong with a claims.yaml is told beside the grade, which it does not touch.
  void read_claims() {
    if (!request_.solution.claims || request_.null_solution) return;
    const std::string file(SolutionSource::kClaims);
    try {
      cell_.stated_claims = stated_claims_from_yaml(*request_.solution.claims, file);
    } catch (const UserError& error) {
      cell_.claims_fault = error.what();
    }
  }

  bool claims(ClaimKind kind) const {
    return std::any_of(cell_.stated_claims.begin(), cell_.stated_claims.end(),
                       [kind](const StatedClaim& claim) { return claim.kind == kind; });
  }

  /// Asked of a whole grading only, and never in an audit, which does not look at clocks.
  void time_growth(Session& solution) {
    if (request_.audit || !request_.races || !request_.only_checks.empty()) return;
    if (!has_speed()) return;
    tell(CellEvent::Kind::check_started, "claimed growth of time", Verdict::passed);
    take_machine();
    budget_.begin_check();
    const Seed secret = derive(cell_.seed, "claimed growth of time");
    try {
      cell_.time_growth = measure_growth(*scaling_, secret, solution);
    } catch (const std::exception& error) {
      cell_.time_growth = Growth{scaling_->axis, {}, error.what()};
    }
    gate_.share();
  }

  std::unique_ptr<Session> build() {
    tell(CellEvent::Kind::building, "", Verdict::passed);
    const Stopwatch watch(timings_.build);
    const BuiltSolution built =
        request_.subject ? build_subject(request_.solution, request_.challenge, environment_.cache)
                         : build_solution(request_.solution, request_.challenge, environment_.cache,
                                          environment_.build);
    cell_.build = built.record;
    draw_seed();
    if (!built.record.ok) return nullptr;
    receipt_.library = built.digest();
    return solution_session(environment_, request_.challenge, built, &budget_);
  }

  std::unique_ptr<Session> null_session() {
    draw_seed();
    cell_.build.ok = true;
    Session* teacher =
        *request_.null_solution == NullKind::previous ? &references_.first() : nullptr;
    return std::make_unique<NullSession>(*request_.null_solution, cell_.seed, teacher,
                                         request_.solution.device);
  }

  /// Binds the run to its seed before any question is asked, in a file that outlives us.
  void commit() {
    receipt_.key = cell_.key;
    receipt_.seed_drawn = !request_.seed;
    receipt_.sources = cell_.provenance.submission_digest;
    receipt_.grader = cell_.provenance.grader_digest;
    receipt_.gauntlet_version = cell_.provenance.gauntlet_version;
    receipt_.compiler = cell_.build.compiler;
    receipt_.cpu = cell_.provenance.cpu;
    receipt_.sandbox = cell_.provenance.sandbox;
    receipt_.started = cell_.provenance.started;
    receipt_.signer = key_.public_key();
    nonce_ = fresh_nonce();
    receipt_.commitment = commitment_to(receipt_, cell_.seed, nonce_);
    if (request_.results.empty()) return;
    ResultStore(request_.results).open_receipt(receipt_);
    tell(CellEvent::Kind::committed, receipt_.commitment, Verdict::passed);
  }

  void close_receipt() {
    receipt_.closing = {cell_.seed,         nonce_, references_.digest(), sha256(to_json(cell_)),
                        std::move(traces_), ""};
    const std::string digest = closing_digest(receipt_);
    receipt_.closing->signature = std::move(key_).sign(digest);
    if (!request_.results.empty()) tell(CellEvent::Kind::closed, digest, Verdict::passed);
  }

  void ask_all(Session& solution) {
    if (!request_.null_solution && !request_.subject) grade_engineering();
    transcript_.emplace(solution);
    for (const Check& check : checks_)
      if (!has_enough_failures()) ask_one(check);
    if (scaling_ && claims(ClaimKind::time_exponent)) time_growth(solution);
    if (!timed_) return;
    const Ceilings& best = ceilings();
    cell_.provenance.read_gb_per_s = best.read_gb_per_s;
    cell_.provenance.copy_gb_per_s = best.copy_gb_per_s;
    cell_.provenance.cache_gb_per_s = best.cache_gb_per_s;
    cell_.provenance.fma_gflop_per_s = best.fma_gflop_per_s;
  }

  bool has_enough_failures() const {
    return request_.enough_failures > 0 &&
           std::count_if(cell_.checks.begin(), cell_.checks.end(), [](const auto& seen) {
             return blames_submission(seen.verdict);
           }) >= request_.enough_failures;
  }

  void grade_engineering() {
    if (wanted(request_, warning_free_build_info())) keep(warning_free_build(cell_.build), {});
    if (request_.grade_tests && has_self_tests(request_.solution.device) &&
        wanted(request_, self_test_info()))
      keep(self_test(), {});
  }

  void keep(CheckObservation seen, CheckTrace trace) {
    trace.id = seen.info.id;
    trace.verdict = seen.verdict;
    cell_.checks.push_back(std::move(seen));
    traces_.push_back(std::move(trace));
  }

  CheckObservation self_test() {
    const std::string id = self_test_info().id;
    tell(CellEvent::Kind::check_started, id, Verdict::passed);
    const Stopwatch watch(timings_.self_test);
    try {
      const auto subjects = self_test_subjects(environment_, request_.challenge,
                                               grader_on(request_.challenge.id, Device::cpu));
      return grade_self_test(environment_, request_.challenge, request_.solution, subjects,
                             [&](const std::string& subject) {
                               tell(CellEvent::Kind::check_started, id + ": " + subject,
                                    Verdict::passed);
                             });
    } catch (const std::exception& error) {
      CheckObservation seen;
      seen.info = self_test_info();
      seen.finding = broken_finding(own_fault_of(error), error.what());
      return seen;
    }
  }

  void ask_one(const Check& check) {
    tell(CellEvent::Kind::check_started, check.id, Verdict::passed);
    if (const std::string why = why_not_to_ask(); !why.empty()) {
      keep(not_asked(check, why), {});
    } else {
      CheckObservation seen = ask_again_if_broken(check);
      keep(std::move(seen), transcript_->trace());
    }
    if (cell_.checks.back().verdict == Verdict::timed_out) ++timed_out_;
    tell(CellEvent::Kind::check_done, check.id, cell_.checks.back().verdict);
  }

  /// Empty while there is patience and time for another check.
  std::string why_not_to_ask() const {
    if (budget_.cell_is_used_up()) return budget_.used_up().what();
    if (timed_out_ < kPatience) return "";
    return fmt::format("{} checks before it ran into the time limit", kPatience);
  }

  /// What breaks is a fault of ours, and may have been the machine's for a moment.
  CheckObservation ask_again_if_broken(const Check& check) {
    CheckObservation seen = ask_once(check);
    if (seen.verdict != Verdict::broken) return seen;
    tell(CellEvent::Kind::check_started,
         fmt::format("{}: once more, after a fault of ours: {}", check.id, seen.finding->summary),
         Verdict::passed);
    return ask_once(check);
  }

  CheckObservation ask_once(const Check& check) {
    transcript_->begin();
    budget_.begin_check();
    const double apart = gate_.seconds_owned() + gate_.seconds_waited();
    const auto start = std::chrono::steady_clock::now();
    CheckObservation seen = ask_check(check, cell_.seed, setting_for(check));
    gate_.share();
    timings_.checks +=
        seconds_since(start) - (gate_.seconds_owned() + gate_.seconds_waited() - apart);
    return seen;
  }

  Probe::Setting setting_for(const Check& check) {
    Probe::Setting setting{.solution = *transcript_, .audit = request_.audit};
    setting.size = request_.challenge.size;
    setting.challenge_folder = request_.challenge.folder;
    // How often there is news may be the solution's choice.
    using Clock = std::chrono::steady_clock;
    setting.say = [this, id = check.id,
                   last = Clock::time_point()](const std::string& text) mutable {
      if (Clock::now() - last < std::chrono::milliseconds(100)) return;
      last = Clock::now();
      tell(CellEvent::Kind::check_started, id + ": " + text, Verdict::passed);
    };
    // Audits count tokens and cases, not seconds: they keep both cores busy.
    if (request_.audit) return setting;
    setting.take_machine = [this] {
      transcript_->leave_out();
      take_machine();
    };
    setting.race_reserve = &race_reserve_;
    setting.reference = [this]() -> Session& { return race_alone(); };
    setting.reference_again = [this]() -> Session& { return references_.second(); };
    return setting;
  }

  /// The first race of a check takes the gate for itself until the check is over.
  Session& race_alone() {
    transcript_->leave_out();
    if (!has_speed()) end_unmeasured(kNoGpu);
    if (!request_.races) end_unmeasured(kNotRaced);
    Session& reference = references_.first();
    take_machine();
    timed_ = true;
    return reference;
  }

  /// What is executed without a GPU is executed for its results.
  bool has_speed() const { return request_.solution.device == Device::cpu; }

  [[noreturn]] static void end_unmeasured(std::string_view why) {
    throw CheckEnded{{Verdict::unmeasured, "", std::string(why), {}, std::nullopt}};
  }

  void take_machine() {
    tell(CellEvent::Kind::racing, "", Verdict::passed);
    gate_.own();
  }

  void tell(CellEvent::Kind kind, const std::string& check, Verdict verdict) {
    progress_({kind, request_.key(), check, verdict, static_cast<int>(cell_.checks.size()),
               static_cast<int>(checks_.size()) +
                   (request_.grade_tests && has_self_tests(request_.solution.device) ? 2 : 1)});
  }

  const GradingEnvironment& environment_;
  const CellRequest& request_;
  const Progress& progress_;
  TimeBudget budget_;
  TimingGate gate_;
  ReferenceSessions references_;
  std::vector<Check> checks_;
  std::optional<ScalingQuestion> scaling_;
  CellObservation cell_;
  Receipt receipt_;
  ReceiptKey key_;
  std::string nonce_;
  std::optional<Transcript> transcript_;
  std::vector<CheckTrace> traces_;
  int timed_out_ = 0;
  bool timed_ = false;
  std::chrono::nanoseconds race_reserve_ = environment_.race_patience;  // what is left of it
  CellTimings timings_;
};

}  // namespace

const GraderEntry& grader_for(const std::string& challenge_id) {
  std::string known;
  for (const GraderEntry& entry : all_graders()) {
    if (entry.id == challenge_id) return entry;
    known += (known.empty() ? "" : ", ") + std::string(entry.id);
  }
  throw UserError(
      fmt::format("this program was built without a grader for '{}' (it has: {}); build it again",
                  challenge_id, known));
}

Grader grader_on(const std::string& challenge_id, Device device) {
  return grader_for(challenge_id).make().on(device);
}

std::vector<CheckInfo> checks_of(const std::string& challenge_id, Device device) {
  std::vector<CheckInfo> checks{warning_free_build_info()};
  if (has_self_tests(device)) checks.push_back(self_test_info());
  for (Check& check : grader_on(challenge_id, device).checks) checks.push_back(std::move(check));
  return checks;
}

GradedCell run_cell(const GradingEnvironment& environment, const CellRequest& request,
                    const Progress& progress) {
  return CellRun(environment, request, progress).run();
}

}  // namespace gauntlet
