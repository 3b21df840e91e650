// SPDX-License-Identifier: Apache-2.0
#include "network.h"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>

#include <Eigen/Core>

#include "fixtures/transformers_llama.h"
#include "likelihood.h"
#include "oracle.h"
#include "problem.h"

namespace {

using namespace gauntlet;
using namespace gauntlet::GAUNTLET_CHALLENGE;

constexpr TernaryModel kShapes[] = {
    {40, 32, 2, 2, 64, 20, 16}, {25, 24, 1, 1, 36, 30, 12}, {60, 64, 5, 16, 32, 12, 32}};

/// The largest share of what the oracle allows that a matrix of logits uses.
double share_used(const ExpectedLogits& want, const std::vector<float>& got) {
  double most = 0;
  for (std::size_t i = 0; i < want.logits.size(); ++i)
    most = std::max(most, std::abs(got[i] - want.logits[i]) / want.allowed[i]);
  return most;
}

}  // namespace

// transformers computes its angles in float32: 1e-6 of a logit.
TEST_CASE("oracle and network agree with Hugging Face transformers") {
  for (const LlamaFixture& fixture : kLlamaFixtures) {
    INFO(fixture.name);
    const Checkpoint checkpoint = read_checkpoint(fixture.checkpoint);
    const ExpectedLogits want = expect(checkpoint, fixture.token);
    const std::vector<float> got = Network(checkpoint).logits(fixture.token);
    REQUIRE(want.logits.size() == fixture.logits.size());
    for (std::size_t i = 0; i < fixture.logits.size(); ++i) {
      CHECK(std::abs(want.logits[i] - fixture.logits[i]) < 5e-6);
      CHECK(std::abs(got[i] - fixture.logits[i]) < 5e-5);
    }
  }
}

TEST_CASE("the network is a float32 run of the oracle") {
  Rng rng(9);
  double most = 0;
  for (const TernaryModel& model : kShapes)
    for (const double sharpness : {1.0, 2.0}) {
      const Checkpoint checkpoint = random_checkpoint(rng, model, sharpness);
      const Text text = random_text(rng, model.vocab, model.context);
      most = std::max(most, share_used(expect(checkpoint, text), Network(checkpoint).logits(text)));
    }
  MESSAGE("share of the tolerance used: " << most);
  CHECK(most < 0.5);
}

TEST_CASE("the tolerance does not let 16 bits through") {
  Rng rng(10);
  const TernaryModel& model = kShapes[0];
  Checkpoint checkpoint = random_checkpoint(rng, model);
  const Text text = random_text(rng, model.vocab, model.context);
  const ExpectedLogits want = expect(checkpoint, text);
  for (float& gain : checkpoint.gains) {  // one factor of one rounding to 8 bits, once a layer
    const float cut = gain * 256;
    gain = std::ldexp(std::round(std::ldexp(cut, -std::ilogb(cut) + 7)), std::ilogb(cut) - 7 - 8);
  }
  CHECK(share_used(want, Network(checkpoint).logits(text)) > 5);
}

TEST_CASE("the tolerance widens where sums cancel, and hardly elsewhere") {
  Rng rng(13);
  const auto widened = [](const Checkpoint& checkpoint, const Text& text) {
    const ExpectedLogits want = expect(checkpoint, text);
    const std::vector<double> allowed = allowed_where_cancelled(checkpoint, text, want);
    double most = 0;
    for (std::size_t i = 0; i < allowed.size(); ++i)
      most = std::max(most, allowed[i] / want.allowed[i]);
    return most;
  };
  const TernaryModel& model = kShapes[0];
  const Text text = random_text(rng, model.vocab, model.context);
  CHECK(widened(random_checkpoint(rng, model), text) < 2);
  // Attention takes away what the embedding gave, but for the epsilon of a norm.
  constexpr std::uint16_t kOne = 0x3c00, kQuarter = 0x3400;
  Checkpoint cancelling = random_checkpoint(rng, {40, 4, 1, 1, 4, 15, 4});
  const auto put_all = [&](std::size_t tensor, std::int8_t code, std::uint16_t scale) {
    std::ranges::fill(cancelling.matrices[tensor].codes, code);
    std::ranges::fill(cancelling.matrices[tensor].scales, scale);
  };
  put_all(0, 1, kOne);
  put_all(first_of(0) + kValue, 1, kQuarter);
  put_all(first_of(0) + kOut, -1, kQuarter);
  put_all(first_of(0) + kDown, 0, 0);
  std::ranges::fill(cancelling.gains, 1.0F);
  put_all(cancelling.matrices.size() - 1, 1, kOne);
  CHECK(widened(cancelling, random_text(rng, 40, 15)) > 10);
}

TEST_CASE("long windows whose attention leaves little of the stream are within the tolerance") {
  struct Window {
    std::uint64_t seed;
    TernaryModel model;
    double sharpness;
    std::int64_t vocab, length;
    bool refused_uncut;
  };
  const TernaryModel long_one{20, 8, 1, 2, 8, 1'040, 4};
  const TernaryModel longer{20, 8, 1, 2, 8, 4'096, 4};
  // Of 300 windows each, those that a tolerance without the sums over positions refuses by most
  // where Eigen adds in one go. It cuts sums into blocks, by which they err less, of a size that
  // follows from the processor's first cache: the other two were refused on another machine.
  const std::ptrdiff_t caches[] = {Eigen::l1CacheSize(), Eigen::l2CacheSize(),
                                   Eigen::l3CacheSize()};
  const auto limit_blocks = [](std::ptrdiff_t first_cache) {
    Eigen::setCpuCacheSizes(first_cache, 16 << 20, 256 << 20);
  };
  for (const auto& [seed, model, sharpness, vocab, length, refused_uncut] :
       {Window{64, long_one, 1, 20, 1'040, true}, Window{153, long_one, 1, 20, 1'040, true},
        Window{286, long_one, 1, 20, 1'040, false}, Window{165, longer, 2, 5, 2'060, false},
        Window{200, longer, 2, 5, 2'060, true}, Window{298, longer, 2, 5, 2'060, true}}) {
    CAPTURE(seed);
    Rng rng(seed);
    const Checkpoint checkpoint = random_checkpoint(rng, model, sharpness);
    const Text text = random_text(rng, vocab, length);
    ExpectedLogits want = expect(checkpoint, text);
    limit_blocks(1 << 20);
    if (refused_uncut) CHECK(share_used(want, Network(checkpoint).logits(text)) > 1);
    want.allowed = allowed_where_cancelled(checkpoint, text, want);
    for (const std::ptrdiff_t first_cache : {8 << 10, 32 << 10, 48 << 10, 1 << 20}) {
      limit_blocks(first_cache);
      CHECK(share_used(want, Network(checkpoint).logits(text)) < 0.5);
    }
  }
  Eigen::setCpuCacheSizes(caches[0], caches[1], caches[2]);
}

TEST_CASE("logits may be asked for the end of a window only") {
  Rng rng(11);
  const Checkpoint checkpoint = random_checkpoint(rng, kShapes[0]);
  const Text text = random_text(rng, 40, 15);
  const Network network(checkpoint);
  const std::vector<float> all = network.logits(text);
  const std::vector<float> last = network.logits(text, 14);
  REQUIRE(last.size() == 40);
  for (std::size_t id = 0; id < 40; ++id) CHECK(std::abs(last[id] - all[560 + id]) < 1e-5);
}

TEST_CASE("likelihood cuts a text into windows") {
  Rng rng(12);
  const Checkpoint checkpoint = random_checkpoint(rng, kShapes[0]);
  const Network network(checkpoint);
  const Text text = random_text(rng, 40, 45);  // windows of 20, 20 and 4; 44 predictions
  double total = 0;
  for (std::size_t begin = 0; begin < 44; begin += 20) {
    const std::size_t count = std::min<std::size_t>(20, 44 - begin);
    const ExpectedLogits want = expect(checkpoint, std::span(text).subspan(begin, count));
    for (std::size_t p = 0; p < count; ++p) {
      double sum = 0;
      for (std::size_t id = 0; id < 40; ++id) sum += std::exp(want.logits[p * 40 + id]);
      total += std::log(sum) - want.logits[p * 40 + text[begin + p + 1]];
    }
  }
  const Likelihood got = likelihood_of(network, text);
  CHECK(got.predictions == 44);
  CHECK(got.total == doctest::Approx(total).epsilon(1e-5));
  const std::vector<Text> texts{text, {}, {3}, text};
  CHECK(likelihood_of(network, texts, 3).total == doctest::Approx(2 * total).epsilon(1e-5));
}
