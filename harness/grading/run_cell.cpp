// SPDX-License-Identifier: Apache-2.0
#include "harness/grading/run_cell.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <fmt/format.h>
#include <memory>
#include <mutex>

#include "harness/build/named_numbers.h"
#include "harness/core/digest.h"
#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/core/seed.h"
#include "harness/core/stopwatch.h"
#include "harness/grading/ask_check.h"
#include "harness/grading/ask_in_order.h"
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

bool wanted(const CellRequest& request, const CheckInfo& check) {
  const auto& only = request.only_checks;
  return only.empty() || std::find(only.begin(), only.end(), check.id) != only.end();
}

/// Who asks one check after the other, of processes of the solution of its own.
struct Lane {
  Lane(TimeBudget* of_its_calls, std::unique_ptr<Session> of_its_own)
      : budget(of_its_calls), session(std::move(of_its_own)), transcript(*session) {}

  TimeBudget* budget;
  std::unique_ptr<Session> session;
  Transcript transcript;
};

/// One cell on its way from source to observation.
class CellRun {
 public:
  CellRun(const GradingEnvironment& environment, const CellRequest& request,
          const Progress& progress)
      : environment_(environment),
        request_(request),
        progress_(progress),
        gate_(environment.gate(),
              [this](const std::string& text) {
                tell(CellEvent::Kind::waiting, text, Verdict::passed);
              }),
        references_(environment, request.challenge),
        named_numbers_(named_numbers(request.solution)) {
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
    if (request_.null_solution)
      take_null_solution();
    else
      build();
    commit();
    if (!lanes_.empty()) ask_all();
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
    budgets_.front().begin_check();
    const Seed secret = derive(cell_.seed, "claimed growth of time");
    try {
      cell_.time_growth = measure_growth(*scaling_, secret, solution);
    } catch (const std::exception& error) {
      cell_.time_growth = Growth{scaling_->axis, {}, error.what()};
    }
    gate_.share();
  }

  void build() {
    tell(CellEvent::Kind::building, "", Verdict::passed);
    const Stopwatch watch(timings_.build);
    const BuiltSolution built =
        request_.subject ? build_subject(request_.solution, request_.challenge, environment_.cache)
                         : build_solution(request_.solution, request_.challenge, environment_.cache,
                                          environment_.build);
    cell_.build = built.record;
    draw_seed();
    if (!built.record.ok) return;
    receipt_.library = built.digest();
    const int lanes = has_speed() ? 1 : environment_.checks_at_once;
    for (int lane = 0; lane < lanes; ++lane)
      add_lane([&](TimeBudget* budget) {
        return solution_session(environment_, request_.challenge, built, budget);
      });
  }

  void take_null_solution() {
    draw_seed();
    cell_.build.ok = true;
    Session* teacher =
        *request_.null_solution == NullKind::previous ? &references_.first() : nullptr;
    add_lane([&](TimeBudget*) {
      return std::make_unique<NullSession>(*request_.null_solution, cell_.seed, teacher,
                                           request_.solution.device);
    });
  }

  void add_lane(const std::function<std::unique_ptr<Session>(TimeBudget*)>& session) {
    if (budgets_.empty())
      budgets_.emplace_back(request_.challenge.check_seconds, request_.challenge.cell_seconds);
    else
      budgets_.push_back(budgets_.front().beside());
    lanes_.emplace_back(&budgets_.back(), session(&budgets_.back()));
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

  void ask_all() {
    if (!request_.null_solution && !request_.subject) grade_engineering();
    ask_checks();
    if (scaling_ && claims(ClaimKind::time_exponent)) time_growth(*lanes_.front().session);
    if (!timed_) return;
    const Ceilings& best = ceilings();
    cell_.provenance.read_gb_per_s = best.read_gb_per_s;
    cell_.provenance.copy_gb_per_s = best.copy_gb_per_s;
    cell_.provenance.cache_gb_per_s = best.cache_gb_per_s;
    cell_.provenance.fma_gflop_per_s = best.fma_gflop_per_s;
  }

  void ask_checks() {
    if (has_enough_failures()) return;
    const double apart = gate_.seconds_owned() + gate_.seconds_waited();
    const auto start = std::chrono::steady_clock::now();
    ask_in_order(
        checks_.size(), lanes_.size(),
        [this](std::size_t lane, std::size_t check) {
          return ask_one(lanes_[lane], checks_[check]);
        },
        [this](std::size_t check, AskedCheck asked) {
          keep_next(checks_[check], std::move(asked));
          return !has_enough_failures();
        });
    timings_.checks =
        seconds_since(start) - (gate_.seconds_owned() + gate_.seconds_waited() - apart);
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
    ++done_;
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

  AskedCheck ask_one(Lane& lane, const Check& check) {
    tell(CellEvent::Kind::check_started, check.id, Verdict::passed);
    if (lane.budget->cell_is_used_up())
      return {not_asked(check, lane.budget->used_up().what()), std::nullopt};
    if (timed_out_ >= kPatience) return out_of_patience(check);
    CheckObservation seen = ask_again_if_broken(lane, check);
    return {std::move(seen), lane.transcript.trace()};
  }

  static AskedCheck out_of_patience(const Check& check) {
    return {not_asked(check, fmt::format("{} checks before it ran into the time limit", kPatience)),
            std::nullopt};
  }

  /// It is its turn: those before it are kept. Where patience ended with one of them, it may have
  /// been asked already, on another lane, which counts for nothing.
  void keep_next(const Check& check, AskedCheck asked) {
    if (asked.trace && timed_out_ >= kPatience) asked = out_of_patience(check);
    const Verdict verdict = asked.seen.verdict;
    if (verdict == Verdict::timed_out) ++timed_out_;
    keep(std::move(asked.seen), std::move(asked.trace).value_or(CheckTrace()));
    tell(CellEvent::Kind::check_done, check.id, verdict);
  }

  /// What breaks is a fault of ours, and may have been the machine's for a moment.
  CheckObservation ask_again_if_broken(Lane& lane, const Check& check) {
    CheckObservation seen = ask_once(lane, check);
    if (seen.verdict != Verdict::broken) return seen;
    tell(CellEvent::Kind::check_started,
         fmt::format("{}: once more, after a fault of ours: {}", check.id, seen.finding->summary),
         Verdict::passed);
    return ask_once(lane, check);
  }

  CheckObservation ask_once(Lane& lane, const Check& check) {
    lane.transcript.begin();
    lane.budget->begin_check();
    CheckObservation seen = ask_check(check, cell_.seed, setting_for(lane, check));
    if (has_speed()) gate_.share();
    return seen;
  }

  Probe::Setting setting_for(Lane& lane, const Check& check) {
    Probe::Setting setting{.solution = lane.transcript, .audit = request_.audit};
    setting.size = request_.challenge.size;
    setting.challenge_folder = request_.challenge.folder;
    setting.named_numbers = named_numbers_;
    // How often there is news may be the solution's choice.
    using Clock = std::chrono::steady_clock;
    setting.say = [this, id = check.id,
                   last = Clock::time_point()](const std::string& text) mutable {
      if (Clock::now() - last < std::chrono::milliseconds(100)) return;
      last = Clock::now();
      tell(CellEvent::Kind::check_started, id + ": " + text, Verdict::passed);
    };
    if (!has_speed()) setting.reference = []() -> Session& { end_unmeasured(kNoGpu); };
    // Audits count tokens and cases, not seconds: they keep both cores busy. Where nothing is timed
    // nobody needs the machine, which several lanes could not take.
    if (request_.audit || !has_speed()) return setting;
    setting.take_machine = [this, &lane] {
      lane.transcript.leave_out();
      take_machine();
    };
    setting.race_reserve = &race_reserve_;
    setting.reference = [this, &lane]() -> Session& { return race_alone(lane); };
    setting.reference_again = [this]() -> Session& { return references_.second(); };
    return setting;
  }

  /// The first race of a check takes the gate for itself until the check is over.
  Session& race_alone(Lane& lane) {
    lane.transcript.leave_out();
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
    const std::lock_guard lock(telling_);
    progress_({kind, request_.key(), check, verdict, done_,
               static_cast<int>(checks_.size()) +
                   (request_.grade_tests && has_self_tests(request_.solution.device) ? 2 : 1)});
  }

  const GradingEnvironment& environment_;
  const CellRequest& request_;
  const Progress& progress_;
  TimingGate gate_;
  ReferenceSessions references_;
  std::vector<Check> checks_;
  std::vector<std::int64_t> named_numbers_;
  std::optional<ScalingQuestion> scaling_;
  CellObservation cell_;
  Receipt receipt_;
  ReceiptKey key_;
  std::string nonce_;
  std::deque<TimeBudget> budgets_;  // that of each lane
  std::deque<Lane> lanes_;
  std::vector<CheckTrace> traces_;
  std::atomic<int> timed_out_ = 0;
  std::mutex telling_;
  std::atomic<int> done_ = 0;  // checks that are kept
  bool timed_ = false;
  std::chrono::nanoseconds race_reserve_ = environment_.race_patience;  // what is left of it
  CellTimings timings_;
};

}  // namespace

GradedCell run_cell(const GradingEnvironment& environment, const CellRequest& request,
                    const Progress& progress) {
  return CellRun(environment, request, progress).run();
}

}  // namespace gauntlet
