// SPDX-License-Identifier: Apache-2.0
#include "graders/kit/domain.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <deque>
#include <fmt/format.h>
#include <limits>
#include <optional>

#include "graders/kit/assignments.h"
#include "graders/kit/device.h"
#include "graders/kit/inputs.h"
#include "graders/kit/numbers_of_sources.h"
#include "graders/kit/threads.h"
#include "harness/core/error.h"

namespace gauntlet::kit {
namespace {

// Cases with many unusual classes at once, beside the declared corners. With as many again of
// pairs, a cheap challenge is asked 500 small cases in about 2 s.
constexpr std::size_t kCorners = 250;

// Cases at sizes that a solution's sources name, of each check and domain.
constexpr std::size_t kOfNumbers = 200;
constexpr std::size_t kOfNumbersOnDevice = 40;  // a simulated one takes longer

// Assignments beside which a refusal is asked between right calls, the simplest included.
constexpr std::size_t kBetween = 3;

std::string name_of(const Assignment& assignment) {
  const std::string words = assignment.words();
  return words.empty() ? "the simplest of everything" : words;
}

/// Looking up names took a tenth of a check. Most that are as long as another end with another
/// letter.
bool are_same(const std::string& a, std::string_view b) {
  return a.size() == b.size() && (a.empty() || (a.back() == b.back() && a == b));
}

/// Where the one of this name is among others; their number when there is none. Who asks names it
/// by the same literal each time: it is looked for first where it was found the last time.
template <class Named>
std::size_t place_among(const std::vector<Named>& all, std::string_view name) {
  thread_local std::array<std::size_t, 1024> last{};
  std::size_t& guess =
      last[(reinterpret_cast<std::uintptr_t>(name.data()) * 31 + name.size()) % last.size()];
  if (guess < all.size() && are_same(all[guess].name, name)) return guess;
  const auto found =
      std::ranges::find_if(all, [&](const Named& one) { return are_same(one.name, name); });
  return guess = static_cast<std::size_t>(found - all.begin());
}

/// The array that is wrong, or what else is.
std::string kind_of(const Finding& finding) {
  return finding.miss ? finding.miss->where.substr(0, finding.miss->where.find('[')) : "";
}

/// Looks for the simplest assignment that misses as another does.
class Shrinking {
 public:
  Shrinking(Probe& probe, const Domain& domain, const AskAssignment& ask, std::string prefix)
      : probe_(probe), domain_(domain), ask_(ask), prefix_(std::move(prefix)) {}

  Finding from(Assignment assignment, Finding finding) {
    const std::string first = finding.case_name;
    while (simplify(assignment, finding)) continue;
    finding.evidence.push_back(
        fmt::format("the simplest case of this kind: {} simpler ones hold", held_));
    if (finding.case_name != first)
      finding.evidence.push_back(fmt::format("first seen in: {}", first));
    return finding;
  }

 private:
  using Clock = std::chrono::steady_clock;
  // Enough to try every simpler class of a few arguments; the time is for solutions that are slow.
  static constexpr int kMostAttempts = 60;
  static constexpr std::chrono::seconds kLongest{2};

  /// True when one argument could be given a simpler class.
  bool simplify(Assignment& assignment, Finding& finding) {
    for (std::size_t k = 0; k < domain_.arguments.size(); ++k)
      for (std::size_t c = 0; c < assignment.chosen(k); ++c) {
        const Assignment simpler = assignment.with(k, c);
        if (!domain_.valid(simpler)) continue;
        if (over_) return false;
        std::optional<Finding> found = attempt(simpler);
        if (!found || kind_of(*found) != kind_of(finding)) continue;
        assignment = simpler;
        finding = *std::move(found);
        return true;
      }
    return false;
  }

  /// Leaves nothing behind in what the check has seen: how many attempts there are may depend on
  /// what a solution answers, and on its pace.
  std::optional<Finding> attempt(const Assignment& assignment) {
    over_ = ++attempts_ >= kMostAttempts || Clock::now() - start_ > kLongest;
    const CheckObservation kept = probe_.observation();
    std::optional<Finding> found;
    try {
      Rng rng = probe_.begin_case(prefix_ + name_of(assignment));
      ask_(assignment, rng);
      ++held_;
    } catch (const CheckEnded& ended) {
      // Of one that crashes or hangs, no more is asked.
      over_ = over_ || ended.finding.verdict != Verdict::wrong;
      if (ended.finding.verdict == Verdict::wrong) found = ended.finding;
    }
    probe_.observation() = kept;
    return found;
  }

  Probe& probe_;
  const Domain& domain_;
  const AskAssignment& ask_;
  std::string prefix_;
  Clock::time_point start_ = Clock::now();
  int attempts_ = 0;
  int held_ = 0;
  bool over_ = false;
};

/// An assignment of a domain, and what is asked of it.
struct Question {
  const Domain* domain;
  Assignment assignment;
  const AskAssignment* ask;
  std::string prefix;           // of the case's name
  bool unusual_floats = false;  // in every call
};

void ask_one(Probe& probe, const Question& question) {
  const auto& [domain, assignment, ask, prefix, unusual_floats] = question;
  Rng rng = probe.begin_case(prefix + name_of(assignment));
  if (unusual_floats) probe.ask_with_unusual_floats(1);
  try {
    (*ask)(assignment, rng);
  } catch (CheckEnded& ended) {
    if (ended.finding.verdict == Verdict::wrong)
      ended.finding =
          Shrinking(probe, *domain, *ask, prefix).from(assignment, std::move(ended.finding));
    throw;
  }
  if (unusual_floats) probe.ask_with_unusual_floats();
}

/// Of the classes of those arguments that count threads.
std::size_t threads_in(const Question& question) {
  std::size_t places = 0;
  const std::vector<Argument>& arguments = question.domain->arguments;
  for (std::size_t k = 0; k < arguments.size(); ++k)
    if (arguments[k].name.ends_with("threads"))
      places = std::max(places, question.assignment.chosen(k));
  return places;
}

/// Many threads come last, and a process that may hold them idle ends behind that: each later call
/// would stop and wake them.
void ask_all(Probe& probe, std::vector<Question> questions) {
  std::ranges::stable_sort(questions, {}, threads_in);
  for (const Question& question : questions) ask_one(probe, question);
  if (!questions.empty() && threads_in(questions.back()) > 0) probe.restart();
}

/// Each refusal in its simplest case and in some that together have every class, `most` at most.
/// In the simplest no call is left out whose float controls may not come back.
void ask_beside(Probe& probe, const Domain& domain, const std::vector<Refusal>& refusals,
                std::size_t most) {
  const bool floats = !on_device(probe);
  std::deque<Domain> around;
  std::vector<Question> questions;
  for (const Refusal& refusal : refusals) {
    Rng rng = probe.common_stream("beside " + refusal.name);
    around.push_back({domain.arguments, [&](const Assignment& tried) {
                        return domain.valid(tried) && refusal.beside(tried);
                      }});
    std::vector<Assignment> assignments = each_class_once(around.back(), rng);
    if (assignments.size() > most)
      assignments.erase(assignments.begin() + static_cast<std::ptrdiff_t>(most), assignments.end());
    add_corners(around.back(), refusal.always, assignments);
    for (const Assignment& one : assignments)
      questions.push_back({&around.back(), one, &refusal.ask, refusal.name + ", beside ",
                           &one == &assignments.front() && floats});
  }
  ask_all(probe, std::move(questions));
}

/// With other float controls too, and again where a call left malloc more in use.
void ask_more_than_once(Probe& probe) {
  if (on_device(probe)) return;
  probe.ask_with_unusual_floats();
  probe.ask_until_freed();
}

}  // namespace

ValueClass sized(std::int64_t least, std::int64_t most) {
  return {least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most),
          static_cast<double>(least), static_cast<double>(most)};
}

std::size_t Assignment::place_of(std::string_view argument) const {
  const std::size_t place = place_among(*arguments_, argument);
  if (place == arguments_->size())
    throw Broken(OwnFault::bug, fmt::format("the domain has no argument `{}`", argument));
  return place;
}

const ValueClass& Assignment::operator[](std::string_view argument) const {
  const std::size_t k = place_of(argument);
  return (*arguments_)[k].classes[chosen_[k]];
}

bool Assignment::is(std::string_view argument, std::string_view value_class) const {
  const std::size_t k = place_of(argument);
  const std::vector<ValueClass>& classes = (*arguments_)[k].classes;
  if (are_same(classes[chosen_[k]].name, value_class)) return true;
  if (place_among(classes, value_class) < classes.size()) return false;
  throw Broken(OwnFault::bug, fmt::format("`{}` has no class `{}`", argument, value_class));
}

bool Assignment::is_simplest(std::string_view argument) const {
  return chosen_[place_of(argument)] == 0;
}

std::int64_t Assignment::draw(Rng& rng, std::string_view argument) const {
  const ValueClass& from = (*this)[argument];
  return rng.integer(static_cast<std::int64_t>(from.least), static_cast<std::int64_t>(from.most));
}

double Assignment::draw_real(Rng& rng, std::string_view argument) const {
  const ValueClass& from = (*this)[argument];
  return from.least == from.most ? from.least : log_uniform(rng, from.least, from.most);
}

std::string Assignment::words() const {
  std::vector<std::string> unusual;
  for (std::size_t k = 0; k < chosen_.size(); ++k)
    if (chosen_[k] != 0)
      unusual.push_back((*arguments_)[k].name + " " + (*arguments_)[k].classes[chosen_[k]].name);
  return fmt::format("{}", fmt::join(unusual, ", "));
}

Assignment Assignment::with(std::size_t argument, std::size_t value_class) const {
  Assignment changed = *this;
  changed.chosen_[argument] = value_class;
  return changed;
}

std::optional<Placement> placement_named(std::string_view name) {
  constexpr std::string_view kAfter = " after ";
  const auto number = [](std::string_view digits) {
    std::size_t value = 0;
    const char* end = digits.data() + digits.size();
    return std::from_chars(digits.data(), end, value).ptr == end ? value : 0;
  };
  const std::size_t at = name.find(kAfter);
  const Placement named =
      at == std::string_view::npos
          ? Placement{number(name), 0}
          : Placement{number(name.substr(at + kAfter.size())), number(name.substr(0, at))};
  return named.alignment > 0 ? std::optional(named) : std::nullopt;
}

Argument alignment_argument(const std::vector<std::string>& arrays) {
  Argument made{
      "alignment",
      {{"64"}, {"4"}, {"4 after 16"}, {"8 after 16"}, {"16 after 32"}, {"32 after 64"}, {"4096"}}};
  for (const std::string& array : arrays) made.classes.push_back({fmt::format("64, {} 4", array)});
  return made;
}

void put_alignment(const Assignment& choice, CallOptions& options) {
  const std::string_view name = choice["alignment"].name;
  if (const auto placement = placement_named(name)) options.placement = *placement;
  constexpr std::string_view kOne = "64, ";
  // The name lives as long as the domain does.
  if (name.starts_with(kOne))
    options.displaced = name.substr(kOne.size(), name.size() - kOne.size() - 2);
}

Argument threads_argument(std::int64_t simplest, const std::string& name) {
  return {name,
          {sized(simplest), sized(3 - simplest), sized(3), sized(7), costly(sized(33)),
           costly(sized(200))}};
}

Domain on_device(Domain domain) {
  domain.valid = [valid = std::move(domain.valid), affordable = domain.affordable_on_device](
                     const Assignment& choice) { return valid(choice) && affordable(choice); };
  return domain;
}

Domain domain_for(Probe& probe, const Domain& domain) {
  return on_device(probe) ? on_device(domain) : domain;
}

void ask_each(Probe& probe, const Domain& domain, const std::vector<Assignment>& assignments,
              const AskAssignment& ask) {
  std::vector<Question> questions;
  for (const Assignment& one : assignments) questions.push_back({&domain, one, &ask, ""});
  ask_all(probe, std::move(questions));
}

std::vector<Check> domain_checks(const std::vector<DomainQuestion>& questions) {
  using enum Section;
  using enum Severity;
  // Each domain draws its assignments from the same stream.
  const auto check = [&](const std::string& stream, bool teams, const auto& assignments) {
    return [=](Probe& probe) {
      ask_more_than_once(probe);
      std::optional<TeamsOffered> offered;
      if (teams && !on_device(probe)) offered.emplace(probe);
      for (const DomainQuestion& question : questions) {
        const Domain domain = domain_for(probe, *question.domain);
        Rng rng = probe.common_stream(stream);
        const AskAssignment ask = [&](const Assignment& choice, Rng& own) {
          question.ask(probe, choice, own);
        };
        ask_each(probe, domain, assignments(domain, rng), ask);
        const NumberedDomain numbered = with_numbers(domain, probe.named_numbers(), rng);
        const std::size_t most = on_device(probe) ? kOfNumbersOnDevice : kOfNumbers;
        ask_each(probe, numbered.domain, assignments_of_numbers(numbered, rng, most), ask);
      }
    };
  };
  return {
      {{"every_argument", "a value of an argument, or a pair of them, that was not thought of",
        correctness, 3, critical},
       check("every argument", false, covering_assignments)},
      {{"corners_together", "unusual values of many arguments at once", correctness, 2, major},
       check("corners together", true,
             [](const Domain& domain, Rng& rng) {
               std::vector<Assignment> all = random_assignments(domain, rng, kCorners);
               add_corners(domain, domain.corners, all);
               return all;
             })},
  };
}

std::vector<Check> refusal_checks(const std::vector<DomainRefusals>& all) {
  using enum Section;
  using enum Severity;
  const auto check = [&](bool between, std::size_t most) {
    return [=](Probe& probe) {
      ask_more_than_once(probe);
      for (const DomainRefusals& one : all)
        ask_beside(probe, domain_for(probe, *one.domain), one.refusals(probe, between), most);
    };
  };
  return {
      {{"every_refusal", "arguments that make no sense, or are not implemented, acted upon",
        robustness, 1, minor},
       check(false, std::numeric_limits<std::size_t>::max())},
      {{"refused_between_calls", "a refused call that changes what comes after it", robustness, 0.5,
        minor},
       check(true, kBetween)},
  };
}

}  // namespace gauntlet::kit
