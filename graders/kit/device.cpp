// SPDX-License-Identifier: Apache-2.0
#include "graders/kit/device.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "graders/kit/assignments.h"
#include "harness/core/error.h"

namespace gauntlet::kit {
namespace {

using Bits = std::vector<std::byte>;

Bits ask(Probe& probe, const DeviceCase& asked) {
  Rng rng = probe.begin_case(asked.name);
  return asked.ask(probe, rng);
}

/// The order of blocks and warps: by their numbers, or shuffled by a seed.
using Schedule = std::optional<std::uint64_t>;

std::vector<Schedule> schedules(Probe& probe, int shuffled) {
  Rng rng = probe.common_stream("schedules");
  std::vector<Schedule> all{std::nullopt};
  for (int n = 0; n < shuffled; ++n) all.emplace_back(rng());
  return all;
}

std::string words(const Schedule& schedule) {
  return schedule ? fmt::format("blocks and warps were shuffled by {}", *schedule)
                  : "blocks and warps came by their numbers";
}

// Threads that meet without an order, barriers that some do not reach, and lanes that a warp's
// exchange does not name.
constexpr std::string_view kRaces[] = {"race",        "divergent_barrier", "stuck_barrier",
                                       "absent_lane", "foreign_lane",      "idle_source"};
constexpr std::string_view kUndefined[] = {"undefined_read"};
using Faults = std::span<const std::string_view>;

/// Asks, and ends the check where the device saw such faults in one of the calls that were made, of
/// the first kind that it saw any of: that is the better finding where the answer is wrong as
/// well, because it names the line.
void require_no(std::initializer_list<Faults> kinds, Probe& probe,
                const std::function<void()>& ask_it) {
  DeviceControl& device = device_of(probe);
  device.begin_record();
  std::optional<CheckEnded> ended;
  try {
    ask_it();
  } catch (const CheckEnded& end) {
    ended = end;
  }
  for (const Faults faults : kinds) {
    std::vector<std::string> lines;
    for (const auto& seen : device.record().faults)
      if (std::ranges::find(faults, seen.fault) != faults.end()) lines.push_back(seen.text);
    if (lines.empty()) continue;
    const std::string first = lines.front();
    if (ended) lines.push_back("its answer: " + ended->finding.summary);
    probe.fail(first, std::move(lines));
  }
  if (ended) throw CheckEnded(*ended);
}

/// Every case in so many shuffled orders and one in none.
void require_none(Faults faults, const DeviceTerms& terms, Probe& probe,
                  const DeviceQuestions& questions) {
  constexpr int kShuffled = 2;
  for (const DeviceCase& asked : questions.cases)
    for (const Schedule& schedule : schedules(probe, kShuffled)) {
      DeviceTerms these = terms;
      these.schedule_seed = schedule;
      device_of(probe).set_terms(these);
      try {
        require_no({faults}, probe, [&] { ask(probe, asked); });
        probe.require(
            device_of(probe).record().races_complete,
            "a small call uses so much device memory that races in it cannot be looked for");
      } catch (CheckEnded& ended) {
        ended.finding.evidence.push_back(words(schedule));
        throw;
      }
    }
}

void race_free(Probe& probe, const DeviceQuestions& questions) {
  DeviceTerms terms;
  terms.check_races = true;
  require_none(kRaces, terms, probe, questions);
}

void initialised_reads(Probe& probe, const DeviceQuestions& questions) {
  DeviceTerms terms;
  terms.check_undefined = true;
  require_none(kUndefined, terms, probe, questions);
}

// Races and undefined reads that only some arguments bring about. In shuffled orders: by their
// numbers, the first block would do the work of all where blocks draw it.
void strict_domain(Probe& probe, const DeviceQuestions& questions) {
  DeviceTerms terms = strict_terms();
  for (const DomainQuestion& question : questions.domains) {
    const Domain domain = on_device(*question.domain);
    Rng rng = probe.common_stream("strict domain");
    ask_each(probe, domain, each_class_once(domain, rng), [&](const Assignment& choice, Rng& own) {
      terms.schedule_seed = own();
      device_of(probe).set_terms(terms);
      require_no({kRaces, kUndefined}, probe, [&] { question.ask(probe, choice, own); });
    });
  }
}

void any_schedule(Probe& probe, const DeviceQuestions& questions) {
  constexpr int kShuffled = 5;
  for (const DeviceCase& asked : questions.cases) {
    std::optional<Bits> first;
    for (const Schedule& schedule : schedules(probe, kShuffled)) {
      DeviceTerms terms;
      terms.schedule_seed = schedule;
      device_of(probe).set_terms(terms);
      try {
        const Bits bits = ask(probe, asked);
        if (!first) first = bits;
        if (bits == *first) continue;
      } catch (CheckEnded& ended) {
        ended.finding.evidence.push_back(words(schedule));
        throw;
      }
      probe.fail("the answer has other bits in another order of blocks and warps",
                 {words(schedule)});
    }
  }
}

void streams_respected(Probe& probe, const DeviceQuestions& questions) {
  struct Stream {
    StreamKind kind;
    const char* name;
  };
  constexpr Stream kStreams[] = {
      {StreamKind::non_blocking, "a stream made with cudaStreamNonBlocking"},
      {StreamKind::legacy_default, "the default stream"},
      {StreamKind::blocking, "a stream made by cudaStreamCreate"}};
  for (const auto& [kind, name] : kStreams) {
    device_of(probe).set_stream(kind);
    for (const DeviceCase& asked : questions.cases) {
      device_of(probe).begin_record();
      try {
        ask(probe, asked);
      } catch (CheckEnded& ended) {
        ended.finding.evidence.push_back(std::string("the call's stream was ") + name);
        throw;
      }
      const std::uint64_t left = device_of(probe).record().most_left_behind;
      if (left > 0)
        probe.fail(
            fmt::format("{} launches, fills or copies are queued where the call's stream "
                        "does not wait for them; it was {}",
                        left, name));
    }
  }
}

// What the session looks at in every call, it fails here under the name of the fault.
void computed_on_device(Probe& probe, const DeviceQuestions& questions) {
  for (const DeviceCase& asked : questions.cases) ask(probe, asked);
}

/// Device memory that the solution holds after all cases were asked so many times.
std::uint64_t held_after(int rounds, Probe& probe, const DeviceQuestions& questions) {
  for (int round = 0; round < rounds; ++round)
    for (const DeviceCase& asked : questions.cases) ask(probe, asked);
  return device_of(probe).report().scratch_bytes;
}

// What is kept for later calls on purpose is there after each case was asked once.
void device_memory_freed(Probe& probe, const DeviceQuestions& questions) {
  const std::uint64_t after_one = held_after(1, probe, questions);
  const std::uint64_t after_three = held_after(2, probe, questions);
  if (after_three > after_one)
    probe.fail(
        fmt::format("holds {} bytes of device memory when the same calls were made three times, "
                    "and {} after the first of these times",
                    after_three, after_one));
}

}  // namespace

bool on_device(Probe& probe) {
  return probe.solution().device() != nullptr;
}

void shuffle_schedule(Probe& probe, Rng& rng) {
  if (!on_device(probe)) return;
  DeviceTerms terms;
  terms.schedule_seed = rng();
  device_of(probe).set_terms(terms);
}

void take_stream(Probe& probe, int turn) {
  constexpr std::array kKinds{StreamKind::non_blocking, StreamKind::legacy_default,
                              StreamKind::blocking};
  if (on_device(probe))
    device_of(probe).set_stream(kKinds[static_cast<std::size_t>(turn) % kKinds.size()]);
}

DeviceControl& device_of(Probe& probe) {
  DeviceControl* const device = probe.solution().device();
  if (device == nullptr)
    throw Broken(OwnFault::bug, "a check of the device is asked where there is none");
  return *device;
}

std::vector<Check> device_checks(DeviceQuestions questions) {
  using enum Section;
  using enum Severity;
  const auto kept = std::make_shared<const DeviceQuestions>(std::move(questions));
  const auto with = [&](void (*ask)(Probe&, const DeviceQuestions&)) {
    return [=](Probe& probe) { ask(probe, *kept); };
  };
  std::vector<Check> all = {
      {{"computed_on_device", "results computed on the host", correctness, 2, critical},
       with(computed_on_device)},
      {{"any_schedule", "an answer that depends on the order of blocks and warps", correctness, 2,
        critical},
       with(any_schedule)},
      {{"race_free", "threads with no barrier between, member masks that name other lanes",
        robustness, 2, major},
       with(race_free)},
      {{"initialised_reads", "device memory read that nobody has written", robustness, 1, major},
       with(initialised_reads)},
      {{"streams_respected", "work on another stream than the call's", robustness, 2, major},
       with(streams_respected)},
      {{"device_memory_freed", "device memory that calls forget to free", robustness, 1, major},
       with(device_memory_freed)},
  };
  if (!kept->domains.empty())
    all.push_back({{"strict_domain", "races and undefined reads that some arguments bring about",
                    robustness, 1, major},
                   with(strict_domain)});
  return all;
}

}  // namespace gauntlet::kit
