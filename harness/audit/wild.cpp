// SPDX-License-Identifier: Apache-2.0
#include "harness/audit/wild.h"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <set>

#include "harness/core/error.h"
#include "harness/core/rng.h"
#include "harness/core/yaml.h"

namespace gauntlet {
namespace {

// A check that a mutant fails by never ending is to cost seconds. Right solutions need a tenth of a
// call's limit, and a thirtieth of a check's.
constexpr double kShareOfCall = 0.4;
constexpr double kCallsOfCheck = 4;
constexpr int kEnough = 2;  // checks that notice a mutant

std::string file_of(const WildBase& base, const SolutionSource::File& file) {
  const bool is_main = file.name == "solution.cpp" && !base.main.empty();
  return base.folder + "/" + (is_main ? base.main : file.name);
}

bool uses(const WildBase& base, const SolutionSource::File& file) {
  const std::string include = "#include \"" + file.name + "\"";
  return file.name.ends_with(".cpp") || file.name.ends_with(".cu") ||
         std::ranges::any_of(base.solution.files, [&](const SolutionSource::File& other) {
           return other.content.find(include) != std::string::npos;
         });
}

/// A file that mutants are made in, and the variants that compile it.
struct Ground {
  std::vector<const WildBase*> bases;
  std::string content;
  std::string name;  // in the solution
};

std::map<std::string, Ground> grounds_of(const std::vector<WildBase>& bases) {
  std::map<std::string, Ground> grounds;
  for (const WildBase& base : bases)
    for (const SolutionSource::File& file : base.solution.files) {
      if (file.name == SolutionSource::kTests || !uses(base, file)) continue;
      Ground& ground = grounds[file_of(base, file)];
      ground.bases.push_back(&base);
      ground.content = file.content;
      ground.name = file.name;
    }
  return grounds;
}

WildMutant mutant_of(const std::string& file, const Ground& ground, const WildBase& base,
                     const WildRule& rule, WildSite site) {
  WildMutant mutant{file, rule.name, std::move(site), base.solution, base.name};
  for (SolutionSource::File& part : mutant.solution.files)
    if (part.name == ground.name) part.content = changed(ground.content, mutant.site);
  return mutant;
}

/// Takes one of each queue in turn until all are empty.
template <class T>
std::deque<T> in_turn(std::vector<std::deque<T>> queues) {
  std::deque<T> all;
  for (bool any = true; any;) {
    any = false;
    for (std::deque<T>& queue : queues) {
      if (queue.empty()) continue;
      all.push_back(std::move(queue.front()));
      queue.pop_front();
      any = true;
    }
  }
  return all;
}

std::deque<WildMutant> mutants_in(const std::string& file, const Ground& ground, Rng& rng) {
  std::vector<std::deque<WildMutant>> by_rule;
  for (const WildRule& rule : wild_rules()) {
    std::vector<WildSite> sites = wild_sites(rule, ground.content);
    rng.shuffle(sites);
    std::deque<WildMutant> mutants;
    for (WildSite& site : sites) {
      const auto which = rng.integer(0, std::ssize(ground.bases) - 1);
      const WildBase& base = *ground.bases[static_cast<std::size_t>(which)];
      mutants.push_back(mutant_of(file, ground, base, rule, std::move(site)));
    }
    by_rule.push_back(std::move(mutants));
  }
  rng.shuffle(by_rule);
  return in_turn(std::move(by_rule));
}

CellRequest brief_request(const Challenge& challenge, const WildMutant& mutant, const Seed& seed) {
  CellRequest request;
  request.submission = "wild";
  request.challenge = challenge;
  request.challenge.call_seconds *= kShareOfCall;
  request.challenge.check_seconds = kCallsOfCheck * request.challenge.call_seconds;
  request.solution = mutant.solution;
  request.seed = seed;
  request.audit = true;
  request.races = false;
  request.grade_tests = false;
  request.subject = true;
  request.enough_failures = kEnough;
  return request;
}

std::string told(const WildMutant& mutant) {
  return fmt::format("{}:{} {}: {}", mutant.file, mutant.site.line, mutant.rule, mutant.site.after);
}

std::string told(const Equivalent& one) {
  return fmt::format("{} {}: {}", one.file, one.rule, one.after);
}

/// Draws mutants until as many as wanted differ from all code seen before.
class Drawing {
 public:
  Drawing(const std::vector<WildBase>& bases, const WildTools& tools, WildReport& report)
      : tools_(tools), report_(report) {
    std::vector<const SolutionSource*> originals;
    for (const WildBase& base : bases) originals.push_back(&base.solution);
    for (const std::string& code : tools_.assemble(originals)) {
      if (code.empty()) throw UserError("an honest variant or the reference does not build");
      seen_.insert(code);
    }
  }

  std::vector<const WildMutant*> draw(const std::vector<WildMutant>& mutants, int wanted) {
    std::vector<const WildMutant*> taken;
    std::size_t next = 0;
    while (std::ssize(taken) < wanted && next < mutants.size()) {
      const std::size_t more =
          std::min(static_cast<std::size_t>(wanted) - taken.size(), mutants.size() - next);
      std::vector<const SolutionSource*> sources;
      for (std::size_t i = 0; i < more; ++i) sources.push_back(&mutants[next + i].solution);
      const std::vector<std::string> codes = tools_.assemble(sources);
      for (std::size_t i = 0; i < more; ++i)
        if (is_new(codes[i])) taken.push_back(&mutants[next + i]);
      next += more;
    }
    report_.drawn = static_cast<int>(next);
    return taken;
  }

 private:
  bool is_new(const std::string& code) {
    if (code.empty()) {
      ++report_.not_built;
      return false;
    }
    const bool fresh = seen_.insert(code).second;
    if (!fresh) ++report_.same_code;
    return fresh;
  }

  const WildTools& tools_;
  WildReport& report_;
  std::set<std::string> seen_;
};

void judge_wild(const WildMutant& mutant, const CellObservation& cell,
                const std::vector<Equivalent>& equivalents, WildReport& report) {
  std::vector<std::string> killers;
  for (const CheckObservation& check : cell.checks) {
    if (blames_submission(check.verdict)) killers.push_back(check.info.id);
    if (check.verdict == Verdict::broken)
      report.problems.push_back(fmt::format("{} broke on {}: {}", check.info.id, told(mutant),
                                            check.finding ? check.finding->summary : ""));
  }
  if (!cell.build.ok) report.problems.push_back("does not link: " + told(mutant));
  const auto known =
      std::ranges::find_if(equivalents, [&](const Equivalent& one) { return says(one, mutant); });
  if (known != equivalents.end() && !killers.empty())
    report.problems.push_back(fmt::format("{} notices what equivalents.yaml says nobody can: {}",
                                          killers[0], told(mutant)));
  if (killers.size() >= kEnough) {
    ++report.killed_by_two;
    return;
  }
  report.rows.push_back(
      {mutant, killers.empty() ? "" : killers[0], known != equivalents.end() ? known->reason : ""});
}

}  // namespace

std::vector<WildBase> wild_bases(const AuditSuite& suite, const SolutionSource& reference) {
  std::vector<WildBase> bases{{"reference", "reference", "", reference}};
  for (const HonestVariant& variant : suite.honest)
    bases.push_back({variant.name, "honest", variant.name + ".cpp", variant.solution});
  return bases;
}

std::vector<WildMutant> wild_mutants(const std::vector<WildBase>& bases, const Seed& seed) {
  Rng rng(derive(seed, "wild mutants"));
  std::vector<std::deque<WildMutant>> by_file;
  for (const auto& [file, ground] : grounds_of(bases))
    by_file.push_back(mutants_in(file, ground, rng));
  rng.shuffle(by_file);
  std::deque<WildMutant> all = in_turn(std::move(by_file));
  return {std::make_move_iterator(all.begin()), std::make_move_iterator(all.end())};
}

std::vector<Equivalent> load_equivalents(const std::filesystem::path& path) {
  std::vector<Equivalent> all;
  if (!std::filesystem::exists(path)) return all;
  YamlFields file = YamlFields::of_file(path);
  for (YamlFields entry : file.list("equivalents")) {
    Equivalent one{
        entry.text("file"),  entry.text("rule"), entry.text("line"), entry.text("after"), 1,
        entry.text("reason")};
    if (entry.has("place")) one.place = static_cast<int>(entry.integer("place"));
    if (one.reason.empty()) entry.refuse("reason", "says why no caller can notice the change");
    entry.refuse_unknown();
    all.push_back(std::move(one));
  }
  file.refuse_unknown();
  return all;
}

bool says(const Equivalent& equivalent, const WildMutant& mutant) {
  return equivalent.file == mutant.file && equivalent.rule == mutant.rule &&
         equivalent.line == mutant.site.before && equivalent.after == mutant.site.after &&
         equivalent.place == mutant.site.place;
}

int WildReport::count_killed_by_one() const {
  return static_cast<int>(
      std::ranges::count_if(rows, [](const Row& row) { return !row.killer.empty(); }));
}

int WildReport::count_equivalent() const {
  return static_cast<int>(std::ranges::count_if(
      rows, [](const Row& row) { return row.killer.empty() && !row.equivalent.empty(); }));
}

int WildReport::count_survivors() const {
  return static_cast<int>(rows.size()) - count_killed_by_one() - count_equivalent();
}

WildReport audit_wild(const Challenge& challenge, const std::vector<WildMutant>& mutants,
                      const std::vector<WildBase>& bases,
                      const std::vector<Equivalent>& equivalents, int wanted, const Seed& seed,
                      const WildTools& tools) {
  WildReport report;
  for (const Equivalent& one : equivalents)
    if (std::ranges::none_of(mutants, [&](const WildMutant& m) { return says(one, m); }))
      report.problems.push_back("equivalents.yaml names what no rule makes: " + told(one));
  const std::vector<const WildMutant*> drawn = Drawing(bases, tools, report).draw(mutants, wanted);
  std::vector<CellRequest> requests;
  for (const WildMutant* mutant : drawn)
    requests.push_back(brief_request(challenge, *mutant, seed));
  const std::vector<CellObservation> cells = tools.grade(requests);
  report.graded = static_cast<int>(cells.size());
  for (std::size_t i = 0; i < cells.size(); ++i)
    judge_wild(*drawn[i], cells[i], equivalents, report);
  return report;
}

}  // namespace gauntlet
