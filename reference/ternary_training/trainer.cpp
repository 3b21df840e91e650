// SPDX-License-Identifier: Apache-2.0
#include "trainer.h"

#include <limits>
#include <omp.h>
#include <optional>
#include <thread>

#include "checkpoint.h"
#include "latent.h"
#include "loss.h"
#include "optimizer.h"
#include "schedule.h"

namespace ternary {
namespace {

constexpr std::int64_t kClaimedText = 4097;  // tokens of which the contract wants the likelihood

/// Latent weights that make all products keep the size of their input, but for those that are
/// added to the residual stream: together they shall not drown it.
void initialise(const TernaryModel& m, const Layout& layout, std::uint64_t seed,
                float* parameters) {
  Random random(seed);
  for (std::size_t index = 0; index < layout.shapes.size(); ++index) {
    const MatrixShape shape = layout.shapes[index];
    const auto matrix = static_cast<std::int64_t>(index);
    float deviation = 1 / std::sqrt(static_cast<float>(shape.columns));
    if (is_added_to_stream(m, matrix)) deviation /= std::sqrt(2.0f * static_cast<float>(m.layers));
    const Rows rows = layout.rows(parameters, matrix);
    for (std::int64_t r = 0; r < shape.rows; ++r)
      for (std::int64_t c = 0; c < shape.columns; ++c) rows[r][c] = deviation * random.normal();
  }
  std::fill_n(parameters + layout.gains, gains_of(m), 1.0f);
}

/// No more than there are cores, nor than have enough to do in a step to wait for each other.
int threads_for(const TernaryTrainArgs& args, std::int64_t parameters) {
  constexpr double kWorth = 2e8;  // operations, a few milliseconds
  const double operations =
      6.0 * static_cast<double>(parameters) * static_cast<double>(recipe::kLargestBatch);
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  const auto allowed =
      static_cast<double>(std::min(static_cast<unsigned>(args.num_threads), cores));
  return static_cast<int>(std::clamp(operations / kWorth, 1.0, allowed));
}

class Trainer {
 public:
  explicit Trainer(const TernaryTrainArgs& args)
      : args_(args),
        m_(args.model),
        corpus_(split(args)),
        claimed_text_(args.token, args.token + std::min(args.num_tokens, kClaimedText)),
        schedule_(args, static_cast<std::int64_t>(corpus_.training.size()),
                  static_cast<std::int64_t>(corpus_.held_out.size() + claimed_text_.size())),
        layout_(m_),
        angles_(m_.context, m_.width / m_.heads),
        model_(m_, Matrix::kForwardAndBackward),
        parameters_(layout_.total),
        optimizer_(layout_.total),
        batches_(corpus_.training, m_.context, mixed(args.seed)) {
    for (int t = 0; t < threads_for(args, layout_.total); ++t)
      workers_.emplace_back(m_, layout_.total);
    initialise(m_, layout_, args.seed, parameters_.data());
    quantise_all();
  }

  Outcome run() {
    report();
    if (schedule_.may_go_on() && corpus_.training.size() <= recipe::kLargestCountedText)
      teacher_.emplace(corpus_.training, m_.vocab);
    while (!stopped_ && schedule_.may_go_on()) step();
    Outcome outcome{likelihood(claimed_text_), std::numeric_limits<double>::quiet_NaN(),
                    schedule_.tokens()};
    if (corpus_.held_out.size() > 1) outcome.held_out_nll = likelihood(corpus_.held_out);
    write_checkpoint(m_, layout_, parameters_.data(), args_.checkpoint);
    report();
    return outcome;
  }

 private:
  /// One for every thread.
  struct Worker {
    Worker(const TernaryModel& m, std::int64_t parameters)
        : window(m, m.context, m.layers),
          scratch(m, m.context),
          backward(m, m.context),
          gradient(parameters) {}
    Window window;
    Scratch scratch;
    BackwardScratch backward;
    Floats gradient;
    double loss = 0;
    double squares = 0;
  };

  int parts() const { return static_cast<int>(workers_.size()); }

  template <class Body>
  void in_parallel(const Body& body) {
#pragma omp parallel num_threads(parts())
    body(omp_get_thread_num(), workers_[static_cast<std::size_t>(omp_get_thread_num())]);
  }

  void quantise_all() {
    in_parallel(
        [&](int part, Worker&) { quantise(layout_, parameters_.data(), model_, part, parts()); });
  }

  void step() {
    const std::int64_t tokens = schedule_.begin_step(parts());
    const std::vector<Stretch> windows = batches_.next(tokens);
    optimizer_.begin_step(static_cast<float>(schedule_.rate()));
    in_parallel([&](int part, Worker& worker) {
      make_gradient(part, worker, windows, tokens);
#pragma omp barrier
      worker.squares = add_gradients(part);
#pragma omp barrier
      update(part);
#pragma omp barrier
      quantise(layout_, parameters_.data(), model_, part, parts());
    });
    schedule_.end_step(tokens);
    double loss = 0;
    for (const Worker& worker : workers_) loss += worker.loss;
    last_loss_ = loss / static_cast<double>(tokens);
    report_sometimes();
  }

  /// Windows are dealt to the threads in a fixed order, so that sums do not depend on timing.
  void make_gradient(int part, Worker& worker, const std::vector<Stretch>& windows,
                     std::int64_t tokens) {
    const std::uint64_t key = mixed(args_.seed + static_cast<std::uint64_t>(schedule_.steps()));
    const auto dropout = static_cast<float>(schedule_.dropout());
    worker.gradient.clear();
    worker.loss = 0;
    for (auto w = static_cast<std::size_t>(part); w < windows.size(); w += workers_.size()) {
      const Lesson lesson{windows[w],
                          1 / static_cast<float>(tokens),
                          teacher_ ? &*teacher_ : nullptr,
                          teacher_ ? recipe::kTeacherTrust : 0,
                          windows[w].token - corpus_.training.data(),
                          {dropout, key + w}};
      worker.loss += learn(model_, angles_, layout_, worker.window, worker.scratch, worker.backward,
                           lesson, worker.gradient.data());
      if (part == 0) report_sometimes();
    }
  }

  /// This part of the parameters. A gradient that is not finite is left out.
  void update(int part) {
    double squares = 0;
    for (const Worker& worker : workers_) squares += worker.squares;
    const auto norm = static_cast<float>(std::sqrt(squares));
    if (!std::isfinite(norm)) return;
    const auto [begin, end] = share(part);
    optimizer_.update(parameters_.data(), workers_[0].gradient.data(),
                      std::min(1.0f, recipe::kLargestGradient / norm), begin, end);
  }

  std::pair<std::int64_t, std::int64_t> share(int part) const {
    const std::int64_t vectors = layout_.total / kLanes;
    return {vectors * part / parts() * kLanes, vectors * (part + 1) / parts() * kLanes};
  }

  /// Adds all workers' gradients to the first one's; returns the sum of squares of this part.
  double add_gradients(int part) {
    const auto [begin, end] = share(part);
    float* sum = workers_[0].gradient.data();
    double squares = 0;
    for (std::int64_t i = begin; i < end; i += kLanes) {
      Vec total = load(sum + i);
      for (std::size_t w = 1; w < workers_.size(); ++w)
        total += load(workers_[w].gradient.data() + i);
      store(sum + i, total);
      squares += static_cast<double>(sum_of(total * total));
    }
    return squares;
  }

  double likelihood(const Text& text) {
    const auto predictions = static_cast<std::int64_t>(text.size()) - 1;
    const std::int64_t windows = (predictions + m_.context - 1) / m_.context;
    std::vector<double> losses(static_cast<std::size_t>(windows));
    in_parallel([&](int part, Worker& worker) {
      for (std::int64_t w = part; w < windows; w += parts()) {
        const std::int64_t first = w * m_.context;
        const Stretch stretch{text.data() + first, std::min(m_.context, predictions - first)};
        losses[static_cast<std::size_t>(w)] =
            loss_of(model_, angles_, worker.window, worker.scratch, stretch);
        if (part == 0) report_sometimes();
      }
    });
    double sum = 0;
    for (const double loss : losses) sum += loss;
    return sum / static_cast<double>(predictions);
  }

  void report() {
    TernaryProgress progress{schedule_.steps(), schedule_.tokens(), last_loss_};
    if (args_.progress(args_.listener, &progress) != 0) stopped_ = true;
    schedule_.reported();
  }

  void report_sometimes() {
    if (!stopped_ && schedule_.wants_report()) report();
  }

  const TernaryTrainArgs& args_;
  const TernaryModel m_;
  const Corpus corpus_;
  const Text claimed_text_;
  Schedule schedule_;
  const Layout layout_;
  const Angles angles_;
  Model model_;
  Floats parameters_;  // latent weights, and gains
  Optimizer optimizer_;
  Batches batches_;
  std::optional<NGrams> teacher_;
  std::vector<Worker> workers_;
  double last_loss_ = std::log(static_cast<double>(m_.vocab));
  bool stopped_ = false;
};

}  // namespace

Outcome train(const TernaryTrainArgs& args) {
  return Trainer(args).run();
}

}  // namespace ternary
