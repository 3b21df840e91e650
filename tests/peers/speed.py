#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How fast the references are beside PyTorch and ggml, for docs/peers.md: one run, laps in turns.

  tests/peers/speed.py [CASE...] [--rounds N] [--beside FOLDER] [--policies]

Every contestant is a process of its own that is stopped while the others run, so that no thread
that waits awake takes time from another's lap. Laps go through copies of their data in turns, so
that it comes from memory. What counts is the median over rounds of the ratio of two laps of the
same round.

It needs g++ for the references; peers are those whose wheels are installed, and the others are
skipped by name: pip install torch numpy ggml-python.
"""
import argparse
import ctypes
import importlib.metadata
import importlib.util
import itertools
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
THREADS = len(os.sched_getaffinity(0))
FROM_MEMORY = 96 << 20  # bytes that laps go through in turns: three times our last-level cache
FLAGS = ["-std=c++20", "-O3", "-march=native", "-fPIC", "-shared", "-fopenmp", "-pthread"]
STORED = {"f32": 0, "int8": 1, "int4": 2}
PAGE = 16

# Heads are those of keys and values, each of which `queries` heads share. Of a tree either every
# node is right (chain: every row is read) or the first of 63 leaves (star: two rows are).
CASES = {
    "decode_timed": dict(sequences=4, tokens=1536, heads=2, queries=4, dim=128),
    "decode_llama_8b": dict(sequences=1, tokens=8192, heads=8, queries=4, dim=128),
    "decode_ungrouped": dict(sequences=4, tokens=1024, heads=16, queries=1, dim=64),
    "append": dict(sequences=4, tokens=1024, heads=2, dim=128),
    "one_tree": dict(nodes=63, vocab=128256),
}
RUNS = [("decode_timed", "f32"), ("decode_timed", "int8"), ("decode_timed", "int4"),
        ("decode_llama_8b", "f32"), ("decode_llama_8b", "int8"), ("decode_llama_8b", "int4"),
        ("decode_ungrouped", "f32"), ("decode_ungrouped", "int8"), ("decode_ungrouped", "int4"),
        ("append", "int8"), ("append", "int4"), ("one_tree", "chain"), ("one_tree", "star")]


def numbers(*extents):
    import numpy
    return numpy.random.default_rng(1).standard_normal(extents, dtype=numpy.float32)


# ---------------------------------------------------------------- the references, by ctypes

I32, I64, P = ctypes.c_int32, ctypes.c_int64, ctypes.c_void_p


def struct(*fields):
    return type("Struct", (ctypes.Structure,), {"_fields_": fields})


Shape = struct(*[(n, I32) for n in ("abi", "size", "device", "threads", "stored", "align")],
               ("stream", P),
               *[(n, I64) for n in ("kv_heads", "key_dim", "value_dim", "page_tokens", "group",
                                    "pages", "sequences", "table_width")])
STATE = [("pool", P), ("table", P), ("lengths", P)]
Append = struct(("shape", Shape), *STATE, ("refs", P), ("count", I64),
                *[(n, P) for n in ("which", "start", "k", "v")])
Attend = struct(("shape", Shape), *STATE, ("count", I64),
                *[(n, P) for n in ("which", "start", "key_begin", "key_end")],
                ("q_heads", I64), ("window", I64), ("scale", ctypes.c_float), ("reserved", I32),
                *[(n, P) for n in ("q", "out", "lse")])
Verify = struct(*[(n, I32) for n in ("abi", "size", "device", "threads", "align", "reserved")],
                ("stream", P), *[(n, I64) for n in ("trees", "vocab", "num_eos", "stride")],
                *[(n, P) for n in ("start", "parent", "token", "eos", "max_emit", "logits", "emit",
                                   "path", "num_emit", "num_path")])


def aligned(size):
    import numpy
    raw = numpy.zeros(size + 64, numpy.uint8)
    return raw[-raw.ctypes.data % 64:][:size]


class Cache:
    """A cache of the reference, filled; pages lie in it in no order."""

    def __init__(self, library, case, stored):
        import numpy
        self.kv = library
        n, width = case["sequences"], case["tokens"] // PAGE
        self.shape = Shape(1, 0, 0, THREADS, STORED[stored], 64, None, case["heads"], case["dim"],
                           case["dim"], PAGE, case["dim"], n * width, n, width)
        page = self.kv.kv_page_bytes(ctypes.byref(self.shape))
        self.bytes = page * n * width
        self.pool = aligned(self.bytes)
        self.table = numpy.zeros((n, width), numpy.int32)
        self.lengths = numpy.zeros(n, numpy.int64)
        self.refs = numpy.zeros(n * width, numpy.int32)
        self.which = numpy.arange(n)
        self.start = numpy.arange(n + 1) * case["tokens"]
        rows = n * case["tokens"]
        self.k = numbers(rows, case["heads"], case["dim"])
        self.v = self.k[::-1].copy()
        self.append()
        self.shuffle(page)

    def shuffle(self, page):
        import numpy
        order = numpy.random.default_rng(2).permutation(len(self.refs))
        pool = self.pool.reshape(len(self.refs), page)
        pool[order] = pool.copy()
        self.table[:] = order[self.table]

    def append(self):
        self.lengths[:] = 0
        self.refs[:] = 0
        args = Append(self.shape, *[a.ctypes.data for a in (self.pool, self.table, self.lengths,
                                                            self.refs)], len(self.which),
                      *[a.ctypes.data for a in (self.which, self.start, self.k, self.v)])
        args.shape.size = ctypes.sizeof(Append)
        return microseconds(lambda: self.kv.kv_append(ctypes.byref(args)))

    def decode(self, queries):
        import numpy
        n, heads, dim = len(self.which), self.shape.kv_heads * queries, self.shape.key_dim
        q, out = numbers(n, heads, dim), numpy.zeros((n, heads, dim), numpy.float32)
        start = numpy.arange(n + 1)
        args = Attend(self.shape, *[a.ctypes.data for a in (self.pool, self.table, self.lengths)],
                      n, self.which.ctypes.data, start.ctypes.data, None, None, heads, -1,
                      dim ** -0.5, 0, q.ctypes.data, out.ctypes.data, None)
        args.shape.size = ctypes.sizeof(Attend)
        self.kept = q, out, start, args
        return lambda: microseconds(lambda: self.kv.kv_attend(ctypes.byref(args)))


def microseconds(call):
    """What a call takes that returns 0 or what is no number."""
    begin = time.perf_counter_ns()
    code = call()
    end = time.perf_counter_ns()
    if isinstance(code, int) and code != 0:
        raise RuntimeError(f"returned {code}")
    return (end - begin) / 1000


def reference_lap(library, name, form):
    import numpy
    case = CASES[name]
    library = ctypes.CDLL(library)
    if name != "one_tree":
        library.kv_page_bytes.restype = library.kv_append.restype = I64
        library.kv_attend.restype = I64
        cache = Cache(library, case, form)
        lap = cache.append if name == "append" else cache.decode(case["queries"])
        return lap, cache.bytes + (cache.k.nbytes * 2 if name == "append" else 0)
    library.dflash_verify.restype = I64
    rows, vocab = case["nodes"] + 1, case["vocab"]
    logits = numbers(rows, vocab)
    choices = logits.argmax(axis=1).astype(numpy.int32)
    chain = range(-1, case["nodes"] - 1)
    parent = numpy.array(chain if form == "chain" else [-1] * case["nodes"], numpy.int32)
    # Every node is what the target chooses after its parent; of a star only the first.
    token = choices[parent + 1].copy()
    if form == "star":
        token[1:] = -1
    start, most = numpy.array([0, case["nodes"]]), numpy.array([rows])
    outs = [numpy.zeros(rows, numpy.int32), numpy.zeros(rows, numpy.int32),
            numpy.zeros(1, numpy.int64), numpy.zeros(1, numpy.int64)]
    kept = [start, parent, token, numpy.zeros(1, numpy.int32), most, logits] + outs
    args = Verify(1, ctypes.sizeof(Verify), 0, THREADS, 4, 0, None, 1, vocab, 0, vocab,
                  *[a.ctypes.data for a in kept])

    def lap():
        return microseconds(lambda: (kept, library.dflash_verify(ctypes.byref(args)))[1])
    lap()
    path = rows if form == "chain" else 2
    if outs[2][0] != path:
        raise RuntimeError(f"emitted {outs[2][0]} tokens, want {path}")
    return lap, 4 * vocab * path


# ---------------------------------------------------------------- the peers

def pytorch_lap(name, form):
    import torch
    torch.set_num_threads(THREADS)
    torch.set_grad_enabled(False)
    case = CASES[name]
    if name == "one_tree":
        logits = torch.from_numpy(numbers(case["nodes"] + 1, case["vocab"]))
        rows = logits if form == "chain" else logits[:2]
        return lambda: microseconds(lambda: torch.argmax(rows, dim=1)), rows.nbytes
    n, tokens, heads, dim = (case[x] for x in ("sequences", "tokens", "heads", "dim"))
    if name == "append":
        return pytorch_append(n * tokens, heads, dim)
    attention = torch.nn.functional.scaled_dot_product_attention
    k = torch.from_numpy(numbers(n, heads, tokens, dim))
    v = k.flip(0).clone()
    q = torch.from_numpy(numbers(n, heads * case["queries"], 1, dim))
    grouped = case["queries"] > 1
    return lambda: microseconds(lambda: attention(q, k, v, enable_gqa=grouped)), \
        2 * k.nbytes


def pytorch_append(rows, heads, dim):
    """A step for each vector and codes of 8 bits, into arrays that are there."""
    import torch
    k = torch.from_numpy(numbers(rows, heads, dim))
    v = k.flip(0).clone()
    codes = torch.empty(2, rows, heads, dim, dtype=torch.int8)
    steps = torch.empty(2, rows, heads, 1)

    def append():
        for i, x in enumerate((k, v)):
            torch.mul(x.abs().amax(dim=-1, keepdim=True), 1 / 127, out=steps[i])
            codes[i].copy_((x * (1 / steps[i])).round_())
    return lambda: microseconds(append), 2 * (k.nbytes + codes[0].nbytes)


def ggml_lap(name, form):
    """Decoding from floats of 16 bits or from Q8_0, whose groups are of 32; appending as Q8_0."""
    import ggml
    case = CASES[name]
    n, tokens, heads, dim = (case[x] for x in ("sequences", "tokens", "heads", "dim"))
    kind = {"f32": ggml.GGML_TYPE_F32, "f16": ggml.GGML_TYPE_F16,
            "q8_0": ggml.GGML_TYPE_Q8_0}[form]
    room = 20 * n * tokens * heads * dim + (16 << 20)
    context = ggml.ggml_init(ggml.ggml_init_params(mem_size=room, mem_buffer=None))
    pool = ggml.ggml_threadpool_new(ctypes.byref(ggml.ggml_threadpool_params_default(THREADS)))
    backend = ggml.ggml_backend_cpu_init()
    ggml.ggml_backend_cpu_set_n_threads(backend, THREADS)
    ggml.ggml_backend_cpu_set_threadpool(backend, pool)

    def tensor(of, *extents):
        return ggml.ggml_new_tensor_4d(context, of, *extents)

    def filled(*extents):
        made = tensor(ggml.GGML_TYPE_F32, *extents)
        data = numbers(*extents)
        ctypes.memmove(ggml.ggml_get_data(made), data.ctypes.data, data.nbytes)
        return made

    def work(*results):
        graph = ggml.ggml_new_graph(context)
        for result in results:
            ggml.ggml_build_forward_expand(graph, result)
        return lambda: microseconds(lambda: ggml.ggml_backend_graph_compute(backend, graph))

    floats = [filled(dim, tokens, heads, n) for _ in "kv"]
    kept = [tensor(kind, dim, tokens, heads, n) for _ in "kv"]
    fill = work(*[ggml.ggml_cpy(context, x, y) for x, y in zip(floats, kept)])
    size = sum(map(ggml.ggml_nbytes, kept))
    if name == "append":
        return fill, size + sum(map(ggml.ggml_nbytes, floats))
    fill()
    q = filled(dim, 1, heads * case["queries"], n)
    return work(ggml.ggml_flash_attn_ext(context, q, *kept, None, dim ** -0.5, 0, 0)), size


# ---------------------------------------------------------------- laps in turns

def serve(kind, library, name, form, calls):
    make = {"pytorch": pytorch_lap, "ggml": ggml_lap}.get(
        kind, lambda *run: reference_lap(library, *run))
    laps, size = [], 0
    while len(laps) < 2 or size * len(laps) < FROM_MEMORY:
        lap, size = make(name, form)
        laps.append(lap)
    laps = itertools.cycle(laps)

    def lap():
        return next(laps)()
    try:  # ahead of other programs, as laps of a race are, where the system lets us
        for thread in os.listdir("/proc/self/task"):
            os.sched_setscheduler(int(thread), os.SCHED_RR, os.sched_param(1))
    except PermissionError:
        pass
    for _ in range(5):
        lap()
    print(size, flush=True)
    for _ in sys.stdin:
        lap()  # wakes the threads
        print(sorted(lap() for _ in range(calls))[calls // 2], flush=True)


class Contestant:
    def __init__(self, name, kind, run, library="", policy=None):
        environment = dict(os.environ)
        environment.pop("OMP_WAIT_POLICY", None)
        if policy:
            environment["OMP_WAIT_POLICY"] = policy
        self.name = name
        self.laps = []
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--serve", kind, str(library), *run], text=True,
            env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.bytes = int(self.process.stdout.readline())
        self.process.send_signal(signal.SIGSTOP)

    def lap(self):
        self.process.send_signal(signal.SIGCONT)
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        self.laps.append(float(self.process.stdout.readline()))
        self.process.send_signal(signal.SIGSTOP)

    def end(self):
        self.process.kill()
        self.process.wait()


def median_with_interval(values):
    """The median, and its 95 % interval by order statistics."""
    values = sorted(values)
    n = len(values)
    reach = int(0.98 * n ** 0.5) + 1
    return values[n // 2], values[max(0, n // 2 - reach)], values[min(n - 1, n // 2 + reach)]


def build(folder, challenge, into):
    library = Path(into) / f"{challenge}_{len(os.listdir(into))}.so"
    subprocess.run(["g++", *FLAGS, "-I", ROOT / "challenges" / challenge, "-o", library,
                    Path(folder) / challenge / "solution.cpp"], check=True)
    return library


def peers_of(name, form, installed):
    """Those who do the same work, or the nearest that they have."""
    peers = [("PyTorch", "pytorch", (name, form))] if "torch" in installed else []
    if "ggml" in installed and name != "one_tree":
        forms = ["q8_0"] if name == "append" else {"f32": ["f32", "f16"], "int8": ["f16", "q8_0"],
                                                    "int4": ["f16", "q8_0"]}[form]
        peers += [(f"ggml {one}", "ggml", (name, one)) for one in forms]
    return peers


def race(run, rounds, entrants):
    contestants = [Contestant(*entrant) for entrant in entrants]
    for i in range(rounds):
        for one in contestants if i % 2 else reversed(contestants):
            one.lap()
    for one in contestants:
        one.end()
    ours = contestants[0]
    time_us = median_with_interval(ours.laps)[0]
    print(f"{run[0]:17} {run[1]:6} {time_us:9.0f} us  {ours.bytes / time_us / 1000:6.1f} GB/s",
          end="")
    for peer in contestants[1:]:
        middle, low, high = median_with_interval([p / o for p, o in zip(peer.laps, ours.laps)])
        print(f"   {peer.name} / ours {middle:.2f} ({low:.2f}-{high:.2f})", end="")
    print(flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cases", nargs="*", metavar="CASE")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--beside", action="append", default=[], metavar="FOLDER",
                        help="another folder of references to compare with")
    parser.add_argument("--policies", action="store_true", help="ours under each OMP_WAIT_POLICY")
    options = parser.parse_args()
    installed = []
    for module, wheel in (("torch", "torch"), ("ggml", "ggml-python")):
        if importlib.util.find_spec(module):
            installed.append(module)
            print(wheel, importlib.metadata.version(wheel))
        else:
            print(f"{wheel} is not installed: skipped")
    with tempfile.TemporaryDirectory() as scratch:
        built = {}
        for run in RUNS:
            if options.cases and not {run[0], "_".join(run)} & set(options.cases):
                continue
            challenge = "dflash" if run[0] == "one_tree" else "kv_cache"
            for folder in [ROOT / "reference", *options.beside]:
                if (folder, challenge) not in built:
                    built[folder, challenge] = build(folder, challenge, scratch)
            library = built[ROOT / "reference", challenge]
            entrants = [("ours", "reference", run, library)]
            for folder in options.beside:
                entrants.append((Path(folder).name, "reference", run, built[folder, challenge]))
            if options.policies:
                entrants += [(p, "reference", run, library, p) for p in ("passive", "active")]
            race(run, options.rounds, entrants + peers_of(*run, installed))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(*sys.argv[2:6], calls=5)
    else:
        main()
