// SPDX-License-Identifier: Apache-2.0
// The mathematical functions of our headers, against this machine's library in long double.
#include <cmath>
#include <doctest/doctest.h>
#include <functional>
#include <limits>

#include "harness/core/rng.h"
#include "tests/simt/compiled.h"

using namespace gauntlet;
using namespace gauntlet::simt;

namespace {

using Real = long double;

struct Function {
  const char* name;
  std::function<Real(Real, Real)> value;
  double most_ulps;         // of double precision; those of single precision are within 0.51,
  double most_single_ulps;  // but for a few
};

// In the order of kernels/functions.cu.
const std::vector<Function> kFunctions{
    {"exp", [](Real a, Real) { return std::exp(a); }, 2, 2},
    {"exp2", [](Real a, Real) { return std::exp2(a); }, 2, 2},
    {"expm1", [](Real a, Real) { return std::expm1(a); }, 4, 0.51},
    {"log", [](Real, Real b) { return std::log(b); }, 2, 2},
    {"log2", [](Real, Real b) { return std::log2(b); }, 3, 2},
    {"log10", [](Real, Real b) { return std::log10(b); }, 3, 0.51},
    {"log1p", [](Real, Real b) { return std::log1p(b); }, 3, 0.51},
    {"pow", [](Real a, Real b) { return std::pow(b, a); }, 4, 0.51},
    {"sin", [](Real a, Real) { return std::sin(a); }, 2, 0.51},
    {"cos", [](Real a, Real) { return std::cos(a); }, 2, 0.51},
    {"tan", [](Real a, Real) { return std::tan(a); }, 4, 0.51},
    {"atan", [](Real a, Real) { return std::atan(a); }, 2, 0.51},
    {"atan2", [](Real a, Real b) { return std::atan2(a, b); }, 3, 0.51},
    {"sinh", [](Real a, Real) { return std::sinh(a); }, 4, 0.51},
    {"cosh", [](Real a, Real) { return std::cosh(a); }, 3, 0.51},
    {"tanh", [](Real a, Real) { return std::tanh(a); }, 4, 0.51},
    {"cbrt", [](Real a, Real) { return std::cbrt(a); }, 4, 0.51},
    {"sqrt", [](Real, Real b) { return std::sqrt(b); }, 0.5, 0.5},
    {"fmod", [](Real a, Real b) { return std::fmod(a, b); }, 0, 0},
    {"hypot", [](Real a, Real b) { return std::hypot(a, b); }, 2, 0.51},
    {"erf", [](Real a, Real) { return std::erf(a); }, 16, 0.51},
    {"floor", [](Real a, Real) { return std::floor(a); }, 0, 0},
    {"round", [](Real a, Real) { return std::round(a); }, 0, 0},
    {"rint", [](Real a, Real) { return std::rint(a); }, 0, 0},
};

template <class T>
double ulps_apart(T got, Real wanted) {
  const T near = T(wanted);
  if (std::isnan(wanted)) return std::isnan(got) ? 0 : INFINITY;
  if (std::isinf(near) || std::isinf(got)) return got == near ? 0 : INFINITY;
  int exponent = 0;
  std::frexp(near, &exponent);
  const int least = std::numeric_limits<T>::min_exponent;
  const Real ulp = std::ldexp(Real(1), std::max(exponent, least) - std::numeric_limits<T>::digits);
  return double(std::fabs(got - wanted) / ulp);
}

template <class T>
void compare(const std::string& before) {
  const CudaProduct code = compiled(before + kernel_source("functions"));
  INFO(code.messages);
  REQUIRE_FALSE(code.bytes.empty());
  SimulatedDevice device(code.bytes);
  const std::size_t n = 4096;
  Rng rng(13);
  std::vector<T> x(n), y(n);
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = T(rng.normal() * std::exp2(rng.uniform(-20, 6)));
    y[i] = T(std::fabs(rng.normal()) * std::exp2(rng.uniform(-20, 6)));
  }
  const T special[] = {0,   T(-0.0), 1,    -1,        0.5,      2.5,       -3.5, 88,
                       -88, 700,     -700, T(1e-300), INFINITY, -INFINITY, NAN};
  for (std::size_t i = 0; i < std::size(special); ++i)
    x[i] = special[i], y[i] = std::fabs(special[i]);
  x[20] = -std::numeric_limits<T>::denorm_min();
  x[21] = y[22] = std::numeric_limits<T>::denorm_min();
  y[20] = std::numeric_limits<T>::max() / 4;  // sin and its like are not asked so far out
  const auto px = device.put(x), py = device.put(y);
  const auto pout = device.put(std::vector<T>(n * kFunctions.size()));
  const LaunchResult got = device.launch({{n / 128, 1, 1}, {128, 1, 1}}, px, py, pout, int(n));
  INFO(all_texts(got));
  CHECK(got.diagnostics.empty());
  const std::vector<T> out = device.get<T>(pout);
  for (std::size_t f = 0; f < kFunctions.size(); ++f) {
    double worst = 0;
    std::size_t where = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double ulps = ulps_apart(out[f * n + i], kFunctions[f].value(x[i], y[i]));
      if (!(ulps <= worst)) worst = ulps, where = i;
    }
    const double most = sizeof(T) == 4 ? kFunctions[f].most_single_ulps : kFunctions[f].most_ulps;
    CHECK_MESSAGE(worst <= most, std::string(kFunctions[f].name), " is ", worst, " units off at ",
                  double(x[where]), ", ", double(y[where]), ": ", double(out[f * n + where]));
  }
}

}  // namespace

TEST_CASE("mathematical functions are as near as their header says") {
  if (!have_compiler()) return;
  compare<double>("");
  compare<float>("#define FLOAT\n");
}
