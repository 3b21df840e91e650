// SPDX-License-Identifier: Apache-2.0
#include "graders/kit/domain.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <set>
#include <string>
#include <vector>

#include "graders/kit/assignments.h"
#include "harness/core/error.h"
#include "tests/support/scripted_session.h"

using namespace gauntlet;
using namespace gauntlet::kit;

namespace {

/// Four arguments. A page holds an item at least; and without items nothing else matters. Signs
/// are lost in one scale.
Domain shop() {
  const ValueClass signless = hiding({"zero"}, {"sign"});
  Domain made;
  made.arguments = {
      {"items", {sized(3), hiding(sized(0)), sized(7, 9), sized(63, 65)}},
      {"pages", {sized(1), sized(2), sized(33)}},
      {"sign", {{"plus"}, {"minus"}}},
      {"scale", {{"usual", 0.5, 2}, {"tiny", 1e-30, 1e-20}, {"one", 1, 1}, signless}},
  };
  made.valid = [](const Assignment& choice) {
    return choice["items"].most == 0 || choice["pages"].most <= choice["items"].least;
  };
  return made;
}

/// Every assignment that is valid.
std::vector<Assignment> everything(const Domain& domain) {
  std::vector<Assignment> all{Assignment(domain.arguments)};
  for (std::size_t k = 0; k < domain.arguments.size(); ++k) {
    std::vector<Assignment> longer;
    for (const Assignment& one : all)
      for (std::size_t c = 0; c < domain.arguments[k].classes.size(); ++c)
        longer.push_back(one.with(k, c));
    all = std::move(longer);
  }
  std::erase_if(all, [&](const Assignment& one) { return !domain.valid(one); });
  return all;
}

using Pairs = std::set<std::vector<std::size_t>>;

/// That a class of argument k hides argument i.
bool hides(const Domain& domain, const Assignment& one, std::size_t k, std::size_t i) {
  const ValueClass& of_k = domain.arguments[k].classes[one.chosen(k)];
  return of_k.hides_all ||
         std::ranges::find(of_k.hides, domain.arguments[i].name) != of_k.hides.end();
}

/// The pairs of classes that these ask: none of which a third argument hides a member.
Pairs asked_pairs(const Domain& domain, const std::vector<Assignment>& assignments) {
  Pairs found;
  for (const Assignment& one : assignments)
    for (std::size_t i = 0; i < domain.arguments.size(); ++i)
      for (std::size_t j = i + 1; j < domain.arguments.size(); ++j) {
        bool hidden = false;
        for (std::size_t k = 0; k < domain.arguments.size(); ++k)
          hidden = hidden ||
                   (k != i && k != j && (hides(domain, one, k, i) || hides(domain, one, k, j)));
        if (!hidden) found.insert({i, one.chosen(i), j, one.chosen(j)});
      }
  return found;
}

struct Asked {
  Scripted session;
  Probe probe = probe_of(session);
  Domain domain = shop();
  std::vector<std::string> cases;

  /// The finding of a solution that fails where `misses` says so.
  Finding finding(const std::function<void(Probe&, const Assignment&, Rng&)>& judge) {
    try {
      ask_each(probe, domain, everything(domain), [&](const Assignment& choice, Rng& rng) {
        cases.push_back(choice.words());
        judge(probe, choice, rng);
      });
    } catch (const CheckEnded& ended) {
      return ended.finding;
    }
    return {};
  }
};

}  // namespace

TEST_CASE("a covering array has every pair that any valid assignment has, and few assignments") {
  const Domain domain = shop();
  const std::vector<Assignment> all = everything(domain);
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Rng rng(seed);
    const std::vector<Assignment> made = covering_assignments(domain, rng);
    for (const Assignment& one : made) CHECK(domain.valid(one));
    CHECK(asked_pairs(domain, made) == asked_pairs(domain, all));
    CHECK(made.front().words().empty());
    CHECK(made.size() < all.size() / 2);
  }
}

TEST_CASE("a costly class meets every other one, in few assignments") {
  Domain domain;
  for (const char* const name : {"a", "b", "c", "d", "e", "f"})
    domain.arguments.push_back({name, {sized(0), sized(1), sized(2), sized(3), sized(4)}});
  domain.arguments.push_back({"threads", {sized(1), sized(2), sized(3), sized(7)}});
  Domain costly_one = domain;
  domain.arguments.back().classes.push_back(sized(200));
  costly_one.arguments.back().classes.push_back(costly(sized(200)));
  const auto with_200 = [](const std::vector<Assignment>& all) {
    return std::ranges::count_if(all, [](const auto& one) { return one.is("threads", "200"); });
  };
  std::ptrdiff_t covering = 0, covering_costly = 0, drawn = 0, drawn_costly = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Rng rng(seed), same(seed);
    const auto made = covering_assignments(domain, rng);
    const auto made_costly = covering_assignments(costly_one, same);
    CHECK(asked_pairs(costly_one, made_costly) == asked_pairs(domain, made));
    covering += with_200(made);
    covering_costly += with_200(made_costly);
    drawn += with_200(random_assignments(domain, rng, 200));
    drawn_costly += with_200(random_assignments(costly_one, same, 200));
  }
  CHECK(covering_costly < covering);
  CHECK(drawn_costly < drawn / 2);
}

TEST_CASE("the same seed gives the same assignments, another seed others") {
  const Domain domain = shop();
  const auto words = [&](std::uint64_t seed) {
    Rng rng(seed);
    std::vector<std::string> all;
    for (const Assignment& one : covering_assignments(domain, rng)) all.push_back(one.words());
    for (const Assignment& one : random_assignments(domain, rng, 20)) all.push_back(one.words());
    return all;
  };
  CHECK(words(1) == words(1));
  CHECK(words(1) != words(2));
}

TEST_CASE("random assignments are valid and different, and there may be fewer than asked for") {
  const Domain domain = shop();
  Rng rng(3);
  const std::vector<Assignment> made = random_assignments(domain, rng, 15);
  std::set<std::string> words;
  for (const Assignment& one : made) {
    CHECK(domain.valid(one));
    words.insert(one.words());
  }
  CHECK(words.size() == 15);
  CHECK(random_assignments(domain, rng, 10'000).size() <= everything(domain).size());
}

TEST_CASE("what few assignments are valid with is drawn always, and where nothing hides it") {
  Domain domain = shop();
  // So that nothing is asked of signs by most draws: one scale of many shows them.
  for (std::size_t c = 1; c < 3; ++c) domain.arguments[3].classes[c].hides = {"sign"};
  for (std::size_t more = 0; more < 20; ++more)
    domain.arguments[3].classes.push_back(hiding(sized(static_cast<std::int64_t>(more)), {"sign"}));
  domain.valid = [](const Assignment& choice) {
    return choice["items"].most < 63 || choice.is("scale", "19");
  };
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Rng rng(seed);
    int minus = 0, many = 0;
    for (const Assignment& one : random_assignments(domain, rng, 60)) {
      minus += one.is("sign", "minus") && one.is("scale", "usual") && !one.is("items", "0") ? 1 : 0;
      many += one.is("items", "63 to 65") ? 1 : 0;
    }
    CHECK(minus >= 1);
    CHECK(many >= 1);
  }
}

TEST_CASE("combinations of a corner are asked by both checks, each once, and unknown names throw") {
  Domain domain = shop();
  const Corner corner{{"pages", {"1", "2"}}, {"sign"}, {"scale", {"one", "tiny"}}};
  const std::vector<Assignment> corners = combinations(domain, corner);
  CHECK(corners.size() == 8);
  domain.corners = {corner, {{"sign"}}};
  std::vector<Assignment> all = corners;
  add_corners(domain, domain.corners, all);
  CHECK(all.size() == 10);  // the simplest of all, and minus alone
  Rng rng(7);
  const std::vector<Assignment> covering = covering_assignments(domain, rng);
  for (const Assignment& one : all) CHECK(std::ranges::count(covering, one) == 1);
  CHECK_THROWS_AS(combinations(domain, {{"colour"}}), Broken);
  CHECK_THROWS_AS(combinations(domain, {{"sign", {"imaginary"}}}), Broken);
  domain.arguments[2].classes[1].hides = {"colour"};
  CHECK_THROWS_AS(covering_assignments(domain, rng), Broken);

  Scripted session;
  Probe probe = probe_of(session);
  domain.arguments[2].classes[1].hides = {};
  std::vector<std::string> seen;
  const std::vector<Check> checks = domain_checks(
      {{&domain, [&](Probe&, const Assignment& one, Rng&) { seen.push_back(one.words()); }}});
  for (const Check& check : checks) {
    seen.clear();
    check.ask(probe);
    for (const Assignment& one : all) CHECK(std::ranges::count(seen, one.words()) == 1);
  }
}

TEST_CASE("teams are offered where many classes are asked together, and there alone") {
  struct : Scripted {
    bool offered = false;
    void offer_teams(bool now) override { offered = now; }
  } session;
  Probe probe = probe_of(session);
  const Domain domain = shop();
  for (const bool together : {false, true}) {
    int asked = 0;
    const std::vector<Check> checks =
        domain_checks({{&domain, [&](Probe&, const Assignment&, Rng&) {
                          ++asked;
                          CHECK(session.offered == together);
                        }}});
    checks[together ? 1 : 0].ask(probe);
    CHECK(asked > 0);
    CHECK_FALSE(session.offered);
  }
}

TEST_CASE("cases are asked in the order of their threads, and else as they are given") {
  Scripted session;
  Probe probe = probe_of(session);
  Domain domain;
  domain.arguments = {{"size", {sized(1), sized(2)}},
                      {"merge threads", {sized(2), sized(1), sized(200)}}};
  const Assignment simple(domain.arguments);
  const Assignment two = simple.with(0, 1);
  std::vector<std::string> seen;
  ask_each(probe, domain, {simple.with(1, 2), two, two.with(1, 1), simple},
           [&](const Assignment& one, Rng&) { seen.push_back(one.words()); });
  CHECK(seen ==
        std::vector<std::string>{"size 2", "", "size 2, merge threads 1", "merge threads 200"});
}

TEST_CASE("a class gives values between its bounds, and unknown names are faults of ours") {
  const Domain domain = shop();
  const Assignment simple(domain.arguments);
  const Assignment choice = simple.with(0, 2).with(3, 1);
  Rng rng(4);
  std::set<std::int64_t> sizes;
  for (int turn = 0; turn < 100; ++turn) {
    sizes.insert(choice.draw(rng, "items"));
    const double scale = choice.draw_real(rng, "scale");
    CHECK(scale >= 1e-30);
    CHECK(scale <= 1e-20);
  }
  CHECK(sizes == std::set<std::int64_t>{7, 8, 9});
  CHECK(simple.with(3, 2).draw_real(rng, "scale") == 1);
  CHECK(choice.words() == "items 7 to 9, scale tiny");
  CHECK(choice.is("sign", "plus"));
  CHECK_THROWS_AS((void)choice.is("sign", "imaginary"), Broken);
  CHECK_THROWS_AS((void)choice["colour"], Broken);
}

TEST_CASE("a miss is reduced to the arguments that it needs") {
  Asked asked;
  const Finding finding = asked.finding([](Probe& probe, const Assignment& choice, Rng&) {
    if (choice["pages"].most > 1 && choice.is("sign", "minus"))
      probe.fail(Miss{"y[3]", 1, 2}, {"as the judge says"});
  });
  CHECK(finding.case_name == "pages 2, sign minus");
  REQUIRE(finding.evidence.size() >= 2);
  CHECK(finding.evidence[0] == "as the judge says");
  CHECK(finding.evidence[1].starts_with("the simplest case of this kind"));
}

TEST_CASE("a simpler case that misses in another array is another miss") {
  Asked asked;
  const Finding finding = asked.finding([](Probe& probe, const Assignment& choice, Rng&) {
    if (choice.is("scale", "tiny"))
      probe.fail(Miss{choice.is("sign", "minus") ? "dx[0]" : "y[0]", 1, 2});
  });
  CHECK(finding.case_name == "scale tiny");
  CHECK(finding.miss->where == "y[0]");
}

TEST_CASE("the search leaves the count of cases and the facts as the miss found them") {
  Asked asked;
  asked.finding([](Probe& probe, const Assignment& choice, Rng&) {
    probe.fact("seen", static_cast<double>(choice["items"].most), "");
    probe.require(!(choice.is("scale", "one") && choice.is("sign", "minus")), "misses");
  });
  const CheckObservation& seen = asked.probe.observation();
  CHECK(static_cast<std::size_t>(seen.cases) < asked.cases.size());
  REQUIRE(seen.facts.size() == 1);
  CHECK(seen.facts[0].value == 3);
}

TEST_CASE("a crash ends the check at once, and the search where it meets one") {
  const auto crash = [](CallBase&) {
    throw SolutionFailure(Verdict::crashed, "segmentation fault");
  };
  const auto call_it = [](Probe& probe) {
    Call<Nothing> call("f");
    probe.run(call);
  };
  Asked asked;
  asked.session.script = crash;
  const Finding finding = asked.finding([&](Probe& probe, const Assignment& choice, Rng&) {
    if (choice.is("sign", "minus")) call_it(probe);
  });
  CHECK(finding.verdict == Verdict::crashed);
  CHECK(asked.cases.back() == finding.case_name);

  Asked met;
  met.session.script = crash;
  bool missed = false;
  const Finding miss = met.finding([&](Probe& probe, const Assignment& choice, Rng&) {
    if (missed) call_it(probe);
    missed = choice.is("sign", "minus") && choice.is("scale", "one");
    probe.require(!missed, "misses");
  });
  CHECK(miss.verdict == Verdict::wrong);
  CHECK(met.cases[met.cases.size() - 2] == miss.case_name);
}

TEST_CASE("a refusal is asked alone, and beside every class that it goes with") {
  Scripted session;
  Probe probe = probe_of(session);
  const Domain domain = shop();
  std::set<std::string> seen;
  int asked = 0;
  const Refusal refusal{"bad sign",
                        [](const Assignment& choice) { return choice["items"].most > 3; },
                        [&](const Assignment& choice, Rng&) {
                          ++asked;
                          CHECK(choice["items"].most > 3);
                          for (const char* argument : {"items", "pages", "sign", "scale"})
                            seen.insert(std::string(argument) + " " + choice[argument].name);
                        }};
  const auto checks =
      refusal_checks({{&domain, [&](Probe&, bool) { return std::vector<Refusal>{refusal}; }}});
  checks.at(0).ask(probe);
  CHECK(seen == std::set<std::string>{"items 7 to 9", "items 63 to 65", "pages 1", "pages 2",
                                      "pages 33", "sign plus", "sign minus", "scale usual",
                                      "scale tiny", "scale one", "scale zero"});
  CHECK(asked <= 6);
  const int all = asked;
  checks.at(1).ask(probe);
  CHECK(asked - all == 3);
}

TEST_CASE("a refusal is asked beside what it names, between calls too") {
  Scripted session;
  Probe probe = probe_of(session);
  const Domain domain = shop();
  std::vector<std::string> seen;
  const Refusal refusal{"bad sign",
                        [](const Assignment&) { return true; },
                        [&](const Assignment& choice, Rng&) { seen.push_back(choice.words()); },
                        {{{"items", {"0"}}, {"scale", {"tiny", "one"}}}}};
  const auto checks =
      refusal_checks({{&domain, [&](Probe&, bool) { return std::vector<Refusal>{refusal}; }}});
  for (const Check& check : checks) {
    seen.clear();
    check.ask(probe);
    CHECK(std::ranges::count(seen, "items 0, scale tiny") == 1);
    CHECK(std::ranges::count(seen, "items 0, scale one") == 1);
  }
}

TEST_CASE("a placement is read from what it is called") {
  CHECK(placement_named("64")->alignment == 64);
  CHECK(placement_named("64")->skew == 0);
  CHECK(placement_named("16 after 32")->alignment == 32);
  CHECK(placement_named("16 after 32")->skew == 16);
  for (const char* other : {"", "64, x 4", "of an element", "16 after all", " after 16x"})
    CHECK_MESSAGE(!placement_named(other), other);
}

TEST_CASE("a class of alignment places all arrays alike, or one of them at an element") {
  const std::vector<Argument> arguments{alignment_argument({"x", "y"})};
  const auto placed = [&](std::size_t chosen, std::string_view array) {
    CallOptions options;
    put_alignment(Assignment(arguments).with(0, chosen), options);
    return guaranteed_alignment(options.placed(array));
  };
  const std::int32_t x[] = {64, 4, 4, 8, 16, 32, 4096, 4, 64};
  for (std::size_t chosen = 0; chosen < std::size(x); ++chosen) {
    INFO(arguments[0].classes[chosen].name);
    CHECK(placed(chosen, "x") == x[chosen]);
    CHECK(placed(chosen, "y") == (chosen < 7 ? x[chosen] : 68 - x[chosen]));
  }
}
