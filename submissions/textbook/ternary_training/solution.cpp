// A trainer in the usual order: batches of windows through the whole model, layer by layer, AdamW
// on latent weights, quantised anew after every update. Threads share the loops inside the layers.
#include <chrono>
#include <limits>
#include <random>
#include <thread>

#include "checkpoint.h"

namespace {

constexpr double kLearningRate = 4e-3;
constexpr int64_t kWindowsPerBatch = 4;

/// AdamW without decay, for one array of parameters.
struct Adam {
  Floats mean, square;

  void step(Floats& parameters, const Floats& gradient, float scale, double rate, int64_t t) {
    mean.resize(parameters.size());
    square.resize(parameters.size());
    const auto step = static_cast<float>(rate / (1 - std::pow(0.9, t)));
    const auto root = static_cast<float>(1 / std::sqrt(1 - std::pow(0.95, t)));
    for (size_t i = 0; i < parameters.size(); ++i) {
      const float g = gradient[i] * scale;
      mean[i] += 0.1f * (g - mean[i]);
      square[i] += 0.05f * (g * g - square[i]);
      parameters[i] -= step * mean[i] / (std::sqrt(square[i]) * root + 1e-8f);
    }
  }
};

class Training {
 public:
  explicit Training(const TernaryTrainArgs& args)
      : args_(args),
        model_(args.model,
               std::min<int>(args.num_threads, std::max(1u, std::thread::hardware_concurrency()))),
        random_(args.seed),
        optimisers_(model_.matrices().size() + model_.norms().size()) {
    std::normal_distribution<float> normal;
    for (TernaryLinear* matrix : model_.matrices()) {
      for (float& w : matrix->latent)
        w = normal(random_) / std::sqrt(static_cast<float>(matrix->columns));
      matrix->quantise();
    }
    split();
  }

  void run() {
    report();
    while (!stopped_ && progress() < 1) step();
    *args_.train_nll = likelihood(args_.token, std::min<int64_t>(args_.num_tokens, 4097));
    *args_.held_out_nll = held_out_ < args_.num_tokens - 1
                              ? likelihood(args_.token + held_out_, args_.num_tokens - held_out_)
                              : std::numeric_limits<double>::quiet_NaN();
    save(model_, args_.checkpoint);
    *args_.checkpoint_bytes = static_cast<int64_t>(file_size(args_.model));
    *args_.tokens_seen = tokens_;
    report();
  }

 private:
  using Clock = std::chrono::steady_clock;

  /// The last documents, about a twentieth of the text, are for validation. With too few documents
  /// there is no validation.
  void split() {
    held_out_ = args_.num_tokens;
    for (int64_t d = args_.num_documents - 1; d > 0; --d) {
      const int64_t start = args_.document_start[d];
      if (start < args_.num_tokens * 4 / 5 || start <= args_.model.context) break;
      held_out_ = start;
      if (args_.num_tokens - start >= args_.num_tokens / 20) break;
    }
  }

  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  /// How much of the budget is used, 0 to 1. The last part of the time is for the evaluation.
  double progress() const {
    double used = args_.max_tokens == 0 ? 1 : 0;
    if (args_.max_tokens > 0)
      used = static_cast<double>(tokens_) / static_cast<double>(args_.max_tokens);
    if (args_.max_seconds >= 0) {
      const double reserve = 0.05 * args_.max_seconds + 0.02 + 2 * slowest_step_;
      used = std::max(used,
                      args_.max_seconds > reserve ? seconds() / (args_.max_seconds - reserve) : 1);
    }
    return used;
  }

  void step() {
    const double began = seconds();
    const double done = progress();
    int64_t window = args_.model.context;
    int64_t windows = kWindowsPerBatch;
    if (args_.max_tokens >= 0) {
      const int64_t left = args_.max_tokens - tokens_;
      window = std::min(window, left);
      windows = std::clamp<int64_t>(args_.max_tokens / (300 * window), 1,
                                    std::min(windows, left / window));
    }
    std::vector<uint16_t> inputs, targets;
    for (int64_t w = 0; w < windows; ++w) {
      std::uniform_int_distribution<int64_t> anywhere(0, held_out_ - window - 1);
      const uint16_t* from = args_.token + anywhere(random_);
      inputs.insert(inputs.end(), from, from + window);
      targets.insert(targets.end(), from + 1, from + window + 1);
    }
    for (TernaryLinear* matrix : model_.matrices())
      std::fill(matrix->gradient.begin(), matrix->gradient.end(), 0.0f);
    for (RmsNorm* norm : model_.norms())
      std::fill(norm->gradient.begin(), norm->gradient.end(), 0.0f);
    Floats logits = model_.forward(inputs, window);
    loss_ = cross_entropy(logits, targets, args_.model.vocab) / static_cast<double>(targets.size());
    model_.backward(logits);
    ++steps_;
    tokens_ += windows * window;
    update(kLearningRate * std::min(20 * done + 0.02, 1 - done));
    slowest_step_ = std::max(slowest_step_, seconds() - began);
    report_sometimes();
  }

  void update(double rate) {
    double squares = 0;
    for (const TernaryLinear* matrix : model_.matrices())
      for (const float g : matrix->gradient) squares += double{g} * g;
    for (const RmsNorm* norm : model_.norms())
      for (const float g : norm->gradient) squares += double{g} * g;
    const float clip = squares > 1 ? static_cast<float>(1 / std::sqrt(squares)) : 1.0f;
    const std::vector<TernaryLinear*> matrices = model_.matrices();
    const std::vector<RmsNorm*> norms = model_.norms();
#pragma omp parallel for num_threads(model_.threads) schedule(dynamic)
    for (size_t i = 0; i < optimisers_.size(); ++i) {
      if (i < matrices.size()) {
        optimisers_[i].step(matrices[i]->latent, matrices[i]->gradient, clip, rate, steps_);
        matrices[i]->quantise();
      } else {
        RmsNorm* norm = norms[i - matrices.size()];
        optimisers_[i].step(norm->gain, norm->gradient, clip, rate, steps_);
      }
    }
  }

  double likelihood(const uint16_t* text, int64_t count) {
    double loss = 0;
    for (int64_t at = 0; at < count - 1; at += args_.model.context) {
      const int64_t length = std::min(args_.model.context, count - 1 - at);
      Floats logits = model_.forward({text + at, text + at + length}, length);
      loss += cross_entropy(logits, {text + at + 1, text + at + length + 1}, args_.model.vocab);
      report_sometimes();
    }
    return loss / static_cast<double>(count - 1);
  }

  void report() {
    TernaryProgress now{steps_, tokens_, loss_};
    if (args_.progress(args_.listener, &now) != 0) stopped_ = true;
    reported_ = seconds();
  }

  void report_sometimes() {
    if (!stopped_ && seconds() - reported_ > 0.3) report();
  }

  const TernaryTrainArgs& args_;
  const Clock::time_point start_ = Clock::now();
  Transformer model_;
  std::mt19937_64 random_;
  std::vector<Adam> optimisers_;
  int64_t held_out_ = 0;  // first token of the validation text
  int64_t steps_ = 0, tokens_ = 0;
  double loss_ = 0, reported_ = 0, slowest_step_ = 0;
  bool stopped_ = false;
};

bool valid_tokens(const uint16_t* token, int64_t count, int64_t vocab) {
  return std::all_of(token, token + count, [&](uint16_t t) { return t < vocab; });
}

int64_t check(const TernaryTrainArgs& a) {
  if (a.abi_version != TERNARY_ABI_VERSION || a.device != TERNARY_HOST) return TERNARY_UNSUPPORTED;
  if (a.num_threads < 1 || !valid_model(a.model)) return TERNARY_BAD_ARGUMENT;
  if (a.max_tokens < 0 && !(a.max_seconds >= 0)) return TERNARY_BAD_ARGUMENT;
  if (a.num_tokens <= a.model.context || a.num_documents < 1) return TERNARY_BAD_ARGUMENT;
  const int64_t* starts = a.document_start;
  if (starts[0] != 0 || starts[a.num_documents] != a.num_tokens ||
      !std::is_sorted(starts, starts + a.num_documents + 1) ||
      !valid_tokens(a.token, a.num_tokens, a.model.vocab))
    return TERNARY_BAD_ARGUMENT;
  if (file_size(a.model) <= static_cast<double>(a.checkpoint_capacity)) return TERNARY_OK;
  *a.checkpoint_bytes =
      file_size(a.model) < 9e18 ? static_cast<int64_t>(file_size(a.model)) : INT64_MAX;
  return TERNARY_NO_SPACE;
}

/// The matrix of a unit function, quantised; or why there is none.
template <class Args>
int64_t make_matrix(const Args& a, std::optional<TernaryLinear>& matrix) {
  if (a.abi_version != TERNARY_ABI_VERSION || a.device != TERNARY_HOST) return TERNARY_UNSUPPORTED;
  if (a.num_threads < 1 || a.rows < 1 || !valid_group(a.group, a.columns))
    return TERNARY_BAD_ARGUMENT;
  matrix.emplace(a.rows, a.columns, a.group);
  std::copy_n(a.weight, a.rows * a.columns, matrix->latent.data());
  return matrix->quantise() ? TERNARY_OK : TERNARY_BAD_ARGUMENT;
}

}  // namespace

extern "C" int64_t ternary_train(const TernaryTrainArgs* args) {
  if (const int64_t status = check(*args); status != TERNARY_OK) return status;
  Training(*args).run();
  return TERNARY_OK;
}

extern "C" int64_t ternary_quantize(const TernaryQuantizeArgs* args) {
  std::optional<TernaryLinear> matrix;
  if (const int64_t status = make_matrix(*args, matrix); status != TERNARY_OK) return status;
  pack_codes(matrix->codes, args->codes);
  std::copy(matrix->scales.begin(), matrix->scales.end(), args->scales);
  return TERNARY_OK;
}

extern "C" int64_t ternary_linear_gradient(const TernaryLinearGradientArgs* args) {
  std::optional<TernaryLinear> matrix;
  if (const int64_t status = make_matrix(*args, matrix); status != TERNARY_OK) return status;
  if (args->count < 1) return TERNARY_BAD_ARGUMENT;
  const Floats x(args->x, args->x + args->count * args->columns);
  const Floats dy(args->output_gradient, args->output_gradient + args->count * args->rows);
  const Floats y = matrix->forward(x, args->num_threads);
  const Floats dx = matrix->backward(x, dy, args->num_threads);
  std::copy(y.begin(), y.end(), args->y);
  std::copy(dx.begin(), dx.end(), args->input_gradient);
  std::copy(matrix->gradient.begin(), matrix->gradient.end(), args->weight_gradient);
  return TERNARY_OK;
}

extern "C" int64_t ternary_forward(const TernaryForwardArgs* args) {
  if (args->abi_version != TERNARY_ABI_VERSION || args->device != TERNARY_HOST)
    return TERNARY_UNSUPPORTED;
  const auto sizes = load_sizes(args->checkpoint, args->checkpoint_bytes);
  if (!sizes || args->num_threads < 1 || args->num_tokens < 1 ||
      args->num_tokens > sizes->context ||
      !valid_tokens(args->token, args->num_tokens, sizes->vocab))
    return TERNARY_BAD_ARGUMENT;
  Transformer model(*sizes, args->num_threads);
  if (!load(args->checkpoint, model)) return TERNARY_BAD_ARGUMENT;
  const Floats logits =
      model.forward({args->token, args->token + args->num_tokens}, args->num_tokens);
  std::copy(logits.begin(), logits.end(), args->logits);
  return TERNARY_OK;
}
