#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <functional>
#include <limits>

#include "drawing.h"
#include "half.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "latent.h"
#include "small_lessons.h"
#include "unit.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// One thing wrong with an otherwise good call.
template <class Args>
struct Flaw {
  const char* name;
  std::function<void(Args&)> spoil;
};

template <class Args>
std::vector<Flaw<Args>> flaws_of_version() {
  return {{"later_abi", [](Args& a) { a.abi_version = TERNARY_ABI_VERSION + 1; }},
          {"unknown_device", [](Args& a) { a.device = 77; }}};
}

template <class T>
bool untouched(const Output<T>& output) {
  const auto bytes = std::as_bytes(output.view());
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0xff}; });
}

bool untouched(const QuantizeCall& call) {
  return untouched(*call.codes) && untouched(*call.scales);
}
bool untouched(const GradientCall& call) {
  return untouched(*call.y) && untouched(*call.input_gradient) && untouched(*call.weight_gradient);
}
bool untouched(const ForwardCall& call) {
  return untouched(*call.logits);
}
bool untouched(const TrainCall& call) {
  return call.untouched();
}

template <class Asked>
void require_refused(Probe& probe, Asked& asked, std::int64_t want) {
  probe.run(asked.call);
  if (asked.call.returned != want)
    probe.fail(
        fmt::format("{} returned {}, want {}", asked.call.symbol, asked.call.returned, want));
  if (!untouched(asked))
    probe.fail(
        fmt::format("{} wrote something in a call that it has to refuse", asked.call.symbol));
}

/// Every flaw in a call of its own; `make` builds a good one.
template <class Args, class Make>
void require_all_refused(Probe& probe, const std::vector<Flaw<Args>>& flaws, std::int64_t want,
                         const Make& make) {
  for (const Flaw<Args>& flaw : flaws) {
    Rng rng = probe.begin_case(flaw.name);
    auto asked = make(rng);
    flaw.spoil(asked->call.args);
    require_refused(probe, *asked, want);
  }
}

/// Problems that outlive the calls made of them.
struct Materials {
  explicit Materials(Rng& rng)
      : matrix(coarse_matrix(rng, 6, 4, 12)),
        layer(linear_problem(rng, 6, 4, 12, 3)),
        checkpoint(random_checkpoint(rng, {40, 24, 1, 2, 36, 10, 12})),
        bytes(bytes_of(checkpoint)),
        token(random_text(rng, 40, 10)) {}

  std::unique_ptr<QuantizeCall> quantize() const {
    return std::make_unique<QuantizeCall>(matrix, Manner{});
  }
  std::unique_ptr<GradientCall> gradient() const {
    return std::make_unique<GradientCall>(layer, Manner{});
  }
  std::unique_ptr<ForwardCall> forward() const {
    return std::make_unique<ForwardCall>(bytes, token, 40, Manner{});
  }

  QuantizeProblem matrix;
  LinearProblem layer;
  Checkpoint checkpoint;
  std::vector<std::uint8_t> bytes;
  Text token;
};

std::unique_ptr<TrainCall> good_lesson(Rng& rng) {
  return std::make_unique<TrainCall>(small_lesson(rng));
}

void put(std::vector<std::uint8_t>& bytes, std::size_t at, auto value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

// Every fault that the contract names, at the beginning, the end and in the middle.
void refused_checkpoints(Probe& probe) {
  using Bytes = std::vector<std::uint8_t>;
  Rng drawn = probe.begin_case("drawn");
  const Materials good(drawn);
  const TernaryModel& model = good.checkpoint.model;
  const std::size_t last = tensors_of(model).size() - 1;
  const Place head = place_of(model, last);
  const Place gate = place_of(model, first_of(0) + kGate);
  const std::size_t gains = place_of_gains(model);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  struct Damage {
    const char* name;
    std::function<void(Bytes&)> spoil;
  };
  const std::vector<Damage> damages{
      {"empty", [](Bytes& b) { b.clear(); }},
      {"half_a_header", [](Bytes& b) { b.resize(20); }},
      {"one_byte_short", [](Bytes& b) { b.pop_back(); }},
      {"one_byte_long", [](Bytes& b) { b.push_back(0); }},
      {"a_dense_embedding_longer", [](Bytes& b) { b.resize(b.size() + 40 * 24 * 4); }},
      {"another_magic", [](Bytes& b) { b[3] = '2'; }},
      {"first_code_3", [](Bytes& b) { b[32] |= 3; }},
      {"last_code_3", [&](Bytes& b) { b[head.scales - 1] |= 0xc0; }},
      {"code_3_in_the_middle", [&](Bytes& b) { b[gate.codes + 7] |= 0x0c; }},
      {"scale_nan", [&](Bytes& b) { put(b, head.scales, std::uint16_t{0x7e01}); }},
      {"scale_infinite", [&](Bytes& b) { put(b, gate.scales + 2, kHalfInfinity); }},
      {"scale_negative", [&](Bytes& b) { put(b, gate.scales, std::uint16_t{0xbc00}); }},
      {"scale_minus_zero", [&](Bytes& b) { put(b, gains - 2, std::uint16_t{0x8000}); }},
      {"gain_nan", [&](Bytes& b) { put(b, gains, std::nanf("")); }},
      {"gain_infinite", [&](Bytes& b) { put(b, b.size() - 4, -kInfinity); }},
      {"gain_above_64", [&](Bytes& b) { put(b, gains + 4, -64.001f); }},
      {"no_layers", [](Bytes& b) { put(b, 12, std::uint32_t{0}); }},
      {"heads_do_not_divide", [](Bytes& b) { put(b, 16, std::uint32_t{5}); }},
      {"odd_heads", [](Bytes& b) { put(b, 16, std::uint32_t{24}); }},
      {"group_does_not_divide", [](Bytes& b) { put(b, 28, std::uint32_t{16}); }},
      {"group_of_6", [](Bytes& b) { put(b, 28, std::uint32_t{6}); }},
      {"sizes_that_overflow", [](Bytes& b) { put(b, 8, std::uint32_t{0xfffffff0}); }},
  };
  for (const Damage& damage : damages) {
    probe.begin_case(damage.name);
    Bytes bytes = good.bytes;
    damage.spoil(bytes);
    ForwardCall asked(bytes, good.token, model.vocab, {});
    require_refused(probe, asked, TERNARY_BAD_ARGUMENT);
  }
  // What is at the edge and no error: the largest half, gains of 64.
  probe.begin_case("largest_gain");
  Checkpoint edge = good.checkpoint;
  edge.gains[1] = -64;
  edge.gains.back() = 64;
  require_logits(probe, edge, good.token);
}

void bad_arguments(Probe& probe) {
  Rng drawn = probe.begin_case("drawn");
  const Materials good(drawn);
  const auto quantize = [&](Rng&) { return good.quantize(); };
  const auto gradient = [&](Rng&) { return good.gradient(); };
  const auto forward = [&](Rng&) { return good.forward(); };
  require_all_refused<TernaryQuantizeArgs>(
      probe,
      {{"quantize_no_rows", [](auto& a) { a.rows = 0; }},
       {"quantize_no_columns", [](auto& a) { a.columns = 0; }},
       {"quantize_group_0", [](auto& a) { a.group = 0; }},
       {"quantize_group_6", [](auto& a) { a.group = 6; }},
       {"quantize_groups_straddle", [](auto& a) { a.rows = 12, a.columns = 24, a.group = 16; }},
       {"quantize_no_threads", [](auto& a) { a.num_threads = 0; }}},
      TERNARY_BAD_ARGUMENT, quantize);
  require_all_refused<TernaryLinearGradientArgs>(
      probe,
      {{"gradient_no_rows", [](auto& a) { a.rows = 0; }},
       {"gradient_no_vectors", [](auto& a) { a.count = 0; }},
       {"gradient_negative_columns", [](auto& a) { a.columns = -48; }},
       {"gradient_group_20", [](auto& a) { a.group = 20; }},
       {"gradient_no_threads", [](auto& a) { a.num_threads = -1; }}},
      TERNARY_BAD_ARGUMENT, gradient);
  require_all_refused<TernaryForwardArgs>(
      probe,
      {{"forward_no_tokens", [](auto& a) { a.num_tokens = 0; }},
       {"forward_no_threads", [](auto& a) { a.num_threads = 0; }}},
      TERNARY_BAD_ARGUMENT, forward);

  probe.begin_case("forward_unknown_token");
  Text token = good.token;
  token.back() = 40;
  ForwardCall unknown(good.bytes, token, 40, {});
  require_refused(probe, unknown, TERNARY_BAD_ARGUMENT);
  probe.begin_case("forward_window_too_long");
  token.assign(11, 0);
  ForwardCall longer(good.bytes, token, 40, {});
  require_refused(probe, longer, TERNARY_BAD_ARGUMENT);

  for (const float weight : {65520.0f, 7e4f, 3e38f}) {
    probe.begin_case(fmt::format("mean_of_{}", weight));
    QuantizeProblem matrix = good.matrix;
    std::fill_n(matrix.weight.end() - 12, 12, weight);
    QuantizeCall too_large(matrix, {});
    require_refused(probe, too_large, TERNARY_BAD_ARGUMENT);
    LinearProblem layer = good.layer;
    std::fill_n(layer.weight.end() - 12, 12, -weight);
    GradientCall too_large_layer(layer, {});
    require_refused(probe, too_large_layer, TERNARY_BAD_ARGUMENT);
  }
}

void bad_lessons(Probe& probe) {
  const std::vector<Flaw<TernaryTrainArgs>> flaws{
      {"no_vocab", [](auto& a) { a.model.vocab = 0; }},
      {"vocab_above_65536", [](auto& a) { a.model.vocab = 65'537; }},
      {"no_layers", [](auto& a) { a.model.layers = 0; }},
      {"no_heads", [](auto& a) { a.model.heads = 0; }},
      {"heads_do_not_divide", [](auto& a) { a.model.heads = 3; }},
      {"odd_heads", [](auto& a) { a.model.heads = 32; }},
      {"no_context", [](auto& a) { a.model.context = 0; }},
      {"group_0", [](auto& a) { a.model.group = 0; }},
      {"group_2", [](auto& a) { a.model.group = 2; }},
      {"group_does_not_divide_width", [](auto& a) { a.model.group = 64; }},
      {"group_does_not_divide_hidden", [](auto& a) { a.model.hidden = 80; }},
      {"text_of_one_window", [](auto& a) { a.num_tokens = a.model.context; }},
      {"no_documents", [](auto& a) { a.num_documents = 0; }},
      {"no_limit", [](auto& a) { a.max_tokens = -1; }},
      {"no_threads", [](auto& a) { a.num_threads = 0; }},
  };
  require_all_refused<TernaryTrainArgs>(probe, flaws, TERNARY_BAD_ARGUMENT, good_lesson);

  Rng rng = probe.begin_case("unknown_token");
  auto asked = good_lesson(rng);
  asked->token()[777] = 24;
  require_refused(probe, *asked, TERNARY_BAD_ARGUMENT);
  const std::vector<std::vector<std::int64_t>> bad_starts{
      {0, 800, 700, 1'500}, {1, 600, 700, 1'500}, {0, 600, 700, 1'499}, {0, -5, 700, 1'500}};
  for (std::size_t i = 0; i < bad_starts.size(); ++i) {
    rng = probe.begin_case(fmt::format("document_starts_{}", i));
    Lesson lesson = small_lesson(rng);
    const Text text = lesson.documents[0];
    lesson.documents = {Text(text.begin(), text.begin() + 600),
                        Text(text.begin() + 600, text.begin() + 700),
                        Text(text.begin() + 700, text.end())};
    TrainCall spoilt(lesson);
    spoilt.document_start() = bad_starts[i];
    require_refused(probe, spoilt, TERNARY_BAD_ARGUMENT);
  }
}

// The size that is needed comes back, and nothing else.
void small_capacity(Probe& probe) {
  for (const std::int64_t missing : {std::int64_t{1}, std::int64_t{1'000}}) {
    Rng rng = probe.begin_case(fmt::format("{}_bytes_short", missing));
    Lesson lesson = small_lesson(rng);
    lesson.spare_bytes = -missing;
    TrainCall asked(lesson);
    probe.run(asked.call);
    if (asked.call.returned != TERNARY_NO_SPACE)
      probe.fail(fmt::format("ternary_train returned {}, want {}", asked.call.returned,
                             std::int64_t{TERNARY_NO_SPACE}));
    const Outcome outcome = asked.outcome();
    if (const auto want = checkpoint_bytes_of(lesson.model); outcome.checkpoint_bytes != want)
      probe.fail(fmt::format("checkpoint_bytes is {}, want {}", outcome.checkpoint_bytes, want));
    if (!asked.wrote_nothing_else())
      probe.fail("ternary_train wrote more than the size that it needs");
    if (!outcome.reports.empty()) probe.fail("ternary_train began to train");
  }
}

void unsupported_requests(Probe& probe) {
  Rng drawn = probe.begin_case("drawn");
  const Materials good(drawn);
  require_all_refused(probe, flaws_of_version<TernaryTrainArgs>(), TERNARY_UNSUPPORTED,
                      good_lesson);
  require_all_refused(probe, flaws_of_version<TernaryQuantizeArgs>(), TERNARY_UNSUPPORTED,
                      [&](Rng&) { return good.quantize(); });
  require_all_refused(probe, flaws_of_version<TernaryLinearGradientArgs>(), TERNARY_UNSUPPORTED,
                      [&](Rng&) { return good.gradient(); });
  require_all_refused(probe, flaws_of_version<TernaryForwardArgs>(), TERNARY_UNSUPPORTED,
                      [&](Rng&) { return good.forward(); });
}

}  // namespace

std::vector<Check> refusals_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"refused_checkpoints", "damaged checkpoints that are used", robustness, 1, major},
       refused_checkpoints},
      {{"bad_arguments", "arguments that make no sense, acted upon", robustness, 0.5, minor},
       bad_arguments},
      {{"bad_lessons", "models and texts that make no sense, trained on", robustness, 0.5, minor},
       bad_lessons},
      {{"small_capacity", "checkpoints written where there is no room", robustness, 0.5, minor},
       small_capacity},
      {{"unsupported_requests", "versions and devices that are not implemented", robustness, 0.5,
        minor},
       unsupported_requests},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
