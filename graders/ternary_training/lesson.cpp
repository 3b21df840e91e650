#include "lesson.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>

#include "graders/kit/inputs.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

constexpr std::size_t kClaimed = 4097;  // tokens of which train_nll speaks

double seconds_since(std::chrono::steady_clock::time_point began) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

template <class T>
bool poisoned(const Output<T>& output) {
  const auto bytes = std::as_bytes(output.view());
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0xff}; });
}

}  // namespace

Text joined(const std::vector<Text>& documents) {
  Text all;
  for (const Text& document : documents) all.insert(all.end(), document.begin(), document.end());
  return all;
}

Text claimed_text(const std::vector<Text>& documents) {
  Text text = joined(documents);
  text.resize(std::min(text.size(), kClaimed));
  return text;
}

TrainCall::TrainCall(const Lesson& lesson) : token_(joined(lesson.documents)) {
  for (const Text& document : lesson.documents)
    document_start_.push_back(document_start_.back() + std::ssize(document));
  TernaryTrainArgs& args = call.args;
  args.abi_version = TERNARY_ABI_VERSION;
  args.struct_size = static_cast<std::int32_t>(sizeof args);
  args.device = TERNARY_HOST;
  args.num_threads = lesson.threads;
  args.min_align = kit::guaranteed_alignment(lesson.placement);
  args.model = lesson.model;
  args.num_tokens = std::ssize(token_);
  args.num_documents = std::ssize(lesson.documents);
  args.max_seconds = lesson.max_seconds;
  args.max_tokens = lesson.max_tokens;
  args.seed = lesson.seed;
  args.checkpoint_capacity = checkpoint_bytes_of(lesson.model) + lesson.spare_bytes;
  const Placement& placement = lesson.placement;
  call.in("token", args.token, token_, placement);
  call.in("document_start", args.document_start, document_start_, placement);
  checkpoint_ = call.out<std::uint8_t>(
      "checkpoint", args.checkpoint, static_cast<std::size_t>(args.checkpoint_capacity), placement);
  checkpoint_bytes_ =
      call.out<std::int64_t>("checkpoint_bytes", args.checkpoint_bytes, 1, placement);
  train_nll_ = call.out<double>("train_nll", args.train_nll, 1, placement);
  held_out_nll_ = call.out<double>("held_out_nll", args.held_out_nll, 1, placement);
  tokens_seen_ = call.out<std::int64_t>("tokens_seen", args.tokens_seen, 1, placement);
  call.callback<std::int64_t(void*, TernaryProgress*), TernaryProgress>(
      "progress", args.progress, args.listener, {},
      [this, enough = lesson.enough](TernaryProgress& progress, CallbackRequest&) -> std::int64_t {
        const Report now{seconds_since(began_), progress};
        // Nobody needs to report so often; who does shall not fill our memory.
        constexpr std::size_t kPatience = 10'000;
        const bool flood = reports_.size() > kPatience &&
                           now.seconds - reports_[reports_.size() - 2].seconds < 1e-3;
        if (flood)
          reports_.back() = now;
        else
          reports_.push_back(now);
        return enough && enough(progress, reports_.back().seconds) ? 1 : 0;
      });
}

Outcome TrainCall::outcome() const {
  Outcome outcome;
  outcome.checkpoint_bytes = checkpoint_bytes_->view()[0];
  const auto bytes = checkpoint_->view();
  const auto count = std::clamp<std::int64_t>(outcome.checkpoint_bytes, 0, std::ssize(bytes));
  outcome.bytes.assign(bytes.begin(), bytes.begin() + count);
  outcome.train_nll = train_nll_->view()[0];
  outcome.held_out_nll = held_out_nll_->view()[0];
  outcome.tokens_seen = tokens_seen_->view()[0];
  outcome.reports = reports_;
  outcome.seconds = std::chrono::duration<double>(call.elapsed).count();
  return outcome;
}

bool TrainCall::untouched() const {
  return poisoned(*checkpoint_bytes_) && wrote_nothing_else();
}

bool TrainCall::wrote_nothing_else() const {
  return poisoned(*checkpoint_) && poisoned(*train_nll_) && poisoned(*held_out_nll_) &&
         poisoned(*tokens_seen_);
}

Outcome train(Probe& probe, const Lesson& lesson) {
  TrainCall training(lesson);
  probe.run_ok(training.call);
  return training.outcome();
}

Checkpoint checkpoint_of(Probe& probe, const Lesson& lesson, const Outcome& outcome) {
  if (const std::int64_t want = checkpoint_bytes_of(lesson.model); outcome.checkpoint_bytes != want)
    probe.fail(fmt::format("checkpoint_bytes is {}; {} have {}", outcome.checkpoint_bytes,
                           describe(lesson.model), want));
  try {
    Checkpoint checkpoint = read_checkpoint(outcome.bytes);
    if (!same_model(checkpoint.model, lesson.model))
      probe.fail(fmt::format("the checkpoint has {}; asked for were {}", describe(checkpoint.model),
                             describe(lesson.model)));
    return checkpoint;
  } catch (const BadCheckpoint& bad) {
    probe.fail(fmt::format("the checkpoint is none: {}", bad.what()));
  }
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
