"""Writes jax_fixture.h: gradients of small attention problems by JAX's automatic differentiation, in
float64.

    pip install jax && python make_jax_fixture.py > jax_fixture.h

Without a softcap the forward pass is jax.nn.dot_product_attention with an explicit mask; with one, and
for the gradient of lse, it is written out. Queries that see nothing are left out of the loss. Inputs
are float32 numbers.
"""

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)
generator = np.random.default_rng(2024)


def draw(*shape):
    return generator.standard_normal(shape).astype(np.float32).astype(np.float64)


def visible(q_len, k_len, causal, window, start, length):
    place = np.arange(q_len)[:, None] + start + length - q_len
    key = np.arange(k_len)[None, :]
    seen = ((key >= start) & (key < start + length)).repeat(q_len, 0)
    if causal:
        seen &= key <= place
    if window[0] >= 0:
        seen &= key >= place - window[0]
    if window[1] >= 0:
        seen &= key <= place + window[1]
    return seen


def numbers(array):
    return "{" + ", ".join(repr(float(x)) for x in np.asarray(array).ravel()) + "}"


def case(name, q_heads, kv_heads, q_len, k_len, dim, value_dim, causal=False, window=(-1, -1), start=0,
         length=None, scale=0.6, softcap=0.0, dlse=False):
    length = k_len - start if length is None else length
    scale = float(np.float32(scale))
    q, k, v = draw(q_heads, q_len, dim), draw(kv_heads, k_len, dim), draw(kv_heads, k_len, value_dim)
    dout = draw(q_heads, q_len, value_dim)
    dl = draw(q_heads, q_len) if dlse else np.zeros((q_heads, q_len))
    seen = visible(q_len, k_len, causal, window, start, length)
    some = seen.any(1)
    group = q_heads // kv_heads

    def loss(q, k, v):
        keys, values = jnp.repeat(k, group, 0), jnp.repeat(v, group, 0)
        scores = scale * q[:, some] @ keys.swapaxes(1, 2)
        if softcap:
            scores = softcap * jnp.tanh(scores / softcap)
        masked = jnp.where(seen[some], scores, -jnp.inf)
        if softcap or dim != value_dim:
            o = jax.nn.softmax(masked, -1) @ values
        else:
            rows = [x.swapaxes(0, 1)[None] for x in (q[:, some], keys, values)]
            o = jax.nn.dot_product_attention(*rows, mask=seen[some][None, None], scale=scale)
            o = o[0].swapaxes(0, 1)
        lse = jax.nn.logsumexp(masked, -1)
        return (o * dout[:, some]).sum() + (lse * dl[:, some]).sum()

    dq, dk, dv = jax.grad(loss, (0, 1, 2))(q, k, v)
    print("    {" + ", ".join([f'"{name}"', f"{{1, {q_heads}, {kv_heads}, {q_len}, {k_len}, {dim}, {value_dim}}}",
                               str(causal).lower(), str(window[0]), str(window[1]), str(start), str(length),
                               repr(scale), repr(softcap)]) + ",")
    parts = [q, k, v, dout, dl if dlse else dl[:0], dq, dk, dv]
    print("     " + ",\n     ".join(numbers(x) for x in parts) + "},")


print("""#pragma once

#include <vector>

#include "problem.h"

// Written by make_jax_fixture.py with JAX VERSION.
// clang-format off
struct JaxCase {
  const char* name;
  gauntlet::GAUNTLET_CHALLENGE::Sizes sizes;
  bool causal;
  std::int64_t window_left, window_right;
  std::int32_t kv_start, kv_len;
  double scale, softcap;
  std::vector<double> q, k, v, dout, dlse, dq, dk, dv;
};

inline const std::vector<JaxCase> kJaxCases{""".replace("VERSION", jax.__version__))
case("full", 1, 1, 3, 4, 3, 2)
case("square heads", 2, 2, 4, 5, 3, 3)
case("groups", 4, 2, 2, 3, 2, 2)
case("causal, more keys", 2, 1, 3, 5, 2, 3, causal=True)
case("causal, more queries", 1, 1, 5, 3, 2, 2, causal=True)
case("window", 1, 1, 6, 6, 2, 2, window=(1, 2))
case("padded on both sides", 1, 1, 4, 7, 2, 2, causal=True, start=2, length=4)
case("softcap", 2, 2, 3, 4, 2, 2, softcap=1.5)
case("gradient of lse", 1, 1, 4, 4, 3, 2, causal=True, dlse=True)
print("};")
