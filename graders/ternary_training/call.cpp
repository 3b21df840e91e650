// SPDX-License-Identifier: Apache-2.0
#include "call.h"

#include <algorithm>

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

template <class Args>
void set_header(Args& args, const CallOptions& options) {
  kit::set_header(args, TERNARY_ABI_VERSION, TERNARY_HOST, options);
}

template <class Args, class Problem>
void set_matrix(Args& args, const Problem& problem) {
  args.rows = problem.rows;
  args.columns = problem.columns;
  args.group = problem.group;
}

}  // namespace

QuantizeCall::QuantizeCall(const QuantizeProblem& problem, const CallOptions& options)
    : Call("ternary_quantize") {
  set_header(args, options);
  set_matrix(args, problem);
  const std::size_t weights = problem.weight.size();
  in("weight", args.weight, problem.weight, options.placed("weight"));
  codes = out<std::uint8_t>("codes", args.codes, weights / 4, options.placed("codes"));
  scales =
      out<std::uint16_t>("scales", args.scales, weights / static_cast<std::size_t>(problem.group),
                         options.placed("scales"), ElementType::f16);
}

GradientCall::GradientCall(const LinearProblem& problem, const CallOptions& options)
    : Call("ternary_linear_gradient") {
  set_header(args, options);
  set_matrix(args, problem);
  args.count = problem.count;
  in("weight", args.weight, problem.weight, options.placed("weight"));
  in("x", args.x, problem.x, options.placed("x"));
  in("output_gradient", args.output_gradient, problem.output_gradient,
     options.placed("output_gradient"));
  y = out<float>("y", args.y, problem.output_gradient.size(), options.placed("y"));
  input_gradient = out<float>("input_gradient", args.input_gradient, problem.x.size(),
                              options.placed("input_gradient"));
  weight_gradient = out<float>("weight_gradient", args.weight_gradient, problem.weight.size(),
                               options.placed("weight_gradient"));
}

ForwardCall::ForwardCall(const std::vector<std::uint8_t>& checkpoint, const Text& token,
                         std::int64_t vocab, const CallOptions& options)
    : Call("ternary_forward") {
  set_header(args, options);
  args.checkpoint_bytes = std::ssize(checkpoint);
  args.num_tokens = std::ssize(token);
  in("checkpoint", args.checkpoint, checkpoint, options.placed("checkpoint"));
  in("token", args.token, token, options.placed("token"));
  logits = out<float>("logits", args.logits, token.size() * static_cast<std::size_t>(vocab),
                      options.placed("logits"));
}

TrainingCall::TrainingCall(const TrainingRequest& request)
    : Call("ternary_train"), token_(joined(request.documents)) {
  for (const Text& document : request.documents)
    document_start_.push_back(document_start_.back() + std::ssize(document));
  set_header(args, request.options);
  args.model = request.model;
  args.num_tokens = std::ssize(token_);
  args.num_documents = std::ssize(request.documents);
  args.max_seconds = request.max_seconds;
  args.max_tokens = request.max_tokens;
  args.seed = request.seed;
  args.checkpoint_capacity = checkpoint_bytes_of(request.model) + request.spare_bytes;
  const Placement& placement = request.options.placement;
  in("token", args.token, token_, placement);
  in("document_start", args.document_start, document_start_, placement);
  checkpoint_ = out<std::uint8_t>("checkpoint", args.checkpoint,
                                  static_cast<std::size_t>(args.checkpoint_capacity), placement);
  checkpoint_bytes_ = out<std::int64_t>("checkpoint_bytes", args.checkpoint_bytes, 1, placement);
  train_nll_ = out<double>("train_nll", args.train_nll, 1, placement);
  held_out_nll_ = out<double>("held_out_nll", args.held_out_nll, 1, placement);
  tokens_seen_ = out<std::int64_t>("tokens_seen", args.tokens_seen, 1, placement);
  null_context = request.null_listener;
  callback<std::int64_t(void*, TernaryProgress*), TernaryProgress>(
      "progress", args.progress, args.listener, {},
      [this, enough = request.enough, answer = request.answer](TernaryProgress& progress,
                                                               CallbackRequest&) -> std::int64_t {
        add_report(progress);
        return enough && enough(progress, reports_.back().seconds) ? answer : 0;
      });
}

// Nobody needs to report ten thousand times; who does shall not fill our memory.
void TrainingCall::add_report(const TernaryProgress& progress) {
  constexpr std::size_t kMany = 10'000;
  const std::chrono::duration<double> since = std::chrono::steady_clock::now() - began_;
  const bool flood =
      reports_.size() > kMany && since.count() - reports_[reports_.size() - 2].seconds < 1e-3;
  if (flood) reports_.pop_back();
  reports_.push_back({since.count(), progress});
}

TrainingResult TrainingCall::result() const {
  TrainingResult result;
  result.checkpoint_bytes = checkpoint_bytes_->view()[0];
  const auto bytes = checkpoint_->view();
  const auto count = std::clamp<std::int64_t>(result.checkpoint_bytes, 0, std::ssize(bytes));
  result.bytes.assign(bytes.begin(), bytes.begin() + count);
  result.train_nll = train_nll_->view()[0];
  result.held_out_nll = held_out_nll_->view()[0];
  result.tokens_seen = tokens_seen_->view()[0];
  result.reports = reports_;
  result.seconds = std::chrono::duration<double>(elapsed).count();
  return result;
}

TrainingResult train(Probe& probe, const TrainingRequest& request) {
  TrainingCall call(request);
  probe.run_ok(call);
  return call.result();
}

Text joined(const std::vector<Text>& documents) {
  Text all;
  for (const Text& document : documents) all.insert(all.end(), document.begin(), document.end());
  return all;
}

Text claimed_text(const std::vector<Text>& documents) {
  constexpr std::size_t kClaimed = 4097;
  Text text = joined(documents);
  text.resize(std::min(text.size(), kClaimed));
  return text;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
