// SPDX-License-Identifier: Apache-2.0
#include "harness/attacks/attack_lanes.h"

#include <algorithm>
#include <atomic>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "harness/attacks/effects.h"
#include "harness/core/text.h"

namespace gauntlet {
namespace {

using Json = nlohmann::json;

AttackCell not_tried() {
  AttackCell cell;
  cell.tried = false;
  return cell;
}

AttackCell judge_attack(const Attack& attack, const Evidence& seen) {
  AttackCell cell;
  cell.verdict = seen.verdict;
  cell.bad = succeeded(attack.effect, seen);
  const bool expected = std::find(attack.verdicts.begin(), attack.verdicts.end(), seen.verdict) !=
                        attack.verdicts.end();
  if (cell.bad)
    cell.problem = fmt::format("succeeded: {} {}", attack.effect.kind, attack.effect.word);
  else if (!expected)
    cell.problem = fmt::format("failed, with an unexpected verdict: {}: {}", name_of(seen.verdict),
                               seen.summary);
  return cell;
}

AttackCell judge_honest(const Evidence& seen) {
  AttackCell cell;
  cell.verdict = seen.verdict;
  cell.bad = hindered(seen);
  if (cell.bad) cell.problem = fmt::format("hindered: {}: {}", name_of(seen.verdict), seen.summary);
  return cell;
}

Json to_json(const AttackCell& cell) {
  if (!cell.tried) return nullptr;
  return {{"bad", cell.bad}, {"problem", cell.problem}, {"verdict", name_of(cell.verdict)}};
}

AttackCell cell_from(const Json& json) {
  if (json.is_null()) return not_tried();
  return {true, json.at("bad"), json.at("problem"),
          verdict_named(json.at("verdict").get<std::string>())};
}

/// How many programs have been tried, by all lanes; says so from time to time.
class Tried {
 public:
  Tried(const std::string& what, std::size_t programs, const AttackLanes::Tell& tell)
      : programs_(programs), tell_(tell) {
    void* page =
        mmap(nullptr, sizeof *count_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) broken_call("a page for counting");
    count_ = new (page) std::atomic<std::size_t>(0);
    tell_(fmt::format("{} programs {}", programs_, what));
  }
  ~Tried() { munmap(count_, sizeof *count_); }
  Tried(const Tried&) = delete;
  Tried& operator=(const Tried&) = delete;

  void one_more() {
    constexpr std::size_t kOften = 40;
    const std::size_t count = ++*count_;
    if (count % kOften == 0) tell_(fmt::format("  {} of {} tried", count, programs_));
  }

 private:
  std::size_t programs_;
  const AttackLanes::Tell& tell_;
  std::atomic<std::size_t>* count_;  // shared with the lanes
};

AttackCell judge_control(const Attack& attack, const Evidence& seen) {
  AttackCell cell;
  cell.verdict = seen.verdict;
  cell.bad = !succeeded(attack.effect, seen);
  if (cell.bad)
    cell.problem = fmt::format("fails without {} as well: {}: {}", sentence_list(attack.stopped_by),
                               name_of(seen.verdict), seen.summary);
  return cell;
}

std::string text_of(const std::vector<AttackCell>& cells) {
  Json list = Json::array();
  for (const AttackCell& cell : cells) list.push_back(to_json(cell));
  return list.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

AttackLanes::AttackLanes(const GradingEnvironment& environment, const AttackCorpus& corpus,
                         Tell tell)
    : tell_(std::move(tell)) {
  // Only root has a user for each lane; the processes of one user are counted together.
  // Two more than cores: attacks wait for others to look.
  const int at_once = geteuid() == 0 ? this_machine().cores + 2 : 1;
  lanes_.resize(static_cast<std::size_t>(at_once) + 1);
  for (AttackLane& lane : lanes_) {
    lane.programs.challenge = corpus.challenge;
    lane.programs.check = corpus.check;
    lane.programs.headers = corpus.headers;
  }
  for (const Attack& attack : corpus.attacks) {
    AttackLane& lane = lane_for(attack);
    unwalled_ += attack.stopped_by.empty();
    lane.programs.attacks.push_back(attack);
    lane.rows.push_back(programs_++);
  }
  for (const OddProgram& program : corpus.honest) {
    AttackLane& lane = next_lane();
    lane.programs.honest.push_back(program);
    lane.rows.push_back(programs_++);
  }
  for (AttackLane& lane : lanes_)
    lane.testbed = std::make_unique<Testbed>(environment, lane.programs, this_machine().cores);
}

/// Memory files are counted for the whole machine, everything else for the attack itself.
AttackLane& AttackLanes::lane_for(const Attack& attack) {
  return attack.effect.kind == "shared_mib" ? lanes_.back() : next_lane();
}

std::vector<AttackCell> AttackLanes::in_all_lanes(bool as_ordinary_user, const Act& act) {
  const auto start = [&](AttackLane& lane) {
    return lane.testbed->send([&] { return text_of(act(lane)); }, as_ordinary_user);
  };
  std::vector<AttackCell> all(programs_);
  const auto finish = [&](const AttackLane& lane, ForkedTask& task) {
    const Json cells = Json::parse(task.result());
    for (std::size_t i = 0; i < lane.rows.size(); ++i) all[lane.rows[i]] = cell_from(cells.at(i));
  };
  std::vector<ForkedTask> at_once;
  for (std::size_t i = 0; i + 1 < lanes_.size(); ++i) at_once.push_back(start(lanes_[i]));
  for (std::size_t i = 0; i < at_once.size(); ++i) finish(lanes_[i], at_once[i]);
  ForkedTask alone = start(lanes_.back());
  finish(lanes_.back(), alone);
  return all;
}

std::vector<AttackCell> AttackLanes::column(const Tier& tier, bool with_unwalled) {
  Tried tried("as: " + tier.name, with_unwalled ? programs_ : programs_ - unwalled_, tell_);
  return in_all_lanes(!tier.as_root, [&](AttackLane& lane) {
    lane.testbed->settle(with_unwalled);
    std::vector<AttackCell> cells;
    for (const Attack& attack : lane.programs.attacks) {
      if (!attack.is_tried(with_unwalled)) {
        cells.push_back(not_tried());
        continue;
      }
      cells.push_back(judge_attack(attack, lane.testbed->try_attack(attack, tier.walls)));
      tried.one_more();
    }
    for (const OddProgram& program : lane.programs.honest) {
      cells.push_back(judge_honest(lane.testbed->try_honest(program, tier.walls)));
      tried.one_more();
    }
    return cells;
  });
}

std::vector<AttackCell> AttackLanes::controls() {
  std::size_t walled = 0;
  for (const AttackLane& lane : lanes_)
    walled += static_cast<std::size_t>(std::ranges::count_if(
        lane.programs.attacks, [](const Attack& attack) { return attack.is_tried(false); }));
  Tried tried("without the walls that stop them", walled, tell_);
  return in_all_lanes(true, [&](AttackLane& lane) {
    lane.testbed->settle(false);
    std::vector<AttackCell> cells(lane.rows.size(), not_tried());
    for (std::size_t i = 0; i < lane.programs.attacks.size(); ++i) {
      const Attack& attack = lane.programs.attacks[i];
      if (!attack.is_tried(false)) continue;
      cells[i] =
          judge_control(attack, lane.testbed->try_attack(attack, without(attack.stopped_by)));
      tried.one_more();
    }
    return cells;
  });
}

}  // namespace gauntlet
