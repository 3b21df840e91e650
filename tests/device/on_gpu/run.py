#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the CUDA solutions, honest variants and mutants of the graders on a GPU.

    tests/device/on_gpu/run.py [--json FILE] [--page FILE] [--runs 20] [--only NAME ...]

For a machine with a GPU, nvcc and compute-sanitizer, and Python with NumPy and PyYAML. Each program
is compiled by nvcc with a host of this folder, run on the same cases, and judged by the formulas of
the contract in double precision. It answers three questions about a grader that knows no GPU:

    do right solutions compile with nvcc, and are they right on a GPU?    they have to
    how many mutants does a GPU show by wrong or changing results?
    how many do the tools of compute-sanitizer show?

Ends with 1 where a right solution is not right.
"""

import argparse
import concurrent.futures
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[3]
HERE = pathlib.Path(__file__).resolve().parent
# What the prompts promise; the driver assembles it for the GPU that there is.
ARCHITECTURE = "compute_80"
TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")


# ---- what is run ------------------------------------------------------------------------------


def programs(challenge, work):
    """(kind, name, folder with solution.cu, checks that kill it) of everything that there is."""
    found = []

    def laid(kind, name, folder, main, killed_by=()):
        place = work / challenge / f"{kind}-{name}"
        shutil.copytree(folder, place)
        text = (place / main).read_text()
        if main != "solution.cu":
            (place / main).unlink()
        for other in place.glob("*.cu"):
            other.unlink()
        (place / "solution.cu").write_text(text)
        found.append((kind, name, place, list(killed_by)))
        return place / "solution.cu"

    laid("right", "reference", ROOT / "reference" / f"{challenge}@cuda", "solution.cu")
    laid("right", "textbook", ROOT / "submissions/textbook" / f"{challenge}@cuda", "solution.cu")
    cuda = ROOT / "graders" / challenge / "cuda"
    for variant in sorted((cuda / "honest").glob("*.cu")):
        laid("right", variant.stem, cuda / "honest", variant.name)
    laid(
        "sample with faults",
        "hasty",
        ROOT / "submissions/hasty" / f"{challenge}@cuda",
        "solution.cu",
    )
    for mutant in yaml.safe_load((cuda / "mutants.yaml").read_text())["mutants"]:
        source = cuda / (mutant.get("file") or mutant["base"])
        solution = laid("mutant", mutant["name"], source.parent, source.name, mutant["killed_by"])
        edits = mutant.get("edits") or ([mutant] if "replace" in mutant else [])
        for edit in edits:
            text = solution.read_text()
            if text.count(edit["replace"]) != 1:
                sys.exit(f"{mutant['name']}: {source} does not hold once what is to be replaced")
            solution.write_text(text.replace(edit["replace"], edit["with"]))
    return found


def built(program, challenge):
    folder = program[2]
    command = [
        "nvcc",
        "-std=c++17",
        "-O3",
        "-lineinfo",
        f"-arch={ARCHITECTURE}",
        "-w",
        "-I",
        ROOT / "challenges" / challenge,
        "-I",
        HERE,
        "-I",
        folder,
        HERE / f"{challenge}.cu",
        folder / "solution.cu",
        *folder.glob("*.cpp"),
        "-o",
        folder / "program",
    ]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    return "" if done.returncode == 0 else (done.stderr + done.stdout).strip()


# ---- on what, and what is right -----------------------------------------------------------------


class SoftmaxTopk:
    cases = {
        "short rows": dict(rows=300, vocab=100, k=7),
        "one row": dict(rows=1, vocab=50257, k=40),
        "some rows": dict(rows=64, vocab=32000, k=50),
        "many winners": dict(rows=6, vocab=9000, k=1024),
        "all winners": dict(rows=3, vocab=4500, k=4500),
        "ties and lengths": dict(rows=33, vocab=1000, k=33, ties=True, lengths=True, pad=5),
        "a long row": dict(rows=2, vocab=700001, k=16, scale=0.7),
    }
    small = "ties and lengths"

    @staticmethod
    def make(file, rows, vocab, k, ties=False, lengths=False, pad=0, scale=1.0):
        rng = np.random.default_rng(rows * 1000003 + vocab)
        logits = rng.normal(size=(rows, vocab + pad)).astype(np.float32) * 4
        if ties:
            logits = np.round(logits)
            logits[:, ::7] = -np.inf
        valid = rng.integers(0, vocab + 1, rows) if lengths else np.zeros(0, np.int64)
        sizes = np.array([rows, vocab, k, vocab + pad, len(valid)], np.int64)
        file.write_bytes(
            sizes.tobytes() + np.float32(scale).tobytes() + logits.tobytes() + valid.tobytes()
        )
        length = valid if lengths else np.full(rows, vocab)
        return dict(logits=logits[:, :vocab], length=length, k=k, scale=float(np.float32(scale)))

    @staticmethod
    def one_run(given):
        rows, k = len(given["length"]), given["k"]
        return [
            ("status", np.int64, 1),
            ("indices", np.int32, rows * k),
            ("probs", np.float32, rows * k),
            ("lse", np.float32, rows),
            ("row_max", np.float32, rows),
        ]

    @staticmethod
    def fault(given, got):
        k, scale = given["k"], given["scale"]
        indices = got["indices"].reshape(-1, k)
        probs = got["probs"].astype(np.float64).reshape(-1, k)
        for row, length in enumerate(given["length"]):
            z = given["logits"][row, :length]
            order = np.argsort(-z.astype(np.float64), kind="stable")[:k]
            wanted = np.concatenate([order, np.full(k - len(order), -1)])
            if not np.array_equal(indices[row], wanted):
                return f"indices of row {row}"
            scaled = scale * z.astype(np.float64)
            top = scaled.max() if length else -np.inf
            if not np.isfinite(top):
                lse, p = -np.inf, np.zeros(len(order))
            else:
                lse = top + np.log(np.exp(scaled - top).sum())
                p = np.exp(scaled[order] - lse)
            if np.isfinite(lse):
                if abs(got["lse"][row] - lse) > 4e-6 * (1 + abs(lse)):
                    return f"lse of row {row}"
            elif got["lse"][row] != lse:
                return f"lse of row {row}"
            bound = 4e-6 * (2 + np.abs(np.where(p > 0, scaled[order] - top, 0)) + 5) * p + 2.0**-126
            if np.any(np.abs(probs[row, : len(p)] - p) > bound) or np.any(
                probs[row, len(p) :] != 0
            ):
                return f"probs of row {row}"
        return ""


class LayernormBackward:
    cases = {
        "short rows": dict(rows=1000, cols=48),
        "some rows": dict(rows=64, cols=1024),
        "ragged": dict(rows=37, cols=1001, pad=3),
        "long rows": dict(rows=5, cols=20011),
        "many rows": dict(rows=20000, cols=130),
        "one column": dict(rows=70, cols=1),
    }
    small = "ragged"

    @staticmethod
    def make(file, rows, cols, pad=0, eps=1e-5):
        rng = np.random.default_rng(rows * 1000003 + cols)
        x, dy = (rng.normal(size=(rows, cols + pad)).astype(np.float32) for _ in range(2))
        gamma, beta = (rng.normal(size=cols).astype(np.float32) for _ in range(2))
        sizes = np.array([rows, cols, cols + pad], np.int64)
        file.write_bytes(
            sizes.tobytes()
            + np.float64(eps).tobytes()
            + x.tobytes()
            + gamma.tobytes()
            + beta.tobytes()
            + dy.tobytes()
        )
        return dict(x=x[:, :cols], dy=dy[:, :cols], gamma=gamma, beta=beta, eps=eps)

    @staticmethod
    def one_run(given):
        rows, cols = given["x"].shape
        return [
            ("status", np.int64, 1),
            ("y", np.float32, rows * cols),
            ("dx", np.float32, rows * cols),
            ("dgamma", np.float32, cols),
            ("dbeta", np.float32, cols),
        ]

    @staticmethod
    def fault(given, got):
        x, dy, gamma, beta = (
            given[name].astype(np.float64) for name in ("x", "dy", "gamma", "beta")
        )
        centred = x - x.mean(1, keepdims=True)
        rstd = 1 / np.sqrt((centred**2).mean(1, keepdims=True) + given["eps"])
        xhat, w = centred * rstd, gamma * dy
        a, b = w.mean(1, keepdims=True), (w * xhat).mean(1, keepdims=True)
        wanted = dict(
            y=gamma * xhat + beta,
            dx=rstd * (w - a - xhat * b),
            dgamma=(dy * xhat).sum(0),
            dbeta=dy.sum(0),
        )
        sizes = dict(
            y=np.abs(gamma * xhat) + np.abs(beta),
            dx=rstd * (np.abs(w) + np.abs(a) + np.abs(xhat * b)),
            dgamma=np.abs(dy * xhat).sum(0),
            dbeta=np.abs(dy).sum(0),
        )
        for name, value in wanted.items():
            if np.any(
                ~(np.abs(got[name].reshape(value.shape) - value) <= 1e-5 * sizes[name] + 1e-5)
            ):
                return name
        return ""


CHALLENGES = {"softmax_topk": SoftmaxTopk, "layernorm_backward": LayernormBackward}


# ---- judging ------------------------------------------------------------------------------------


def judged(program, rules, files, runs):
    """What a GPU shows of a program: one sentence for each case that is not right in every run."""
    said = []
    for name, (file, given) in files.items():
        output = program[2] / "output"
        try:
            done = subprocess.run(
                [program[2] / "program", file, output, str(runs)],
                capture_output=True,
                text=True,
                timeout=60,
            )
        except subprocess.TimeoutExpired:
            said.append(f"{name}: no end within 60 s")
            continue
        if done.returncode != 0:
            said.append(f"{name}: {done.stderr.strip()[-200:] or done.returncode}")
            continue
        data, at, first, wrong, unlike = output.read_bytes(), 0, None, [], 0
        for run in range(runs):
            got, begin = {}, at
            for field, kind, count in rules.one_run(given):
                got[field] = np.frombuffer(data, kind, count, at)
                at += got[field].nbytes
            first = data[begin:at] if first is None else first
            unlike += data[begin:at] != first
            if run == 0 or data[begin:at] != first:
                fault = (
                    f"status {got['status'][0]}" if got["status"][0] else rules.fault(given, got)
                )
                wrong += [fault] if fault else []
        if wrong:
            said.append(f"{name}: {wrong[0]}, in {len(wrong)} of {1 + unlike} results that differ")
        elif unlike:
            said.append(f"{name}: {unlike} of {runs} runs differ from the first")
    return said


def alarms(program, file):
    """The tools of compute-sanitizer that complain, and the first lines of what each says."""
    raised = {}
    for tool in TOOLS:
        try:
            done = subprocess.run(
                [
                    "compute-sanitizer",
                    "--tool",
                    tool,
                    "--error-exitcode",
                    "9",
                    program[2] / "program",
                    file,
                    program[2] / "sanitized",
                    "1",
                ],
                capture_output=True,
                text=True,
                timeout=120,
            )
            if done.returncode != 0:
                raised[tool] = done.stdout[:2000]
        except subprocess.TimeoutExpired:
            raised[tool] = "no end within 120 s"
    return raised


def in_words(result, build_only):
    if result["build"]:
        return "does not compile: " + result["build"][:300]
    if build_only:
        return "compiles"
    said = "; ".join(result["gpu"]) or "right in all runs"
    return f"{said} | {', '.join(result['alarms']) or 'no alarm'}"


def page(results):
    """The table of docs/on-a-gpu.md."""
    lines = ["| challenge | mutant | on the GPU | compute-sanitizer |", "|---|---|---|---|"]
    for one in results:
        if one["kind"] == "mutant":
            said = "; ".join(sorted({text.split(",")[0] for text in one["gpu"]})[:1])
            more = f" ({len(one['gpu'])} cases)" if len(one["gpu"]) > 1 else ""
            lines.append(
                f"| {one['challenge']} | {one['name']} | {said}{more} "
                f"| {', '.join(one['alarms'])} |"
            )
    return "\n".join(lines)


def main():
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    arguments.add_argument("--json", help="write all results there")
    arguments.add_argument("--page", help="write the table of docs/on-a-gpu.md there")
    arguments.add_argument("--runs", type=int, default=20, help="of each case; 20 unless told")
    arguments.add_argument("--only", nargs="*", help="names of programs")
    arguments.add_argument(
        "--build-only", action="store_true", help="on a machine with nvcc and no GPU"
    )
    asked = arguments.parse_args()
    for tool in ["nvcc"] + ([] if asked.build_only else ["compute-sanitizer"]):
        if not shutil.which(tool):
            sys.exit(f"there is no {tool}; this needs the CUDA Toolkit, its bin folder in PATH")
    results = []
    with tempfile.TemporaryDirectory() as scratch:
        work = pathlib.Path(scratch)
        for challenge, rules in CHALLENGES.items():
            some = [
                one for one in programs(challenge, work) if not asked.only or one[1] in asked.only
            ]
            files = {name: (work / f"{challenge} {name}", None) for name in rules.cases}
            files = {
                name: (file, rules.make(file, **rules.cases[name]))
                for name, (file, _) in files.items()
            }

            def one(program):
                kind, name, _, killed_by = program
                result = dict(
                    challenge=challenge,
                    kind=kind,
                    name=name,
                    killed_by=killed_by,
                    build=built(program, challenge),
                    gpu=[],
                    alarms={},
                )
                if not result["build"] and not asked.build_only:
                    result["gpu"] = judged(program, rules, files, asked.runs)
                    result["alarms"] = alarms(program, files[rules.small][0])
                return result

            with concurrent.futures.ThreadPoolExecutor() as pool:
                for result in pool.map(one, some):
                    results.append(result)
                    print(
                        f"{challenge:18} {result['kind']:8} {result['name']:32} "
                        f"{in_words(result, asked.build_only)}",
                        flush=True,
                    )
    if asked.json:
        pathlib.Path(asked.json).write_text(json.dumps(results, indent=1))
    if asked.page:
        pathlib.Path(asked.page).write_text(page(results) + "\n")
    mutants = [result for result in results if result["kind"] == "mutant"]
    if not asked.build_only:
        print(
            f"{len(mutants)} mutants: {sum(bool(one['gpu']) for one in mutants)} are wrong or "
            "change on the GPU, "
            f"{sum(bool(one['alarms']) for one in mutants)} raise an alarm of compute-sanitizer"
        )
    bad = [one for one in results if one["kind"] == "right" and (one["build"] or one["gpu"])]
    sys.exit(f"{len(bad)} right solutions are not right" if bad else 0)


main()
