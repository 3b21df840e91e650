// Unit tests: small trees whose answers were worked out by hand, and one request against a toy
// model that can be decoded greedily without any tree.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "contract.h"
#include "toy_model.h"

namespace {

int failures = 0;
void expect(bool holds) {
  failures += holds ? 0 : 1;
}

// ---- dflash_verify ----

struct Verified {
  std::int64_t code;
  I32 emit;
  I32 path;
};

/// Verifies one tree; `says[row]` is the target's choice after that row. Larger ids tie with it,
/// and what lies between rows of logits is larger still.
Verified verify(const I32& parent, const I32& token, const I32& says, std::int64_t max_emit,
                const I32& eos) {
  constexpr std::int64_t kStride = kVocab + 3;
  std::vector<float> logits(says.size() * kStride, std::numeric_limits<float>::infinity());
  for (std::size_t row = 0; row < says.size(); ++row)
    for (std::int64_t j = 0; j < kVocab; ++j)
      logits[row * kStride + j] = j == says[row]                ? -2.0f
                                  : j > says[row] && j % 3 == 0 ? -2.0f
                                                                : -2.5f - static_cast<float>(j);
  const I64 node_start{0, static_cast<std::int64_t>(parent.size())};
  Verified result{0, I32(says.size(), -9), I32(says.size(), -9)};
  std::int64_t num_emit = -1;
  std::int64_t num_path = -1;
  DflashVerifyArgs args{};
  args.abi_version = DFLASH_ABI_VERSION;
  args.struct_size = sizeof args;
  args.num_threads = 1;
  args.min_align = 8;
  args.num_trees = 1;
  args.vocab = kVocab;
  args.num_eos = static_cast<std::int64_t>(eos.size());
  args.logits_stride = kStride;
  args.node_start = node_start.data();
  args.parent = parent.data();
  args.token = token.data();
  args.eos = eos.data();
  args.max_emit = &max_emit;
  args.logits = logits.data();
  args.emit = result.emit.data();
  args.path = result.path.data();
  args.num_emit = &num_emit;
  args.num_path = &num_path;
  result.code = dflash_verify(&args);
  if (result.code != 0 || num_emit < 0 || num_path < 0) num_emit = num_path = 0;
  result.emit.resize(std::min<std::size_t>(num_emit, says.size()));
  result.path.resize(std::min<std::size_t>(num_path, says.size()));
  return result;
}

void expect_walk(const I32& parent, const I32& token, const I32& says, const I32& emit,
                 const I32& path, std::int64_t max_emit = 99, const I32& eos = {}) {
  const Verified got = verify(parent, token, says, max_emit, eos);
  expect(got.code == 0);
  expect(got.emit == emit);
  expect(got.path == path);
}

void test_walks() {
  expect_walk({}, {}, {4}, {4}, {});
  expect_walk({-1, 0, 1}, {2, 3, 4}, {2, 3, 4, 5}, {2, 3, 4, 5}, {0, 1, 2});
  expect_walk({-1, 0, 1}, {2, 3, 4}, {2, 3, 7, 5}, {2, 3, 7}, {0, 1});
  expect_walk({-1, 0}, {2, 3}, {4, 3, 4}, {4}, {});
  expect_walk({-1, -1, 1}, {2, 3, 9}, {2, 3, 9, 7}, {2, 3}, {0});  // rows are not list indices
  expect_walk({-1, -1}, {3, 8}, {6, 8, 4}, {6}, {});
  expect_walk({-1, -1, 1}, {2, 3, 8}, {3, 8, 6, 7}, {3, 6}, {1});           // nor depths
  expect_walk({-1, 0, 1, -1}, {7, 3, 4, 2}, {2, 3, 4, 6, 8}, {2, 8}, {3});  // below a rejected node
  expect_walk({-1, -1, -1, 2}, {9, 8, 2, 3}, {2, 9, 8, 3, 4}, {2, 3, 4}, {2, 3});
  expect_walk({-1, -1, 0, 1, 3}, {8, 2, 6, 3, 4}, {2, 6, 3, 6, 4, 7}, {2, 3, 4, 7}, {1, 3, 4});
  expect_walk({-1, -1, 1, 2}, {2, 3, 4, 5}, {2, 0, 4, 5, 3}, {2, 0}, {0});
  expect_walk({-1, -1}, {-1, 2 + kVocab}, {2, 3, 4}, {2}, {});
  expect_walk({-1}, {2 + (1 << 16)}, {2, 3}, {2}, {});
}

/// Right nodes all the way, more than a byte counts.
void test_long_chain() {
  I32 parent, token, path, emit;
  for (int i = 0; i < 300; ++i) {
    parent.push_back(i - 1);
    token.push_back(i % 7 + 2);
    path.push_back(i);
  }
  emit = token;
  emit.push_back(5);
  expect_walk(parent, token, emit, emit, path, std::int64_t{5} << 32);
}

/// A hundred roots and no node, after long rows with several peaks. The first one counts.
void test_long_rows() {
  constexpr std::int64_t kTrees = 100;
  constexpr std::int64_t kLong = 12000;
  std::vector<float> logits(kTrees * kLong, -1.0f);
  for (std::int64_t t = 0; t < kTrees; ++t)
    for (const std::int64_t peak : {kLong - 1, kLong / 2 + t, 97 * t + 3})
      logits[t * kLong + peak] = 2.0f;
  const I64 node_start(kTrees + 1, 0);
  const I64 max_emit(kTrees, 9);
  I32 emit(kTrees, -9), path(kTrees, -9);
  I64 num_emit(kTrees, -9), num_path(kTrees, -9);
  DflashVerifyArgs args{};
  args.abi_version = DFLASH_ABI_VERSION;
  args.num_threads = 3;
  args.min_align = 8;
  args.num_trees = kTrees;
  args.vocab = args.logits_stride = kLong;
  args.node_start = node_start.data();
  args.max_emit = max_emit.data();
  args.logits = logits.data();
  args.emit = emit.data();
  args.path = path.data();
  args.num_emit = num_emit.data();
  args.num_path = num_path.data();
  expect(dflash_verify(&args) == 0);
  for (std::int64_t t = 0; t < kTrees; ++t) {
    expect(num_emit[t] == 1 && num_path[t] == 0);
    expect(emit[t] == std::min(kLong / 2 + t, 97 * t + 3));
  }
}

void test_ends_and_limits() {
  expect_walk({-1, 0, 1}, {2, 1, 5}, {2, 1, 5, 6}, {2, 1}, {0, 1}, 99, {11, 1});
  expect_walk({-1}, {1}, {2, 3}, {2}, {}, 99, {1});
  expect_walk({-1, -1}, {1, 2}, {2, 3, 4}, {2, 4}, {1}, 99, {1});
  expect_walk({-1}, {2}, {2, 1}, {2, 1}, {0}, 99, {1});
  expect_walk({-1, 0}, {2, 1}, {2, 1, 5}, {2, 1}, {0, 1}, 99, {11, 10, 9, 8, 7, 6, 5, 4, 3, 1});
  for (std::int64_t limit = 0; limit <= 3; ++limit) {
    I32 emit{2, 3, 4};
    I32 path{0, 1};
    emit.resize(std::min<std::int64_t>(limit, 3));
    path.resize(std::min<std::int64_t>(limit, 2));
    expect_walk({-1, 0}, {2, 3}, {2, 3, 4}, emit, path, limit);
  }
}

void test_refusals() {
  expect(verify({0}, {2}, {2, 3}, 9, {}).code == DFLASH_BAD_ARGUMENT);
  expect(verify({-2}, {2}, {2, 3}, 9, {}).code == DFLASH_BAD_ARGUMENT);
  expect(verify({-1}, {2}, {2, 3}, -1, {}).code == DFLASH_BAD_ARGUMENT);
}

void test_forbidden_tokens() {
  const float low = -std::numeric_limits<float>::infinity();
  for (const float top : {low, -3e38f}) {
    std::vector<float> logits(kVocab, low);
    logits[7] = top;
    const I64 node_start{0, 0};
    const std::int64_t max_emit = 5;
    std::int32_t emit = -9;
    std::int32_t path = -9;
    std::int64_t num_emit = -1;
    std::int64_t num_path = -1;
    DflashVerifyArgs args{};
    args.abi_version = DFLASH_ABI_VERSION;
    args.num_threads = 2;
    args.min_align = 8;
    args.num_trees = 1;
    args.vocab = args.logits_stride = kVocab;
    args.node_start = node_start.data();
    args.max_emit = &max_emit;
    args.logits = logits.data();
    args.emit = &emit;
    args.path = &path;
    args.num_emit = &num_emit;
    args.num_path = &num_path;
    expect(dflash_verify(&args) == 0);
    expect(num_emit == 1 && num_path == 0 && emit == (top == low ? 0 : 7));
  }
}

// ---- dflash_build ----

void expect_built(const I32& parent, std::int64_t context_length, std::int64_t spare) {
  const std::int64_t rows = static_cast<std::int64_t>(parent.size()) + 1;
  const std::int64_t words = (rows + 63) / 64 + spare;
  const I64 node_start{0, rows - 1};
  std::vector<std::uint64_t> mask(rows * words, ~std::uint64_t{0});
  I64 position(rows, -9);
  DflashBuildArgs args{};
  args.abi_version = DFLASH_ABI_VERSION;
  args.num_threads = 1;
  args.min_align = 8;
  args.num_trees = 1;
  args.mask_words = words;
  args.node_start = node_start.data();
  args.parent = parent.data();
  args.context_length = &context_length;
  args.mask = mask.data();
  args.position = position.data();
  expect(dflash_build(&args) == 0);
  for (std::int64_t row = 0; row < rows; ++row) {
    std::vector<bool> sees(64 * words, false);
    std::int64_t depth = 0;
    for (std::int64_t at = row; at > 0; at = parent[at - 1] + 1, ++depth) sees[at] = true;
    sees[0] = true;
    for (std::int64_t j = 0; j < 64 * words; ++j)
      expect((mask[row * words + j / 64] >> (j % 64) & 1) == sees[j]);
    expect(position[row] == context_length + depth);
  }
}

void test_masks() {
  expect_built({}, 0, 0);
  expect_built({-1, -1, 0, 1, 3, -1, 0}, 17, 1);
  for (const int nodes : {31, 32, 63, 64, 130, 320}) {
    I32 parent;
    for (int i = 0; i < nodes; ++i) parent.push_back(i % 3 == 2 ? i / 2 - 1 : i - 1);
    expect_built(parent, 64, 0);
  }
}

// ---- dflash_generate ----

void test_generate(const I32& eos) {
  const I64 prompt_start{0, 3, 4};
  const I32 prompt{4, 2, 9, 6};
  const I64 max_new{17, 5};
  constexpr std::int64_t kStride = 18;
  I32 emit(2 * kStride, -9);
  I64 num_emit(2, -9), rounds(2, -9), accepted(2, -9);
  Toy toy{{{4, 2}, {}}, std::vector<std::vector<I32>>(2)};
  DflashGenerateArgs args{};
  args.abi_version = DFLASH_ABI_VERSION;
  args.num_threads = 1;
  args.min_align = 8;
  args.num_requests = 2;
  args.vocab = kVocab;
  args.num_eos = static_cast<std::int64_t>(eos.size());
  args.draft_budget = 5;
  args.emit_stride = kStride;
  args.prompt_start = prompt_start.data();
  args.prompt = prompt.data();
  args.max_new = max_new.data();
  args.eos = eos.data();
  args.model = &toy;
  args.draft = draft;
  args.forward = forward;
  args.keep = keep;
  args.emit = emit.data();
  args.num_emit = num_emit.data();
  args.rounds = rounds.data();
  args.accepted = accepted.data();
  expect(dflash_generate(&args) == 0);
  expect(!toy.fault);
  // Nobody has to ask for all that the budget allows, as when a single token is left.
  const bool whole = toy.whole_drafts == toy.passes;
  int most_rounds = 0;
  for (std::int64_t r = 0; r < 2; ++r) {
    I32 text(prompt.begin() + prompt_start[r], prompt.begin() + prompt_start[r + 1]);
    I32 want;
    bool ended = false;
    while (!ended && static_cast<std::int64_t>(want.size()) < max_new[r]) {
      want.push_back(next_token(text));
      text.push_back(want.back());
      ended = std::find(eos.begin(), eos.end(), want.back()) != eos.end();
    }
    expect(num_emit[r] == static_cast<std::int64_t>(want.size()));
    expect(std::equal(want.begin(), want.end(), emit.begin() + r * kStride));
    expect(emit[r * kStride + max_new[r]] == -9);
    const std::int64_t passes = (static_cast<std::int64_t>(want.size()) + 2) / 3;
    const std::int64_t emitted = static_cast<std::int64_t>(want.size());
    expect(rounds[r] >= passes && rounds[r] <= emitted);
    expect(accepted[r] <= emitted && accepted[r] + rounds[r] >= emitted);
    if (whole) expect(rounds[r] == passes && accepted[r] == emitted - emitted / 3);
    most_rounds = std::max(most_rounds, static_cast<int>(passes));
  }
  if (whole) expect(toy.passes == most_rounds);
}

void test_failing_target() {
  const I64 prompt_start{0, 1};
  const I32 prompt{3};
  const std::int64_t max_new = 4;
  I32 emit(4);
  std::int64_t counts[3]{};
  Toy toy{{{}}, std::vector<std::vector<I32>>(1), 100};  // its next pass fails
  DflashGenerateArgs args{};
  args.abi_version = DFLASH_ABI_VERSION;
  args.num_threads = 1;
  args.min_align = 8;
  args.num_requests = 1;
  args.vocab = kVocab;
  args.draft_budget = 5;
  args.emit_stride = 4;
  args.prompt_start = prompt_start.data();
  args.prompt = prompt.data();
  args.max_new = &max_new;
  args.model = &toy;
  args.draft = draft;
  args.forward = forward;
  args.keep = keep;
  args.emit = emit.data();
  args.num_emit = &counts[0];
  args.rounds = &counts[1];
  args.accepted = &counts[2];
  expect(dflash_generate(&args) == -77);
  expect(toy.passes == 101);
}

}  // namespace

extern "C" int self_test(void);

extern "C" int self_test(void) {
  failures = 0;
  test_walks();
  test_long_chain();
  test_long_rows();
  test_ends_and_limits();
  test_refusals();
  test_forbidden_tokens();
  test_masks();
  test_generate({});
  for (std::int32_t end = 1; end < kVocab; ++end) test_generate({0, end});
  test_failing_target();
  return failures == 0 ? 0 : 1;
}
