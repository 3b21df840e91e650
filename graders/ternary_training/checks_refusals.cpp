// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>
#include <memory>

#include "domain.h"
#include "drawing.h"
#include "drawing_models.h"
#include "graders/kit/refusals.h"
#include "harness/grading/grader.h"
#include "invalid_calls.h"
#include "invalid_files.h"
#include "judge.h"
#include "large.h"
#include "refused_room.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

template <class Args>
using Flaws = std::vector<kit::Flaw<Args>>;

template <class Args>
Flaws<Args> flaws_of_version() {
  return {{"later_abi", [](Args& a) { a.abi_version = TERNARY_ABI_VERSION + 1; }},
          {"unknown_device", [](Args& a) { a.device = 77; }}};
}

/// Every flaw in a call of its own; `make` builds a good one.
template <class Args, class Make>
void require_all_refused(Probe& probe, const Flaws<Args>& flaws, std::int64_t want,
                         const Make& make) {
  for (const kit::Flaw<Args>& flaw : flaws) {
    Rng rng = probe.begin_case(flaw.name);
    const auto call = make(rng);
    flaw.spoil(call->args);
    kit::require_refused(probe, *call, want);
  }
}

/// Problems that outlive the calls made of them.
struct GoodInputs {
  explicit GoodInputs(Rng& rng)
      : matrix(coarse_matrix(rng, 6, 4, 12)),
        layer(linear_problem(rng, 6, 4, 12, 3)),
        bytes(bytes_of(random_checkpoint(rng, {40, 24, 1, 2, 36, 10, 12}))),
        token(random_text(rng, 40, 10)) {}

  /// Makers of good calls, for require_all_refused.
  auto quantize() const {
    return [this](Rng&) { return std::make_unique<QuantizeCall>(matrix); };
  }
  auto gradient() const {
    return [this](Rng&) { return std::make_unique<GradientCall>(layer); };
  }
  auto forward() const {
    return [this](Rng&) { return std::make_unique<ForwardCall>(bytes, token, 40); };
  }

  QuantizeProblem matrix;
  LinearProblem layer;
  std::vector<std::uint8_t> bytes;
  Text token;
};

std::unique_ptr<TrainingCall> good_call(Rng& rng) {
  return std::make_unique<TrainingCall>(small_request(rng));
}

void bad_arguments(Probe& probe) {
  Rng drawn = probe.begin_case("drawn");
  const GoodInputs good(drawn);
  require_all_refused<TernaryQuantizeArgs>(
      probe,
      {{"quantize_no_rows", [](auto& a) { a.rows = 0; }},
       {"quantize_no_columns", [](auto& a) { a.columns = 0; }},
       {"quantize_group_0", [](auto& a) { a.group = 0; }},
       {"quantize_group_6", [](auto& a) { a.group = 6; }},
       {"quantize_groups_straddle", [](auto& a) { a.rows = 12, a.columns = 24, a.group = 16; }},
       {"quantize_no_threads", [](auto& a) { a.num_threads = 0; }}},
      TERNARY_BAD_ARGUMENT, good.quantize());
  require_all_refused<TernaryLinearGradientArgs>(
      probe,
      {{"gradient_no_rows", [](auto& a) { a.rows = 0; }},
       {"gradient_no_vectors", [](auto& a) { a.count = 0; }},
       {"gradient_negative_columns", [](auto& a) { a.columns = -48; }},
       {"gradient_group_20", [](auto& a) { a.group = 20; }},
       {"gradient_no_threads", [](auto& a) { a.num_threads = -1; }}},
      TERNARY_BAD_ARGUMENT, good.gradient());
  require_all_refused<TernaryForwardArgs>(
      probe,
      {{"forward_no_tokens", [](auto& a) { a.num_tokens = 0; }},
       {"forward_no_threads", [](auto& a) { a.num_threads = 0; }}},
      TERNARY_BAD_ARGUMENT, good.forward());

  probe.begin_case("forward_unknown_token");
  Text token = good.token;
  token.back() = 40;
  ForwardCall unknown(good.bytes, token, 40);
  kit::require_refused(probe, unknown, TERNARY_BAD_ARGUMENT);
  probe.begin_case("forward_window_too_long");
  token.assign(11, 0);
  ForwardCall longer(good.bytes, token, 40);
  kit::require_refused(probe, longer, TERNARY_BAD_ARGUMENT);

  for (const float weight : {65520.0f, 7e4f, 3e38f}) {
    probe.begin_case(fmt::format("mean_of_{}", weight));
    QuantizeProblem matrix = good.matrix;
    std::fill_n(matrix.weight.end() - 12, 12, weight);
    QuantizeCall too_large(matrix);
    kit::require_refused(probe, too_large, TERNARY_BAD_ARGUMENT);
    LinearProblem layer = good.layer;
    std::fill_n(layer.weight.end() - 12, 12, -weight);
    GradientCall too_large_layer(layer);
    kit::require_refused(probe, too_large_layer, TERNARY_BAD_ARGUMENT);
  }

  // So many rows that who goes through them part by part has written before the last one comes.
  Rng rng = probe.begin_case("mean_in_the_last_of_many_rows");
  QuantizeProblem matrix = coarse_matrix(rng, 1'100, 2, 12);
  std::fill_n(matrix.weight.end() - 12, 12, 7e4f);
  QuantizeCall last_row(matrix);
  kit::require_refused(probe, last_row, TERNARY_BAD_ARGUMENT);
  LinearProblem layer = linear_problem(rng, 1'100, 2, 12, 3);
  std::fill_n(layer.weight.end() - 12, 12, 7e4f);
  GradientCall last_row_of_layer(layer);
  kit::require_refused(probe, last_row_of_layer, TERNARY_BAD_ARGUMENT);
  refuse_large_matrices(probe);
}

/// A text of so many tokens and documents that who looks at a part of them overlooks the fault.
void refuse_long_texts(Probe& probe) {
  Rng rng = probe.begin_case("one_fault_in_a_long_text");
  TrainingRequest request = small_request(rng);
  request.documents.assign(2'000, random_text(rng, request.model.vocab, 3));
  request.documents.push_back(random_text(rng, request.model.vocab, 80'000));
  TrainingCall token(request);
  token.token()[static_cast<std::size_t>(rng.integer(70'000, 85'000))] = 24;
  kit::require_refused(probe, token, TERNARY_BAD_ARGUMENT);
  TrainingCall start(request);
  start.document_start()[static_cast<std::size_t>(rng.integer(1'100, 1'990))] += 4;
  kit::require_refused(probe, start, TERNARY_BAD_ARGUMENT);
}

void bad_lessons(Probe& probe) {
  const Flaws<TernaryTrainArgs> flaws{
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
  require_all_refused<TernaryTrainArgs>(probe, flaws, TERNARY_BAD_ARGUMENT, good_call);

  Rng rng = probe.begin_case("unknown_token");
  const auto call = good_call(rng);
  call->token()[777] = 24;
  kit::require_refused(probe, *call, TERNARY_BAD_ARGUMENT);
  rng = probe.begin_case("unknown_token_and_no_space");
  const auto short_of_space = good_call(rng);
  short_of_space->token()[777] = 24;
  short_of_space->args.checkpoint_capacity -= 1;
  kit::require_refused(probe, *short_of_space, TERNARY_BAD_ARGUMENT);
  const std::vector<std::vector<std::int64_t>> bad_starts{
      {0, 800, 700, 1'500}, {1, 600, 700, 1'500}, {0, 600, 700, 1'499}, {0, -5, 700, 1'500}};
  for (std::size_t i = 0; i < bad_starts.size(); ++i) {
    rng = probe.begin_case(fmt::format("document_starts_{}", i));
    TrainingRequest request = small_request(rng);
    const Text text = request.documents[0];
    request.documents = {Text(text.begin(), text.begin() + 600),
                         Text(text.begin() + 600, text.begin() + 700),
                         Text(text.begin() + 700, text.end())};
    TrainingCall spoilt(request);
    spoilt.document_start() = bad_starts[i];
    kit::require_refused(probe, spoilt, TERNARY_BAD_ARGUMENT);
  }
  refuse_long_texts(probe);
}

void small_capacity(Probe& probe) {
  for (const std::int64_t missing : {std::int64_t{1}, std::int64_t{1'000}}) {
    Rng rng = probe.begin_case(fmt::format("{}_bytes_short", missing));
    TrainingRequest request = small_request(rng);
    request.spare_bytes = -missing;
    TrainingCall call(request);
    require_no_space(probe, call, checkpoint_bytes_of(request.model));
  }
}

void unsupported_requests(Probe& probe) {
  Rng drawn = probe.begin_case("drawn");
  const GoodInputs good(drawn);
  require_all_refused(probe, flaws_of_version<TernaryTrainArgs>(), TERNARY_UNSUPPORTED, good_call);
  require_all_refused(probe, flaws_of_version<TernaryQuantizeArgs>(), TERNARY_UNSUPPORTED,
                      good.quantize());
  require_all_refused(probe, flaws_of_version<TernaryLinearGradientArgs>(), TERNARY_UNSUPPORTED,
                      good.gradient());
  require_all_refused(probe, flaws_of_version<TernaryForwardArgs>(), TERNARY_UNSUPPORTED,
                      good.forward());
}

// ---------------------------------------------------------------- by the domain

using kit::Assignment;

/// What the refusals of a function are made of: problems of given classes, calls of them, and what
/// has to be right before and after a refusal.
template <class Problem>
struct Refused {
  std::function<Problem(const Assignment&, Rng&)> draw;
  std::function<void(Probe&, const Assignment&, const Problem&)> require_right;
};

/// Threads that idle cost every later call a millisecond, and refuse nothing.
bool few_threads(const Assignment& choice) {
  return choice["threads"].most <= 7;
}

/// Each group of refusals puts one problem of the classes to the solution, spoilt in every way.
template <class Problem, class Args, class Make>
std::vector<kit::Refusal> refusals_of(Probe& probe, bool between, const char* function,
                                      const std::vector<InvalidGroup<Problem, Args>>& groups,
                                      const Refused<Problem>& of, const Make& make) {
  std::vector<kit::Refusal> all;
  for (const auto& group : groups) {
    const auto ask = [=, &probe](const Assignment& choice, Rng& rng) {
      const Problem problem = of.draw(choice, rng);
      if (between) of.require_right(probe, choice, problem);
      for (const InvalidCall<Problem, Args>& invalid : group.all) {
        Problem spoilt = problem;
        invalid.misplace(spoilt);
        const auto call = make(spoilt, choice);
        invalid.flaw.spoil(call->args);
        kit::naming_flaw(invalid.flaw.name,
                         [&] { kit::require_refused(probe, *call, invalid.want); });
      }
      if (between) of.require_right(probe, choice, problem);
    };
    all.push_back({fmt::format("{}, {}", function, group.name),
                   [beside = group.beside](const Assignment& choice) {
                     return few_threads(choice) && beside(choice);
                   },
                   ask});
  }
  return all;
}

std::vector<kit::Refusal> quantize_refusals(Probe& probe, bool between) {
  const Refused<QuantizeProblem> of{
      quantize_problem_of, [](Probe& asked, const Assignment& choice, const QuantizeProblem& good) {
        require_quantized(asked, good, options_of(choice));
      }};
  return refusals_of(probe, between, "quantize", invalid_quantize_calls(), of,
                     [](const QuantizeProblem& problem, const Assignment& choice) {
                       return std::make_unique<QuantizeCall>(problem, options_of(choice));
                     });
}

std::vector<kit::Refusal> layer_refusals(Probe& probe, bool between) {
  const Refused<LinearProblem> of{
      linear_problem_of, [](Probe& asked, const Assignment& choice, const LinearProblem& good) {
        require_layer(asked, good, options_of(choice));
      }};
  return refusals_of(probe, between, "linear_gradient", invalid_layer_calls(), of,
                     [](const LinearProblem& problem, const Assignment& choice) {
                       return std::make_unique<GradientCall>(problem, options_of(choice));
                     });
}

std::vector<kit::Refusal> forward_refusals(Probe& probe, bool between) {
  const Refused<FileProblem> of{
      [](const Assignment& choice, Rng& rng) {
        const ForwardProblem good = forward_problem_of(choice, rng);
        return FileProblem{good.checkpoint.model, bytes_of(good.checkpoint), good.token};
      },
      [](Probe& asked, const Assignment& choice, const FileProblem& good) {
        require_logits(asked, read_checkpoint(good.bytes), good.token, options_of(choice));
      }};
  return refusals_of(probe, between, "forward", invalid_forward_calls(), of,
                     [](const FileProblem& problem, const Assignment& choice) {
                       return std::make_unique<ForwardCall>(
                           problem.bytes, problem.token, problem.model.vocab, options_of(choice));
                     });
}

/// The text of a good call is spoilt in every way, where there is room and where there is none.
void refuse_texts(Probe& probe, const TrainingRequest& request, const Assignment& choice) {
  for (const InvalidText& invalid : invalid_texts()) {
    if (!invalid.beside(choice)) continue;
    TrainingCall call(request);
    invalid.spoil(call);
    kit::naming_flaw(invalid.name,
                     [&] { kit::require_refused(probe, call, TERNARY_BAD_ARGUMENT); });
    TrainingCall without_room(request);
    invalid.spoil(without_room);
    without_room.args.checkpoint_capacity = 0;
    kit::naming_flaw(invalid.name + ", and no space",
                     [&] { kit::require_refused(probe, without_room, TERNARY_BAD_ARGUMENT); });
  }
}

std::vector<kit::Refusal> training_refusals(Probe& probe, bool between) {
  const auto require_right = [](Probe& asked, const Assignment&, const TrainingRequest& good) {
    require_trained(asked, good);
  };
  std::vector<kit::Refusal> all =
      refusals_of(probe, between, "train", invalid_training_calls(),
                  Refused<TrainingRequest>{training_request_of, require_right},
                  [](const TrainingRequest& request, const Assignment&) {
                    return std::make_unique<TrainingCall>(request);
                  });
  for (const auto& [name, refuse] : {std::pair{"train, text", &refuse_texts},
                                     {"train, space", &refuse_space},
                                     {"train, far too large", &refuse_far_too_large}})
    all.push_back(
        {name, few_threads, [=, refuse = refuse, &probe](const Assignment& choice, Rng& rng) {
           const TrainingRequest request = training_request_of(choice, rng);
           if (between) require_right(probe, choice, request);
           refuse(probe, request, choice);
           if (between) require_right(probe, choice, request);
         }});
  return all;
}

}  // namespace

std::vector<Check> refusals_checks() {
  using enum Section;
  using enum Severity;
  std::vector<Check> all = kit::refusal_checks({{&quantize_domain(), quantize_refusals},
                                                {&layer_domain(), layer_refusals},
                                                {&forward_domain(), forward_refusals},
                                                {&training_domain(), training_refusals}});
  const std::vector<Check> listed{
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
  all.insert(all.end(), listed.begin(), listed.end());
  return all;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
