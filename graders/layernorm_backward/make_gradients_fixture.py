"""Writes gradients_fixture.h: layer normalisation and its gradients to 17 digits, by no formula for gradients.

The loss sum(dy * y) is differentiated numerically in 80-digit decimals: central differences with a
step of 1e-20 err by 1e-40. Needs nothing but Python 3. Run it here:  python3 make_gradients_fixture.py
"""

import random
import struct
import textwrap
from decimal import Decimal, getcontext

getcontext().prec = 80
STEP = Decimal(10) ** -20


def to_float32(value):
    return struct.unpack("f", struct.pack("f", value))[0]


def forward(x, gamma, beta, eps):
    y = []
    for row in x:
        mean = sum(row) / len(row)
        variance = sum((v - mean) ** 2 for v in row) / len(row)
        root = (variance + eps).sqrt()
        y.append([g * (v - mean) / root + b for v, g, b in zip(row, gamma, beta)])
    return y


def derivative(loss, values, index):
    keep = values[index]
    values[index] = keep + STEP
    above = loss()
    values[index] = keep - STEP
    below = loss()
    values[index] = keep
    return (above - below) / (2 * STEP)


def gradients(x, gamma, beta, dy, eps):
    def loss():
        y = forward(x, gamma, beta, eps)
        return sum(a * b for ys, dys in zip(y, dy) for a, b in zip(ys, dys))

    return {
        "y": sum(forward(x, gamma, beta, eps), []),
        "dx": [derivative(loss, row, j) for row in x for j in range(len(row))],
        "dgamma": [derivative(loss, gamma, j) for j in range(len(gamma))],
        "dbeta": [derivative(loss, beta, j) for j in range(len(beta))],
    }


def field(key, values):
    text = "." + key + " = {" + ", ".join(repr(float(v)) for v in values) + "}"
    indent = " " * 5
    return textwrap.fill(text, 98, initial_indent=indent, subsequent_indent=indent + "   ")


def case(name, rows, cols, mean, deviation, eps, seed):
    rng = random.Random(seed)
    draw = lambda m, d: Decimal(to_float32(rng.gauss(m, d)))
    x = [[draw(mean, deviation) for _ in range(cols)] for _ in range(rows)]
    dy = [[draw(0.3, 1) for _ in range(cols)] for _ in range(rows)]
    gamma = [draw(1, 1) for _ in range(cols)]
    beta = [draw(0, 1) for _ in range(cols)]
    lists = {"x": sum(x, []), "dy": sum(dy, []), "gamma": gamma, "beta": beta}
    lists.update(gradients(x, gamma, beta, dy, Decimal(eps)))
    fields = ",\n".join(field(key, values) for key, values in lists.items())
    return f'    {{.name = "{name}", .rows = {rows}, .cols = {cols}, .eps = {eps!r},\n{fields}}},\n'


def main():
    cases = (
        case("ordinary", 3, 7, 0.5, 1.5, 1e-5, 1)
        + case("far from zero", 2, 5, 3e4, 1.0, 1e-5, 2)
        + case("variance like eps", 2, 6, 0.0, 2e-3, 3e-6, 3)
        + case("one column", 2, 1, 1.0, 1.0, 1e-5, 4)
    )
    with open("gradients_fixture.h", "w", encoding="ascii") as out:
        out.write(
            "// Written by make_gradients_fixture.py.\n#pragma once\n\n#include <cstdint>\n#include <vector>\n\n"
            "struct GradientFixture {\n  const char* name;\n  std::int64_t rows;\n"
            "  std::int64_t cols;\n  double eps;\n"
            "  std::vector<double> x, dy, gamma, beta;  // floats\n"
            "  std::vector<double> y, dx, dgamma, dbeta;\n};\n\n"
            "// clang-format off\nstatic const std::vector<GradientFixture> kGradientFixtures{\n"
            + cases
            + "};\n// clang-format on\n"
        )


main()
