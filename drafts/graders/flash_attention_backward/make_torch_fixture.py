"""Writes torch_fixture.h: gradients of small attention problems by PyTorch's autograd, in float64.

    pip install torch && python make_torch_fixture.py > torch_fixture.h

Without a softcap the forward pass is torch.nn.functional.scaled_dot_product_attention with an explicit
mask; with one, and for the gradient of lse, it is written out. Queries that see nothing get NaN from
PyTorch: the loss leaves them out. Made with torch 2.4.1 on the CPU; inputs are float32 numbers.
"""

import torch

torch.manual_seed(2024)
double = torch.float64


def draw(*shape):
    return torch.randn(*shape, dtype=torch.float32).to(double)


def visible(q_len, k_len, causal, window, start, length):
    place = torch.arange(q_len)[:, None] + start + length - q_len
    key = torch.arange(k_len)[None, :]
    seen = ((key >= start) & (key < start + length)).repeat(q_len, 1)
    if causal:
        seen &= key <= place
    if window[0] >= 0:
        seen &= key >= place - window[0]
    if window[1] >= 0:
        seen &= key <= place + window[1]
    return seen


def numbers(tensor):
    return "{" + ", ".join(repr(x) for x in tensor.flatten().tolist()) + "}"


def case(name, q_heads, kv_heads, q_len, k_len, dim, value_dim, causal=False, window=(-1, -1), start=0,
         length=None, scale=0.6, softcap=0.0, dlse=False):
    length = k_len - start if length is None else length
    scale = torch.tensor(scale, dtype=torch.float32).item()
    q, k, v = draw(q_heads, q_len, dim), draw(kv_heads, k_len, dim), draw(kv_heads, k_len, value_dim)
    dout = draw(q_heads, q_len, value_dim)
    dl = draw(q_heads, q_len) if dlse else torch.zeros(q_heads, q_len, dtype=double)
    for tensor in (q, k, v):
        tensor.requires_grad_()
    seen = visible(q_len, k_len, causal, window, start, length)
    some = seen.any(1)
    group = q_heads // kv_heads
    keys, values = k.repeat_interleave(group, 0), v.repeat_interleave(group, 0)
    scores = scale * q @ keys.transpose(1, 2)
    if softcap:
        scores = softcap * torch.tanh(scores / softcap)
    lse = torch.logsumexp(scores.masked_fill(~seen, -torch.inf)[:, some], -1)
    if softcap:
        o = torch.softmax(scores.masked_fill(~seen, -torch.inf)[:, some], -1) @ values
    else:
        o = torch.nn.functional.scaled_dot_product_attention(
            q[None, :, some], keys[None], values[None], attn_mask=seen[some], scale=scale)[0]
    loss = (o * dout[:, some]).sum() + (lse * dl[:, some]).sum()
    dq, dk, dv = torch.autograd.grad(loss, (q, k, v))
    print("    {" + ", ".join([f'"{name}"', f"{{1, {q_heads}, {kv_heads}, {q_len}, {k_len}, {dim}, {value_dim}}}",
                               str(causal).lower(), str(window[0]), str(window[1]), str(start), str(length),
                               repr(scale), repr(softcap)]) + ",")
    parts = [q, k, v, dout, dl if dlse else dl[:0], dq, dk, dv]
    print("     " + ",\n     ".join(numbers(x.detach()) for x in parts) + "},")


print("""#pragma once

#include <vector>

#include "problem.h"

// Written by make_torch_fixture.py.
// clang-format off
struct TorchCase {
  const char* name;
  gauntlet::GAUNTLET_CHALLENGE::Sizes sizes;
  bool causal;
  std::int64_t window_left, window_right;
  std::int32_t kv_start, kv_len;
  double scale, softcap;
  std::vector<double> q, k, v, dout, dlse, dq, dk, dv;
};

inline const std::vector<TorchCase> kTorchCases{""")
case("full", 1, 1, 3, 4, 3, 2)
case("groups", 4, 2, 2, 3, 2, 2)
case("causal, more keys", 2, 1, 3, 5, 2, 3, causal=True)
case("causal, more queries", 1, 1, 5, 3, 2, 2, causal=True)
case("window", 1, 1, 6, 6, 2, 2, window=(1, 2))
case("padded on both sides", 1, 1, 4, 7, 2, 2, causal=True, start=2, length=4)
case("softcap", 2, 2, 3, 4, 2, 2, softcap=1.5)
case("gradient of lse", 1, 1, 4, 4, 3, 2, causal=True, dlse=True)
print("};")
