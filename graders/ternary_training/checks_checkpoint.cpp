// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <map>

#include "harness/grading/grader.h"
#include "model.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// Rows of a tensor that the training text had a say in: ids that never occur leave theirs in the
/// embedding, and in the head if a solution likes, as they were made.
std::vector<std::int64_t> trained_rows(const TrainingRun& run, std::size_t tensor) {
  const TernaryModel& model = run.plan().model;
  std::vector<std::int64_t> rows;
  const std::vector<Tensor> tensors = tensors_of(model);
  if (tensor == 0 || tensor + 1 == tensors.size()) {
    for (const std::uint16_t id : run.text().known_ids()) rows.push_back(id);
  } else {
    for (std::int64_t row = 0; row < tensors[tensor].rows; ++row) rows.push_back(row);
  }
  return rows;
}

/// What a tensor is made of.
struct Coverage {
  double codes = 0;
  double plus = 0;
  double minus = 0;
  double groups = 0;
  double live_groups = 0;

  double non_zero() const { return (plus + minus) / codes; }
};

Coverage coverage_of(const TernaryMatrix& matrix, const std::vector<std::int64_t>& rows) {
  Coverage coverage;
  for (const std::int64_t row : rows) {
    for (std::int64_t column = 0; column < matrix.columns; ++column) {
      const std::int8_t code =
          matrix.codes[static_cast<std::size_t>(row * matrix.columns + column)];
      ++coverage.codes;
      coverage.plus += code > 0;
      coverage.minus += code < 0;
    }
    for (std::int64_t group = 0; group < matrix.groups_in_row(); ++group) {
      ++coverage.groups;
      coverage.live_groups +=
          matrix.scales[static_cast<std::size_t>(row * matrix.groups_in_row() + group)] != 0;
    }
  }
  return coverage;
}

/// The share of a tensor's groups, in the given rows, that differ in a code or in the scale.
double changed_groups(const TernaryMatrix& a, const TernaryMatrix& b,
                      const std::vector<std::int64_t>& rows) {
  const std::int64_t groups = a.groups_in_row();
  std::int64_t changed = 0;
  for (const std::int64_t row : rows)
    for (std::int64_t g = 0; g < groups; ++g) {
      const std::int64_t index = row * groups + g;
      const auto first = a.codes.begin() + index * a.group();
      const bool same =
          a.scales[static_cast<std::size_t>(index)] == b.scales[static_cast<std::size_t>(index)] &&
          std::equal(first, first + a.group(), b.codes.begin() + index * a.group());
      changed += !same;
    }
  return static_cast<double>(changed) / static_cast<double>(std::ssize(rows) * groups);
}

/// Of a tensor's groups, those that training changes at least.
constexpr double kMoved = 0.5;

void checkpoint_format(Probe& probe, TrainingRun& run) {
  const Checkpoint& checkpoint = run.checkpoint(probe);
  const auto bits = 8.0 * static_cast<double>(checkpoint_bytes_of(checkpoint.model));
  probe.fact("bits a weight, all told", bits / static_cast<double>(weights_of(checkpoint.model)),
             "bits");
}

// absmean leaves 31 % of normal weights zero, a threshold of the mean 57 %.
void ternary_coverage(Probe& probe, TrainingRun& run) {
  const Checkpoint& checkpoint = run.checkpoint(probe);
  const std::vector<Tensor> tensors = tensors_of(checkpoint.model);
  Coverage all;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Coverage seen = coverage_of(checkpoint.matrices[i], trained_rows(run, i));
    all.codes += seen.codes;
    all.plus += seen.plus;
    all.minus += seen.minus;
    const std::string& name = tensors[i].name;
    if (!(seen.non_zero() >= 0.2 && seen.non_zero() <= 0.9))
      probe.fail(fmt::format("{}: {:.1f} % of the weights are not zero, want 20 to 90 %", name,
                             100 * seen.non_zero()));
    if (!(seen.live_groups >= 0.95 * seen.groups))
      probe.fail(fmt::format("{}: {:.0f} of {:.0f} groups have a scale, want 95 %", name,
                             seen.live_groups, seen.groups));
    if (!(std::min(seen.plus, seen.minus) >= 0.1 * (seen.plus + seen.minus)))
      probe.fail(fmt::format("{}: {:.0f} weights are positive and {:.0f} negative", name, seen.plus,
                             seen.minus));
  }
  probe.fact("zero weights", 100 * (1 - all.non_zero()), "%");
}

// One kind of tensor at a time gets its signs dealt anew in all layers, groups and zeros kept: the
// likelihood of hidden text must fall. A kind for which it does not might as well not have been
// trained. A single layer may do without one of its tensors: in a graded run of the reference
// layer 0 was 0.0005 nats a token better off without the signs of its Wq.
void every_tensor_matters(Probe& probe, TrainingRun& run) {
  const Checkpoint& checkpoint = run.checkpoint(probe);
  const std::vector<Tensor> tensors = tensors_of(checkpoint.model);
  const auto texts = first_tokens(run.text().hidden(), 2048);
  const double before = likelihood_of(run.network(probe), texts, run.threads()).mean();
  Rng rng = probe.begin_case("signs_dealt_anew");
  std::map<std::string, std::vector<std::size_t>> kinds;  // "layer 3 Wq" is of the kind "Wq"
  for (std::size_t i = 0; i < tensors.size(); ++i)
    kinds[tensors[i].name.substr(tensors[i].name.rfind(' ') + 1)].push_back(i);
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [kind, indices] : kinds) {
    Checkpoint spoilt = checkpoint;
    for (const std::size_t i : indices)
      for (std::int8_t& code : spoilt.matrices[i].codes)
        if (rng.chance(0.5)) code = static_cast<std::int8_t>(-code);
    const double rise = likelihood_of(Network(spoilt), texts, run.threads()).mean() - before;
    least = std::min(least, rise);
    if (!(rise > 0))
      probe.fail(
          fmt::format("{} in all layers: with random signs hidden text is {:.4f} nats a "
                      "token likelier",
                      kind, -rise));
  }
  probe.fact("least a kind of tensor is worth", least, "nats a token");
}

// Against the checkpoint of the same call with no tokens to learn from. Whoever draws other weights
// for that one differs everywhere, and passes.
void every_tensor_moved(Probe& probe, TrainingRun& run) {
  const Checkpoint& checkpoint = run.checkpoint(probe);
  TrainingRequest none = run.request();
  none.max_tokens = 0;
  const Checkpoint untrained = require_checkpoint(probe, none, train(probe, none));
  const std::vector<Tensor> tensors = tensors_of(checkpoint.model);
  double least = 1;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const double changed =
        changed_groups(untrained.matrices[i], checkpoint.matrices[i], trained_rows(run, i));
    least = std::min(least, changed);
    if (!(changed >= kMoved))
      probe.fail(fmt::format("{}: training changed {:.1f} % of its groups, want {:.0f} %",
                             tensors[i].name, 100 * changed, 100 * kMoved));
  }
  probe.fact("least of a tensor's groups changed", 100 * least, "%");
}

}  // namespace

std::vector<Check> checkpoint_checks(const std::shared_ptr<TrainingRun>& run) {
  using enum Section;
  using enum Severity;
  return {
      {{"checkpoint_format", "files that are longer, shorter or not ternary", correctness, 3,
        critical},
       with_run(run, checkpoint_format)},
      {{"ternary_coverage", "tensors that are empty, of one sign or hardly ternary", correctness, 1,
        major},
       with_run(run, ternary_coverage)},
      {{"every_tensor_matters", "tensors that training skipped or export lost", correctness, 1,
        major},
       with_run(run, every_tensor_matters)},
      {{"every_tensor_moved", "tensors left as they were drawn", correctness, 1, major},
       with_run(run, every_tensor_moved)},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
