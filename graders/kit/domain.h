// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graders/kit/call_options.h"
#include "harness/core/rng.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"

/// What a contract allows, as data, and checks that ask all of it: every class of values of every
/// argument, beside every class of every other, and what is refused beside all that is not.
namespace gauntlet::kit {

/// Values of an argument that a solution may treat alike: "31 to 33". The numbers are bounds, both
/// included, of what is drawn from it; a class that is no number leaves them 0.
struct ValueClass {
  std::string name;
  double least = 0, most = 0;
  bool hides_all = false;  // beside it, other arguments hardly matter: no rows, no outputs
  std::vector<std::string> hides = {};  // arguments that decide nothing beside it
  bool costly = false;  // asked beside every class of the others, in as few cases as may be
};

/// A class of integers, named by its bounds: "7", "31 to 33".
ValueClass sized(std::int64_t least, std::int64_t most);
inline ValueClass sized(std::int64_t value) {
  return sized(value, value);
}

/// A whole number of blocks, and of blocks for each thread, of most sizes that are tried: 2^12
/// times 15. Where a last block is what the others leave, it is empty. Of smaller sizes a share.
constexpr std::int64_t kDivisible = 61'440;
inline ValueClass hiding(ValueClass other) {
  other.hides_all = true;
  return other;
}
inline ValueClass hiding(ValueClass other, std::vector<std::string> arguments) {
  other.hides = std::move(arguments);
  return other;
}

/// Of hundreds of threads: each is started in each call, or, kept idle, stopped and woken.
inline ValueClass costly(ValueClass other) {
  other.costly = true;
  return other;
}

/// The first class is the simplest: what a miss is reduced to where it can be. Where the name ends
/// in "threads", cases are asked in the order of its classes: threads that a call leaves behind
/// idle are stopped and woken with each later one, at some 10 us each, until the process ends.
struct Argument {
  std::string name;
  std::vector<ValueClass> classes;
};

/// A class for every argument of a domain, which must outlive it. Unknown names throw Broken.
class Assignment {
 public:
  /// The simplest class of everything.
  explicit Assignment(const std::vector<Argument>& arguments)
      : arguments_(&arguments), chosen_(arguments.size(), 0) {}

  const ValueClass& operator[](std::string_view argument) const;
  bool is(std::string_view argument, std::string_view value_class) const;
  bool is_simplest(std::string_view argument) const;

  /// A value of the class: an integer, all alike; or a positive number, by its logarithm.
  std::int64_t draw(Rng& rng, std::string_view argument) const;
  double draw_real(Rng& rng, std::string_view argument) const;

  /// The arguments whose class is not the simplest: "rows 0, eps 1e-50".
  std::string words() const;

  /// By position, for whoever tries one class after the other.
  std::size_t chosen(std::size_t argument) const { return chosen_[argument]; }
  Assignment with(std::size_t argument, std::size_t value_class) const;
  bool operator==(const Assignment& other) const { return chosen_ == other.chosen_; }

 private:
  std::size_t place_of(std::string_view argument) const;

  const std::vector<Argument>* arguments_;
  std::vector<std::size_t> chosen_;
};

/// Classes of an argument, by their names; all of them where none is named.
struct Classes {
  std::string argument;
  std::vector<std::string> names = {};
};

/// Arguments that decide together: each combination of these classes is asked always, beside the
/// simplest of all else. For what pairs are too few for, or most other classes hide.
using Corner = std::vector<Classes>;

/// The arguments of a call, and what of them goes together. The simplest assignment has to be
/// valid. `valid` also bounds the size of a case, by the largest values of its classes: there are
/// hundreds of them.
struct Domain {
  std::vector<Argument> arguments;
  std::function<bool(const Assignment&)> valid = [](const Assignment&) { return true; };
  std::vector<Corner> corners = {};
  /// Arguments that may be any integer between the least and the most of their classes: sizes,
  /// which are also asked where a solution's sources name a number.
  std::vector<std::string> any_integer = {};
  /// What is asked of kernels that a CPU executes, where a case that is small for a CPU's solution
  /// takes seconds. It bounds the work of a case, by few rows beside what is large in another
  /// argument, and leaves out no class.
  std::function<bool(const Assignment&)> affordable_on_device = [](const Assignment&) {
    return true;
  };
};

/// The same with what is asked on a device, and what of it is asked of this solution.
Domain on_device(Domain domain);
Domain domain_for(Probe& probe, const Domain& domain);

/// "4096", or "16 after 32": 16 bytes after a multiple of 32. None where the name is no such thing.
std::optional<Placement> placement_named(std::string_view name);

/// "alignment": ways to place the arrays of a call. All alike, or all at 64 bytes but one, which is
/// aligned to an element and no more: "64, x 4". CallOptions::placed() has what a class means.
Argument alignment_argument(const std::vector<std::string>& arrays);
void put_alignment(const Assignment& choice, CallOptions& options);

/// How many threads a call may use: 1, 2, 3, 7, 33 and 200, `simplest` first, which is 1 or 2.
Argument threads_argument(std::int64_t simplest = 2, const std::string& name = "threads");

/// Draws a problem of these classes, puts it to the solution and judges the answer.
using AskAssignment = std::function<void(const Assignment&, Rng&)>;

/// Asks a case for each assignment. Where one misses, simpler ones are tried, and the finding is of
/// the simplest that misses in the same way. A crash and whatever else ends a check end it at once.
void ask_each(Probe& probe, const Domain& domain, const std::vector<Assignment>& assignments,
              const AskAssignment& ask);

/// A domain and what a grader asks of its assignments; the domain must outlive it.
struct DomainQuestion {
  const Domain* domain;
  std::function<void(Probe&, const Assignment&, Rng&)> ask;
};

/// The two checks that every grader makes of its domains: `every_argument`, every pair of classes;
/// `corners_together`, many unusual classes at once, in a process to which teams of threads are
/// offered (TeamsOffered). Both ask all corners of a domain.
std::vector<Check> domain_checks(const std::vector<DomainQuestion>& questions);

/// A call that has to be turned down for one reason.
struct Refusal {
  std::string name;
  /// Where what is wrong is wrong, and nothing else is.
  std::function<bool(const Assignment&)> beside = [](const Assignment&) { return true; };
  AskAssignment ask;
  std::vector<Corner> always = {};  // it is asked beside these as well, however few others
};

/// A domain and what is refused beside its classes; the domain must outlive it. `between`: right
/// calls come before and after each refusal.
struct DomainRefusals {
  const Domain* domain;
  std::function<std::vector<Refusal>(Probe&, bool between)> refusals;
};

/// The two checks that every grader makes of them: `every_refusal`, each alone, and beside every
/// class of every argument that it can stand beside; `refused_between_calls`, each beside some.
std::vector<Check> refusal_checks(const std::vector<DomainRefusals>& all);

}  // namespace gauntlet::kit
