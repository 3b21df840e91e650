#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <memory>

#include "graders/kit/laps.h"
#include "harness/core/machine.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "lap_trees.h"
#include "unit.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

Lap wrong(std::string summary) {
  Lap lap;
  lap.finding = Finding{Verdict::wrong, "", std::move(summary), {}, std::nullopt};
  return lap;
}

template <class T>
bool starts_with(std::span<const T> written, const std::vector<T>& want) {
  return std::equal(want.begin(), want.end(), written.begin());
}

/// Verifies all trees of a round and compares every token and node.
Lap verify_lap(Session& session, const LapTrees& trees, std::int64_t vocab) {
  Call<DflashVerifyArgs> call("dflash_verify");
  Manner manner;
  manner.threads = this_machine().cores;
  DflashVerifyArgs& args = call.args;
  set_run(args, manner);
  const std::size_t count = trees.walks().size();
  const std::vector<std::int64_t> max_emit(count, 1 << 20);
  args.num_trees = static_cast<std::int64_t>(count);
  args.vocab = args.logits_stride = vocab;
  call.in("node_start", args.node_start, trees.node_start());
  call.in("parent", args.parent, trees.parent());
  call.in("token", args.token, trees.token());
  call.in("max_emit", args.max_emit, max_emit);
  call.in("logits", args.logits, trees.logits());
  const std::size_t rows = trees.token().size() + count;
  const auto emit = call.out<std::int32_t>("emit", args.emit, rows);
  const auto path = call.out<std::int32_t>("path", args.path, rows);
  const auto num_emit = call.out<std::int64_t>("num_emit", args.num_emit, count);
  const auto num_path = call.out<std::int64_t>("num_path", args.num_path, count);
  session.run(call);
  if (call.returned != 0) return wrong(fmt::format("dflash_verify returned {}", call.returned));
  for (std::size_t t = 0; t < count; ++t) {
    const Walk& want = trees.walks()[t];
    const std::size_t row = static_cast<std::size_t>(trees.node_start()[t]) + t;
    if (num_emit.view()[t] != std::ssize(want.emit) || num_path.view()[t] != std::ssize(want.path))
      return wrong(fmt::format("tree {}: {} tokens and {} nodes, want {} and {}", t,
                               num_emit.view()[t], num_path.view()[t], want.emit.size(),
                               want.path.size()));
    if (!starts_with(emit.view().subspan(row), want.emit) ||
        !starts_with(path.view().subspan(row), want.path))
      return wrong(fmt::format("tree {}: not the tokens or nodes of greedy decoding", t));
  }
  return {call.elapsed, std::nullopt};
}

RaceSpec verify_race(const char* name, const LapTrees::Sizes& sizes) {
  const auto trees = std::make_shared<LapTrees>(sizes);
  RaceSpec spec;
  spec.case_name = name;
  spec.floor_bytes = 4.0 * static_cast<double>(sizes.vocab * sizes.trees * (sizes.correct + 1));
  spec.prepare = [trees](Rng& inputs, Rng&) { trees->renew(inputs); };
  spec.lap = [trees, sizes](Session& session) { return verify_lap(session, *trees, sizes.vocab); };
  return spec;
}

/// Trees for building, and what their masks and positions are.
struct BuildRound {
  static constexpr std::int64_t kTrees = 1024;
  static constexpr std::int64_t kNodes = 255;
  static constexpr std::int64_t kWords = 4;

  explicit BuildRound(Rng& rng) {
    for (std::int64_t t = 0; t < kTrees; ++t) {
      context_length.push_back(rng.integer(0, 1 << 20));
      node_start.push_back((t + 1) * kNodes);
      add_row(t, -1);
      for (std::int64_t node = 0; node < kNodes; ++node) {
        parent.push_back(static_cast<std::int32_t>(rng.integer(-1, node - 1)));
        add_row(t, node);
      }
    }
  }

  void add_row(std::int64_t t, std::int64_t node) {
    const std::size_t root = static_cast<std::size_t>(t * (kNodes + 1));
    const std::size_t row = root + static_cast<std::size_t>(node + 1);
    mask.resize((row + 1) * kWords);
    std::uint64_t* words = mask.data() + row * kWords;
    std::int64_t depth = 0;
    if (node >= 0) {
      const std::size_t above = root + static_cast<std::size_t>(parent.back() + 1);
      std::copy_n(mask.data() + above * kWords, kWords, words);
      depth = position[above] - context_length.back() + 1;
    }
    words[(node + 1) / 64] |= std::uint64_t{1} << ((node + 1) % 64);
    position.push_back(context_length.back() + depth);
  }

  std::vector<std::int64_t> node_start{0};
  std::vector<std::int64_t> context_length;
  std::vector<std::int32_t> parent;
  std::vector<std::uint64_t> mask;
  std::vector<std::int64_t> position;
};

Lap build_lap(Session& session, const BuildRound& round) {
  Call<DflashBuildArgs> call("dflash_build");
  Manner manner;
  manner.threads = this_machine().cores;
  DflashBuildArgs& args = call.args;
  set_run(args, manner);
  args.num_trees = BuildRound::kTrees;
  args.mask_words = BuildRound::kWords;
  call.in("node_start", args.node_start, round.node_start);
  call.in("parent", args.parent, round.parent);
  call.in("context_length", args.context_length, round.context_length);
  const auto mask = call.out<std::uint64_t>("mask", args.mask, round.mask.size());
  const auto position = call.out<std::int64_t>("position", args.position, round.position.size());
  session.run(call);
  if (call.returned != 0) return wrong(fmt::format("dflash_build returned {}", call.returned));
  if (!std::ranges::equal(mask.view(), round.mask)) return wrong("a mask is wrong");
  if (!std::ranges::equal(position.view(), round.position)) return wrong("a position is wrong");
  return {call.elapsed, std::nullopt};
}

constexpr RaceBudget kBudget{6, 21, std::chrono::milliseconds(600)};

// Chains of which half is right: up to where each of them ends every row has to be read, 51 MB of
// logits in all. Big trees with a short path: most rows need not be read. Neither fits into a
// cache.
void verify_speed(Probe& probe) {
  kit::race(probe,
            {verify_race("chains_6x26_vocab_152064", {6, 26, 13, 152'064, true}),
             verify_race("trees_8x63_vocab_32768", {8, 63, 7, 32'768})},
            kBudget);
}

void build_speed(Probe& probe) {
  const auto round = std::make_shared<std::optional<BuildRound>>();
  RaceSpec spec;
  spec.case_name = "masks_1024x255";
  // Parents in; masks and positions out.
  spec.floor_bytes = 1024.0 * (255 * 4 + 256 * (4 * 8 + 8));
  spec.prepare = [round](Rng& inputs, Rng&) { round->emplace(inputs); };
  spec.lap = [round](Session& session) { return build_lap(session, **round); };
  kit::race(probe, {spec}, kBudget);
}

}  // namespace

std::vector<Check> speed_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"verify_speed", "slow verification: logits that are read twice or for nothing", performance,
        4, minor},
       verify_speed},
      {{"build_speed", "slow masks", performance, 1, minor}, build_speed},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
