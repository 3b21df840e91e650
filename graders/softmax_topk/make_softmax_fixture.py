"""Writes softmax_fixture.h: softmax and top-k of a few rows, by NumPy's own logaddexp and stable
argsort. Needs NumPy. Run it here:  python3 make_softmax_fixture.py
"""

import platform
import textwrap

import numpy as np


def number(value):
    if np.isneginf(value):
        return "-kInf"
    return repr(float(value))


def listing(values):
    text = "{" + ", ".join(values) + "}"
    return "\n        ".join(textwrap.wrap(text, 96))


def case(name, logits, scale, k):
    logits = np.asarray(logits, dtype=np.float32)
    scaled = np.float64(np.float32(scale)) * logits.astype(np.float64)
    order = np.argsort(-logits, kind="stable")[:k]
    lse = np.logaddexp.reduce(scaled)
    probs = np.zeros(k) if np.isneginf(lse) else np.exp(scaled[order] - lse)
    return (
        f'    {{.name = "{name}", .scale = {float(np.float32(scale))!r}f, .lse = {number(lse)},\n'
        f"     .logits = {listing(number(z) for z in logits)},\n"
        f"     .indices = {listing(str(i) for i in order)},\n"
        f"     .probs = {listing(number(p) for p in probs)}}},\n"
    )


def main():
    rng = np.random.default_rng(7)
    normal = rng.normal(0, 3, 60)
    ties = rng.integers(-3, 3, 50) / 4
    zeros = np.where(rng.random(20) < 0.5, 0.0, -0.0)
    masked = np.where(rng.random(40) < 0.7, -np.inf, rng.normal(0, 2, 40))
    cases = [
        case("normal", normal, 1, 20),
        case("hot", normal, 0.3, 60),
        case("ties", ties, 1, 25),
        case("signed zeros", zeros, 2, 7),
        case("masked", masked, 1, 30),
        case("nothing but masked", np.full(9, -np.inf), 1, 4),
        case("far below zero", rng.normal(-5000, 4, 30), 1, 10),
        case("beyond exp", rng.normal(900, 60, 30), 1, 30),
    ]
    with open("softmax_fixture.h", "w") as out:
        out.write(
            f"// Written by make_softmax_fixture.py with NumPy {np.__version__}, "
            f"Python {platform.python_version()}.\n"
            "#pragma once\n\n#include <cstdint>\n#include <limits>\n#include <vector>\n\n"
            "struct SoftmaxFixture {\n"
            "  const char* name;\n  float scale;\n  double lse;\n"
            "  std::vector<double> logits;  // floats\n"
            "  std::vector<std::int32_t> indices;\n  std::vector<double> probs;\n};\n\n"
            "constexpr double kInf = std::numeric_limits<double>::infinity();\n\n"
            "// clang-format off\n"
            "static const std::vector<SoftmaxFixture> kSoftmaxFixtures{\n"
            + "".join(cases)
            + "};\n// clang-format on\n"
        )


main()
