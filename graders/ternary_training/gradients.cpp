#include "gradients.h"

#include <cmath>

#include "quantizer.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

constexpr double kRoundoff = 0x1p-24;

/// What remains of a sum whose terms underflow.
constexpr double kSmallest = 0x1p-126;

Sums no_sums(std::int64_t count, std::int64_t terms) {
  const auto size = static_cast<std::size_t>(count);
  return {std::vector<double>(size), std::vector<double>(size), terms};
}

void add(Sums& sums, std::int64_t at, double a, double b) {
  sums.value[static_cast<std::size_t>(at)] += a * b;
  sums.size[static_cast<std::size_t>(at)] += std::abs(a * b);
}

}  // namespace

std::vector<double> Sums::allowed() const {
  std::vector<double> allowed;
  for (const double sum : size)
    allowed.push_back(static_cast<double>(terms + 3) * kRoundoff * sum + kSmallest);
  return allowed;
}

LinearAnswer linear_answer(const LinearProblem& problem) {
  const auto& [rows, columns, group, count, weight, x, output_gradient] = problem;
  const TernaryMatrix matrix = quantized(weight, rows, columns, group);
  LinearAnswer answer{no_sums(count * rows, columns), no_sums(count * columns, rows),
                      no_sums(rows * columns, count)};
  for (std::int64_t i = 0; i < count; ++i)
    for (std::int64_t r = 0; r < rows; ++r) {
      const double dy = output_gradient[static_cast<std::size_t>(i * rows + r)];
      for (std::int64_t c = 0; c < columns; ++c) {
        const double input = x[static_cast<std::size_t>(i * columns + c)];
        const double w = matrix.weight(r, c);
        add(answer.y, i * rows + r, w, input);
        add(answer.input_gradient, i * columns + c, w, dy);
        add(answer.weight_gradient, r * columns + c, dy, input);
      }
    }
  return answer;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
