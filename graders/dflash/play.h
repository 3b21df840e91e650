#pragma once

#include <memory>
#include <vector>

#include "harness/grading/probe.h"
#include "model.h"
#include "unit.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// What one call of dflash_generate wrote, and what the model saw of it.
struct Play {
  std::vector<std::vector<std::int32_t>> emit;
  std::vector<std::int64_t> rounds;
  std::vector<std::int64_t> accepted;
  std::vector<Plan> plans;
  std::shared_ptr<Model> model;

  std::int64_t fewest_forwards() const;  // that a batched solution needs
  std::int64_t fewest_rows() const;
};

/// One call of dflash_generate on a scene.
class GenerateCall {
 public:
  explicit GenerateCall(const Scene& scene, const Manner& manner = {});

  Call<DflashGenerateArgs> call{"dflash_generate"};
  const Scene& scene() const { return scene_; }
  Model& model() { return *model_; }

  /// What the call will read, for checks that spoil it; sizes must stay.
  std::vector<std::int64_t>& prompt_start() { return prompt_start_; }
  std::vector<std::int64_t>& max_new() { return max_new_; }

  /// Entries k < count of request r, and the counts.
  std::vector<std::int32_t> emitted(std::size_t r, std::int64_t count) const;
  bool wrote_beyond(std::size_t r) const;  // max_new
  std::int64_t num_emit(std::size_t r) const { return counts_[0].view()[r]; }

  friend Play play(Probe& probe, const Scene& scene, const Manner& manner);

 private:
  const Scene& scene_;
  std::shared_ptr<Model> model_;
  std::vector<std::int64_t> prompt_start_{0};
  std::vector<std::int32_t> prompt_;
  std::vector<std::int64_t> max_new_;
  std::vector<std::int32_t> eos_;
  std::vector<Output<std::int32_t>> emit_;
  std::vector<Output<std::int64_t>> counts_;  // num_emit, rounds, accepted
};

/// Runs the call; a broken rule of the callbacks ends the check, whatever became of the call.
void run_audited(Probe& probe, GenerateCall& generate);

/// Generates and demands that every request emits what greedy decoding says, token for token, and
/// that no callback broke a rule on which that depends. Numbers of passes are left to the caller.
Play play(Probe& probe, const Scene& scene, const Manner& manner = {});

/// A drafter of random trees of low..high nodes, each from its own random stream.
Drafter random_drafter(const Language& language, const Seed& seed, std::int64_t low,
                       std::int64_t high);
/// A drafter of random chains of low..high nodes, of which the first few are right. Checks that are
/// not about branches use it, so that a solution that only follows chains fails for what they ask.
Drafter chain_drafter(const Language& language, const Seed& seed, std::int64_t low,
                      std::int64_t high);

Prompt random_prompt(const Language& language, std::int64_t length, std::int64_t max_new, Rng& rng);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
