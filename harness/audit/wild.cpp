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
#include "harness/core/text.h"
#include "harness/core/yaml.h"

namespace gauntlet {
namespace {

// A check that a mutant fails by never ending is to cost seconds. Right solutions need a tenth of a
// call's limit, and a thirtieth of a check's.
constexpr double kShareOfCall = 0.4;
constexpr double kCallsOfCheck = 4;
constexpr std::size_t kEnough = 2;  // checks that notice a mutant

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
  WildMutant mutant{file, rule.name, std::move(site), base.solution, base.name, ground.name};
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

/// The checks that noticed a mutant by a verdict of this kind.
std::vector<std::string> noticed(const CellObservation& cell, bool by_time) {
  std::vector<std::string> checks;
  for (const CheckObservation& check : cell.checks)
    if (blames_submission(check.verdict) && (check.verdict == Verdict::timed_out) == by_time)
      checks.push_back(check.info.id);
  return checks;
}

/// Asks mutants, and those that ran out of time once more.
class Questioning {
 public:
  Questioning(const Challenge& challenge, const std::vector<Equivalent>& equivalents,
              const WildOptions& options, const WildTools& tools, WildReport& report)
      : challenge_(challenge),
        equivalents_(equivalents),
        options_(options),
        tools_(tools),
        report_(report) {}

  void ask(const std::vector<const WildMutant*>& mutants) {
    std::vector<CellRequest> late;
    std::vector<CellRequest> requests;
    for (std::size_t i = 0; i < mutants.size(); ++i)
      requests.push_back(brief(request_for(*mutants[i], fmt::format("wild_{}", i + 1))));
    const auto mutant_of_cell = [&](const CellObservation& cell) -> const WildMutant& {
      const auto asked = std::ranges::find(requests, cell.key.submission, &CellRequest::submission);
      return *mutants[static_cast<std::size_t>(asked - requests.begin())];
    };
    tools_.grade(requests, [&](const CellObservation& cell) {
      const WildMutant& mutant = mutant_of_cell(cell);
      const bool done = noticed(cell, false).size() >= kEnough || noticed(cell, true).empty();
      if (done || !cell.build.ok) return judge(mutant, cell, false);
      late.push_back(request_for(mutant, cell.key.submission));
      ++report_.waiting;
      tell(nullptr);
    });
    report_.asked_again = report_.waiting;
    if (late.empty()) return;
    tools_.grade_alone(late, [&](const CellObservation& cell) {
      --report_.waiting;
      judge(mutant_of_cell(cell), cell, true);
    });
  }

 private:
  CellRequest request_for(const WildMutant& mutant, const std::string& name) const {
    CellRequest request;
    request.submission = name;
    request.challenge = challenge_;
    request.solution = mutant.solution;
    request.seed = options_.seed;
    request.audit = true;
    request.races = false;
    request.grade_tests = false;
    request.subject = true;
    request.enough_failures = options_.only.empty() ? static_cast<int>(kEnough) : 0;
    return request;
  }

  static CellRequest brief(CellRequest request) {
    request.challenge.call_seconds *= kShareOfCall;
    request.challenge.check_seconds = kCallsOfCheck * request.challenge.call_seconds;
    return request;
  }

  void judge(const WildMutant& mutant, const CellObservation& cell, bool alone) {
    if (!cell.build.ok) {  // it was compiled before, but does not link
      ++report_.not_built;
      --report_.to_grade;
      return tell(nullptr);
    }
    WildRow row{mutant, noticed(cell, false), false, ""};
    const std::vector<std::string> late = noticed(cell, true);
    if (alone) {
      row.hung = row.killers.size() < kEnough && !late.empty();
      row.killers.insert(row.killers.end(), late.begin(), late.end());
    }
    for (const CheckObservation& check : cell.checks)
      if (check.verdict == Verdict::broken)
        report_.problems.push_back(fmt::format("{} broke on {}: {}", check.info.id, told(mutant),
                                               check.finding ? check.finding->summary : ""));
    const auto known = std::ranges::find_if(
        equivalents_, [&](const Equivalent& one) { return says(one, mutant); });
    if (known != equivalents_.end()) row.equivalent = known->reason;
    if (known != equivalents_.end() && !row.killers.empty())
      report_.problems.push_back(fmt::format("{} notices what equivalents.yaml says nobody can: {}",
                                             row.killers[0], told(mutant)));
    report_.rows.push_back(std::move(row));
    tell(&report_.rows.back());
  }

  void tell(const WildRow* row) const {
    if (tools_.news) tools_.news(report_, row);
  }

  const Challenge& challenge_;
  const std::vector<Equivalent>& equivalents_;
  const WildOptions& options_;
  const WildTools& tools_;
  WildReport& report_;
};

std::vector<WildMutant> named(const std::vector<WildMutant>& mutants,
                              const std::vector<std::string>& names) {
  std::vector<WildMutant> found;
  std::vector<std::string> known;
  for (const WildMutant& mutant : mutants) {
    known.push_back(mutant.name());
    if (contains(names, known.back())) found.push_back(mutant);
  }
  for (const std::string& name : names)
    if (!contains(known, name))
      throw UserError(fmt::format("no rule makes a mutant '{}'{}", printable(name, 200),
                                  did_you_mean(name, known)));
  return found;
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

std::string WildMutant::name() const {
  return fmt::format("{}:{}:{}{}", file, site.line, rule,
                     site.place > 1 ? fmt::format(":{}", site.place) : "");
}

WildRow::Fate WildRow::fate() const {
  if (killers.size() >= kEnough) return Fate::killed_by_two;
  if (!killers.empty()) return Fate::killed_by_one;
  return equivalent.empty() ? Fate::survives : Fate::equivalent;
}

int WildReport::count(WildRow::Fate fate) const {
  return static_cast<int>(
      std::ranges::count_if(rows, [&](const WildRow& row) { return row.fate() == fate; }));
}

int WildReport::count_hung() const {
  return static_cast<int>(std::ranges::count(rows, true, &WildRow::hung));
}

WildReport audit_wild(const Challenge& challenge, const std::vector<WildMutant>& mutants,
                      const std::vector<WildBase>& bases,
                      const std::vector<Equivalent>& equivalents, const WildOptions& options,
                      const WildTools& tools) {
  WildReport report;
  for (const Equivalent& one : equivalents)
    if (std::ranges::none_of(mutants, [&](const WildMutant& m) { return says(one, m); }))
      report.problems.push_back("equivalents.yaml names what no rule makes: " + told(one));
  const std::vector<WildMutant> chosen =
      options.only.empty() ? std::vector<WildMutant>() : named(mutants, options.only);
  const auto& offered = options.only.empty() ? mutants : chosen;
  const int wanted = options.only.empty() ? options.wanted : static_cast<int>(std::ssize(chosen));
  const std::vector<const WildMutant*> drawn = Drawing(bases, tools, report).draw(offered, wanted);
  report.to_grade = static_cast<int>(std::ssize(drawn));
  Questioning(challenge, equivalents, options, tools, report).ask(drawn);
  return report;
}

}  // namespace gauntlet
