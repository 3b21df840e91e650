// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <chrono>
#include <fmt/format.h>
#include <thread>
#include <utility>

#include "freed.h"
#include "graders/kit/threads.h"
#include "harness/grading/grader.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using namespace std::chrono_literals;

constexpr TernaryModel kModel{50, 48, 2, 2, 96, 24, 24};

/// Every function but training, with results that have to be right.
void require_operators_right(Probe& probe, Rng& rng, const CallOptions& options) {
  require_quantized(probe, coarse_matrix(rng, rng.integer(1, 40), rng.integer(1, 4), 32), options);
  const LinearProblem layer =
      linear_problem(rng, rng.integer(1, 30), rng.integer(1, 3), 20, rng.integer(1, 20));
  for (const Part part : kParts) require_gradient(probe, layer, part, options);
  require_logits(probe, random_checkpoint(rng, kModel),
                 random_text(rng, kModel.vocab, rng.integer(1, kModel.context)), options);
}

void require_same_bytes(Probe& probe, const TrainingResult& one, const TrainingResult& other,
                        const char* what) {
  if (one.bytes != other.bytes) {
    const auto [a, b] =
        std::mismatch(one.bytes.begin(), one.bytes.end(), other.bytes.begin(), other.bytes.end());
    probe.fail(
        fmt::format("{}: byte {} of {} differs", what, a - one.bytes.begin(), one.bytes.size()));
  }
}

/// Before any training, another seed gives another model, in whichever bits it differs: one alone;
/// or such that both come to the same where their halves are added or folded, where a sign is lost,
/// and in what is left by a division by a prime near 2^31 or 2^61.
void require_seeds_heard(Probe& probe, TrainingRequest request) {
  request.max_tokens = 0;
  const TrainingResult first = train(probe, request);
  for (const int bit : {0, 16, 31, 32, 48, 53, 62, 63}) {
    TrainingRequest other = request;
    other.seed ^= std::uint64_t{1} << bit;
    if (train(probe, other).bytes == first.bytes)
      probe.fail(fmt::format(
          "seeds that differ in bit {} give the same untrained checkpoint, byte for byte", bit));
  }
  const std::uint64_t seed = request.seed;
  for (const std::uint64_t another :
       {seed ^ 0x1'0000'0001, std::rotl(seed, 32), ~seed, 0 - seed, seed + 0x7fff'ffff,
        seed + 0xffff'ffff, seed - 0x1'0000'0001, seed + ((std::uint64_t{1} << 61) - 1)}) {
    TrainingRequest other = request;
    other.seed = another;
    if (another != seed && train(probe, other).bytes == first.bytes)
      probe.fail(
          fmt::format("the seeds {:#x} and {:#x} give the same untrained checkpoint, byte for byte",
                      seed, another));
  }
}

/// The same request, where the listener takes its time for the first report. Nobody computes
/// meanwhile; and whoever does something every so many seconds has to do it now.
TrainingRequest slowly_heard(TrainingRequest request, std::chrono::milliseconds time) {
  request.enough = [time, heard = false](const TernaryProgress&, double) mutable {
    if (!std::exchange(heard, true)) std::this_thread::sleep_for(time);
    return false;
  };
  return request;
}

// One thread and a limit of tokens leave nothing to chance but the seed, nor to the clock.
void deterministic_bits(Probe& probe) {
  Rng rng = probe.begin_case("same_arguments");
  const TrainingRequest request = small_request(rng, 6'000);
  const TrainingResult first = require_trained(probe, request).result;
  require_same_bytes(probe, first, train(probe, request), "the same call again");
  probe.restart();
  require_same_bytes(probe, first, train(probe, request), "the same call in another process");
  rng = probe.begin_case("a_listener_that_takes_its_time");
  require_same_bytes(probe, first, train(probe, slowly_heard(request, 2'100ms)),
                     "the same call, of which the first report takes 2.1 s");
  rng = probe.begin_case("another_seed");
  TrainingRequest other = request;
  other.seed = request.seed + 1;
  if (train(probe, other).bytes == first.bytes)
    probe.fail("another seed gives the same checkpoint, byte for byte");
  require_seeds_heard(probe, request);
}

/// A few steps of a token each: what they take is the update and the quantiser of all weights,
/// which are so many that threads that share them are seen to.
TrainingRequest request_of_updates(Rng& rng) {
  TrainingRequest request;
  request.model = {64, 512, 1, 4, 512, 1, 64};
  request.documents = {random_text(rng, request.model.vocab, 40)};
  request.max_tokens = 3;
  request.seed = rng();
  return request;
}

/// A window and a matrix that are work enough for a second thread to be seen. Of so long a window
/// the products take longer than to read the file, which one thread may do, and the heads as long.
void require_one_thread(Probe& probe) {
  Rng rng = probe.begin_case("one_thread_of_a_window_and_of_a_matrix");
  CallOptions options;
  const TernaryModel wide{20, 192, 1, 4, 192, 1'040, 64};
  const std::vector<std::uint8_t> model = bytes_of(random_checkpoint(rng, wide));
  const Text window = random_text(rng, wide.vocab, wide.context);
  kit::require_thread_limit(probe, 1, [&](int count) {
    options.threads = count;
    ForwardCall call(model, window, wide.vocab, options);
    probe.run_ok(call);
  });
  const QuantizeProblem matrix = fine_matrix(rng, 3'072, 16, 64);
  kit::require_thread_limit(probe, 1, [&](int count) {
    options.threads = count;
    QuantizeCall call(matrix, options);
    probe.run_ok(call);
  });
}

/// A layer that is work enough for threads to be counted; and training, mostly of gradients and
/// mostly of updates, with a layer right behind it, which has company where training left a thread
/// at work.
void limit_threads(Probe& probe, int threads) {
  Rng rng = probe.begin_case(fmt::format("{}_threads_at_most", threads));
  CallOptions options;
  const LinearProblem layer = linear_problem(rng, 384, 1, 128, 3000);
  const auto ask_layer = [&](int count) {
    options.threads = count;
    GradientCall call(layer, options);
    probe.run_ok(call);
  };
  kit::require_thread_limit(probe, threads, ask_layer);
  TrainingRequest gradients = small_request(rng, 6'000);
  TrainingRequest updates = request_of_updates(rng);
  kit::require_thread_limit(probe, threads, [&](int count) {
    gradients.options.threads = updates.options.threads = count;
    require_checkpoint(probe, gradients, train(probe, gradients));
    if (threads == 1) require_checkpoint(probe, updates, train(probe, updates));
    ask_layer(count);
  });
}

void thread_limit(Probe& probe) {
  for (const int threads : {1, 3}) limit_threads(probe, threads);
  require_one_thread(probe);
}

/// As many threads as anybody has, and more: with rows and vectors for each.
void require_right_of_many_threads(Probe& probe) {
  for (const int threads : {200, kit::kManyThreads}) {
    Rng rng = probe.begin_case(fmt::format("{}_threads", threads));
    CallOptions options;
    options.threads = threads;
    require_quantized(probe, coarse_matrix(rng, 1'100, 1, 4), options);
    require_layer(probe, linear_problem(rng, 5, 1, 8, 1'100), options);
    require_logits(probe, random_checkpoint(rng, kModel), random_text(rng, kModel.vocab, 24),
                   options);
  }
  // Threads that idle cost later calls time.
  probe.restart();
}

// More threads than rows, windows or cores.
void thread_counts(Probe& probe) {
  for (const int threads : {1, 2, 3, 5, 16}) {
    Rng rng = probe.begin_case(fmt::format("{}_threads", threads));
    CallOptions options;
    options.threads = threads;
    for (int n = 0; n < 3; ++n) require_operators_right(probe, rng, options);
    require_quantized(probe, fine_matrix(rng, 500 + threads, 36, 128), options);
    TrainingRequest request = small_request(rng, 3'000);
    request.options.threads = threads;
    require_trained(probe, request);
  }
  require_right_of_many_threads(probe);
  Rng rng = probe.begin_case("a_window_worth_sharing");
  CallOptions options;
  options.threads = 3;
  require_logits(probe, random_checkpoint(rng, kWideModel),
                 random_text(rng, kWideModel.vocab, kWideModel.context), options);
  // Heads that each take so long that threads which share anything are in each other's way.
  rng = probe.begin_case("long_windows_worth_sharing");
  const TernaryModel heads{20, 16, 1, 4, 4, 1'100, 4};
  options.threads = 4;
  require_logits(probe, steady_checkpoint(rng, heads, 1),
                 random_text(rng, heads.vocab, rng.integer(1'030, heads.context)), options);
  limit_threads(probe, 1);
  require_one_thread(probe);
}

// Arrays as little aligned as their elements let them, each ending right before a page that faults.
void unaligned_training(Probe& probe) {
  for (const Placement placement : {Placement{8, 0}, Placement{32, 8}}) {
    Rng rng = probe.begin_case(fmt::format("{}_after_{}", placement.skew, placement.alignment));
    TrainingRequest request = small_request(rng);
    request.options.placement = placement;
    require_trained(probe, request);
  }
}

/// Results of 2^18 numbers and of 2^20: so many may be written in another way than fewer.
void require_large_results_right(Probe& probe, Rng& rng, const CallOptions& options) {
  require_quantized(probe, coarse_matrix(rng, 1, 1 << 18, 4), options);
  require_layer(probe, linear_problem(rng, 1'025, 1, 4, 1'029), options);
  require_layer(probe, linear_problem(rng, 1, 8'200, 32, 1), options);
  const TernaryModel model{65'536, 4, 1, 1, 4, 17, 4};
  require_logits(probe, random_checkpoint(rng, model), random_text(rng, model.vocab, model.context),
                 options);
}

void unaligned_pointers(Probe& probe) {
  for (const Placement placement : {Placement{4, 0}, Placement{16, 4}, Placement{16, 12}}) {
    Rng rng = probe.begin_case(fmt::format("{}_after_{}", placement.skew, placement.alignment));
    CallOptions options;
    options.placement = placement;
    for (int n = 0; n < 3; ++n) require_operators_right(probe, rng, options);
  }
  Rng rng = probe.begin_case("large_results");
  CallOptions options;
  options.placement = {16, 4};
  require_large_results_right(probe, rng, options);
}

/// Files that differ from each other in one number, at an end of what somebody may know one by, or
/// in nothing that a sum over them has.
void require_read_anew(Probe& probe, Rng& rng) {
  Checkpoint checkpoint = random_checkpoint(rng, kModel);
  const Text text = random_text(rng, kModel.vocab, 24);
  const auto ask = [&] { require_logits(probe, checkpoint, text); };
  ask();
  checkpoint.gains.back() = 3;
  ask();
  checkpoint.gains.front() = -3;
  ask();
  checkpoint.matrices.back().scales.back() = 0x4000;
  ask();
  exchange_keys_and_values(checkpoint);
  ask();
}

/// Models that have all but one size in common, by turns: what was made for one is not the other's.
void require_sizes_read_anew(Probe& probe, Rng& rng) {
  std::vector<TernaryModel> models(6, TernaryModel{50, 48, 1, 2, 96, 24, 24});
  models[1].width = 96;
  models[2].heads = 4;
  models[3].hidden = 48;
  models[4].group = 12;
  models[5].context = 8;
  for (const TernaryModel& model : models)
    for (const TernaryModel& asked : {models[0], model})
      require_logits(probe, random_checkpoint(rng, asked, 2), random_text(rng, asked.vocab, 8));
}

// Questions of the same shapes, one after the other: each other's content in the same places, all
// of it or one number; and models that were made are not those of another seed.
void repeated_calls(Probe& probe) {
  Rng rng = probe.begin_case("same_shapes");
  const TrainingRequest request = small_request(rng, 6'000);
  const TrainingResult first = require_trained(probe, request).result;
  for (int n = 0; n < 12; ++n) {
    require_quantized(probe, coarse_matrix(rng, 10, 2, 32));
    const LinearProblem layer = linear_problem(rng, 12, 2, 20, 7);
    for (const Part part : kParts) require_gradient(probe, layer, part);
    require_logits(probe, random_checkpoint(rng, kModel), random_text(rng, kModel.vocab, 24));
  }
  require_read_anew(probe, rng);
  require_sizes_read_anew(probe, rng);
  // A text of the same length as the one before, whose likelihood is not this one's.
  const TrainedModel other = require_trained(probe, small_request(rng));
  require_train_nll(probe, other.result.train_nll, other.train_nll);
  require_same_bytes(probe, first, train(probe, slowly_heard(request, 600ms)),
                     "the first call again, after others, and heard slowly");
  require_seeds_heard(probe, request);
  require_calls_freed(probe);
}

}  // namespace

std::vector<Check> execution_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"deterministic_bits", "races, uninitialised memory, seeds that are ignored", robustness, 2,
        major},
       deterministic_bits},
      {{"thread_counts", "rows lost or doubled between threads", robustness, 1, major},
       thread_counts},
      {{"thread_limit", "more threads at work than num_threads", robustness, 1, major},
       thread_limit},
      {{"unaligned_pointers", "wider alignment than promised, reads behind the end", robustness, 1,
        major},
       unaligned_pointers},
      {{"unaligned_training", "wider alignment of the text or the checkpoint than promised",
        robustness, 1, major},
       unaligned_training},
      {{"repeated_calls", "answers and state kept from an earlier call", robustness, 2, critical},
       repeated_calls},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
