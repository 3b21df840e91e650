#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "contract.h"
#include "harness/grading/probe.h"
#include "oracle.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// How a call is put to the solution, apart from what it asks.
struct Manner {
  int threads = 2;
  std::int64_t spare_words = 0;   // mask words beyond what the widest tree needs
  std::int64_t stride_extra = 0;  // floats between two rows of logits; they hold NaN
  Placement placement{64, 0};
};

/// Fills in the fields that all argument structs share.
template <class Args>
void set_run(Args& args, const Manner& manner) {
  args.abi_version = DFLASH_ABI_VERSION;
  args.struct_size = static_cast<std::int32_t>(sizeof(Args));
  args.device = DFLASH_HOST;
  args.num_threads = manner.threads;
  const std::size_t skew = manner.placement.skew;  // its lowest set bit is what remains aligned
  const std::size_t real = skew == 0 ? manner.placement.alignment : skew & (~skew + 1);
  args.min_align = static_cast<std::int32_t>(real);
}

/// Trees over texts of one language, verified or built in one call.
struct Batch {
  const Language* language = nullptr;
  std::vector<Draft> drafts;
  Manner manner;
  /// Writes the logits of one row; the language's own when empty. Must agree with its choices.
  std::function<void(State text, std::span<float> row)> logits = {};
};

/// The trees of a batch, concatenated as the contract wants them.
struct Joined {
  explicit Joined(const std::vector<Draft>& drafts);
  std::vector<std::int64_t> node_start{0};
  std::vector<std::int32_t> parent;
  std::vector<std::int32_t> token;
  std::int64_t rows = 0;
  std::int64_t widest = 1;  // rows of the biggest tree

  std::int64_t first_row(std::size_t t) const {
    return node_start[t] + static_cast<std::int64_t>(t);
  }
};

/// One call of dflash_verify with everything that it reads.
class VerifyCall {
 public:
  explicit VerifyCall(const Batch& batch);

  Call<DflashVerifyArgs> call{"dflash_verify"};

  /// What was written for tree t. Counts outside 0..rows give an empty list and a complaint.
  Walk walk(std::size_t t, std::string* complaint) const;

  /// What the call will read, for checks that spoil it; sizes must stay.
  Joined& trees() { return joined_; }
  std::vector<std::int64_t>& max_emit() { return max_emit_; }

 private:
  Joined joined_;
  std::vector<std::int64_t> max_emit_;
  std::vector<std::int32_t> eos_;
  std::vector<float> logits_;
  std::vector<Output<std::int32_t>> lists_;  // emit, path
  std::vector<Output<std::int64_t>> counts_;
};

/// One call of dflash_build.
class BuildCall {
 public:
  explicit BuildCall(const Batch& batch);

  Call<DflashBuildArgs> call{"dflash_build"};

  /// The mask of tree t, as rows of bits; every word of a row, so 64 * mask_words columns.
  std::vector<std::vector<bool>> mask(std::size_t t) const;
  std::vector<std::int64_t> positions(std::size_t t) const;

  Joined& trees() { return joined_; }  // as in VerifyCall
  std::vector<std::int64_t>& context_length() { return context_length_; }

 private:
  Joined joined_;
  std::vector<std::int64_t> context_length_;
  std::vector<Output<std::uint64_t>> mask_;
  std::vector<Output<std::int64_t>> position_;
};

/// Logits of every row of a batch, rows `stride` floats apart.
std::vector<float> batch_logits(const Batch& batch, std::int64_t stride);

/// Verifies a batch and compares every tree with greedy decoding. Of several wrong trees the
/// smallest is shown. Returns how many accepted nodes longer paths would have had (duplicate
/// siblings only).
std::int64_t expect_greedy(Probe& probe, const Batch& batch);

/// Builds a batch and compares masks and positions; either can be left to another check.
struct Wanted {
  bool masks = true;
  bool positions = true;
};
void expect_built(Probe& probe, const Batch& batch, Wanted wanted);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
