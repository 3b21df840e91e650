#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Grades a submission again and again, each time with another seed, and says how far grades differ.

    tests/measure/repeatability.py [--times 20] [--neighbour none|computing|streaming]
                                   [--submission FOLDER] [--keep FOLDER] [CHALLENGE...]

By hand: a time takes minutes. Prints a Markdown table. With --keep, grades are kept in a folder, and
what is there already is not graded again, so that a run can be stopped and continued; each kind of
neighbour needs a folder of its own. GAUNTLET_PROGRAM names another gauntlet.
"""

import argparse
import collections
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("GAUNTLET_PROGRAM", str(ROOT / "build/release/bin/gauntlet"))
STREAM = "a = bytearray(256 << 20)\nwhile True: a[:128 << 20] = a[128 << 20:]"
NEIGHBOURS = {"computing": "while True: pass", "streaming": STREAM}


def printed_by(command):
    ended = subprocess.run(command, capture_output=True, text=True)
    if ended.returncode != 0:
        sys.exit(f"{command} ended with {ended.returncode}: {ended.stderr[-2000:]}")
    return ended.stdout


def graded(results, submission, challenges):
    """The cells of one grading, by column; graded into that folder unless it holds them."""
    done = results / "cells.json"
    if not done.exists():
        chosen = [word for challenge in challenges for word in ("-c", challenge)]
        command = [PROGRAM, "--root", str(ROOT), "--results", str(results), "--quiet"]
        printed_by([*command, "grade", submission, *chosen])
        done.write_text(printed_by([*command, "score", "--json"]))
    return {column_of(cell): cell for cell in json.loads(done.read_text())["cells"]}


def column_of(cell):
    """As the command line names it."""
    return cell["challenge"] + ("" if cell["device"] == "cpu" else "@" + cell["device"])


def printed_letter(cell):
    both = {cell["letter"], cell["high_letter"]}
    return (
        cell["letter"] if len(both) == 1 else f"{cell['letter']}..{cell['high_letter']}"
    )


def table(rounds):
    """One row for each column: its letters, and how scores spread. Partial: not all was measured."""
    yield "| challenge | letters | mean | standard deviation | least to most | partial |"
    yield "| --- | --- | --: | --: | --: | --: |"
    for column in sorted(set().union(*rounds)):
        cells = [one[column] for one in rounds if column in one]
        letters = collections.Counter(map(printed_letter, cells)).most_common()
        scores = [cell["score"] for cell in cells]
        yield (
            f"| `{column}` | {', '.join(f'{n} x {letter}' for letter, n in letters)} "
            f"| {statistics.mean(scores):.1f} | {statistics.pstdev(scores):.2f} "
            f"| {min(scores):.1f} to {max(scores):.1f} "
            f"| {sum(cell['partial'] for cell in cells)} |"
        )


def main():
    about = __doc__.split("\n", maxsplit=1)[0]
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--neighbour", choices=["none", *NEIGHBOURS], default="none")
    parser.add_argument("--submission", default=str(ROOT / "submissions/textbook"))
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("challenge", nargs="*", help="default: all")
    asked = parser.parse_args()
    beside = None
    if asked.neighbour != "none":
        beside = subprocess.Popen([sys.executable, "-c", NEIGHBOURS[asked.neighbour]])
    try:
        with tempfile.TemporaryDirectory() as scratch:
            kept = asked.keep or pathlib.Path(scratch)
            rounds = []
            for number in range(1, asked.times + 1):
                folder = kept / str(number)
                folder.mkdir(parents=True, exist_ok=True)
                rounds.append(graded(folder, asked.submission, asked.challenge))
                print(f"graded {number} of {asked.times}", file=sys.stderr, flush=True)
    finally:
        if beside:
            beside.kill()
    print("\n".join(table(rounds)))


if __name__ == "__main__":
    main()
