#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint.h"
#include "gradients.h"
#include "harness/grading/probe.h"
#include "lesson.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// How a function that is no training is called.
struct Manner {
  int threads = 2;
  Placement placement{64, 0};  // of every array; min_align is the alignment it really gives
};

/// Latent weights to be quantised.
struct QuantizeProblem {
  std::int64_t rows = 1;
  std::int64_t columns = 4;
  std::int64_t group = 4;
  std::vector<float> weight;
};

/// Calls with everything named, ready to run. What they read must outlive them.
struct QuantizeCall {
  QuantizeCall(const QuantizeProblem& problem, const Manner& manner);
  Call<TernaryQuantizeArgs> call{"ternary_quantize"};
  std::optional<Output<std::uint8_t>> codes;
  std::optional<Output<std::uint16_t>> scales;
};
struct GradientCall {
  GradientCall(const LinearProblem& problem, const Manner& manner);
  Call<TernaryLinearGradientArgs> call{"ternary_linear_gradient"};
  std::optional<Output<float>> y, input_gradient, weight_gradient;
};
struct ForwardCall {
  ForwardCall(const std::vector<std::uint8_t>& checkpoint, const Text& token, std::int64_t vocab,
              const Manner& manner);
  Call<TernaryForwardArgs> call{"ternary_forward"};
  std::optional<Output<float>> logits;
};

/// What is wrong with an answer; nothing when it is right.
struct Fault {
  std::string summary;
  std::vector<std::string> evidence;
  std::optional<Miss> miss;
};
std::optional<Fault> fault_in(const QuantizeProblem& problem, const TernaryMatrix& want,
                              const QuantizeCall& answer);

/// Which of a linear layer's three results a check looks at.
enum class Part { y, input_gradient, weight_gradient };
std::optional<Fault> fault_in(const LinearProblem& problem, const LinearAnswer& want,
                              const GradientCall& answer, Part part);

/// Runs the call, which must succeed, and demands the right answer.
void require_quantized(Probe& probe, const QuantizeProblem& problem, const Manner& manner = {});
void require_gradient(Probe& probe, const LinearProblem& problem, Part part,
                      const Manner& manner = {});
void require_logits(Probe& probe, const Checkpoint& checkpoint, const Text& token,
                    const Manner& manner = {});

/// Ends the check with a fault.
[[noreturn]] void fail(Probe& probe, Fault fault);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
