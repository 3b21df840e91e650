# SPDX-License-Identifier: Apache-2.0
"""Loads every exported task with Harbor's loader and runs it through Harbor's own trials.

harbor_round_trip.py TASKS: the oracle has the reference's reward, who hands in nothing has 0, and
who hands in a link to what it must not read has 0. Prints a line for each trial, and "N passed, N
failed".
"""

import asyncio
import json
import logging
import sys
import tempfile
from pathlib import Path

from harbor.agents.nop import NopAgent
from harbor.models.task.task import Task
from harbor.models.trial.config import AgentConfig, EnvironmentConfig, TaskConfig, TrialConfig
from harbor.trial.trial import Trial


class LinkAgent(NopAgent):
    """Hands in a link instead of a solution."""

    async def run(self, instruction, environment, context):
        await environment.exec("cd /app/submission/* && ln -s /etc/passwd solution.cpp")


def agents():
    yield "oracle", AgentConfig(name="oracle")
    yield "nothing", AgentConfig(name="nop")
    yield "link", AgentConfig(import_path="harbor_round_trip:LinkAgent")


def wanted(agent, sections):
    """Of the reference without races: everything. Nothing is worth nothing, in each section."""
    return {name: 1.0 if agent == "oracle" else 0.0 for name in ["reward", *sections]}


def complaints(task, agent, result, folder):
    if result.exception_info:
        fault = result.exception_info
        return [f"{fault.exception_type}: {fault.exception_message}"]
    said = result.verifier_result.rewards
    found = []
    sections = [name for name in said if name != "reward"]
    if not sections or said != wanted(agent, sections):
        found.append(f"rewards {json.dumps(said)}")
    if not (folder / "verifier" / "reward-details.json").is_file():
        found.append("no reward-details.json")
    if agent == "oracle":
        observation = json.loads((folder / "verifier" / "observation.json").read_text())
        if not observation["checks"]:
            found.append("the observation has no checks")
    return found


async def try_task(folder, trials):
    task = Task(folder)
    assert "contract.h" in task.instruction and task.config.task.name == task.name
    failed = []
    for agent, config in agents():
        trial = await Trial.create(TrialConfig(
            task=TaskConfig(path=folder), trials_dir=trials, trial_name=f"{folder.name}__{agent}",
            agent=config,
            environment=EnvironmentConfig(import_path="local_environment:LocalEnvironment")))
        result = await trial.run()
        wrong = complaints(task, agent, result, trials / f"{folder.name}__{agent}")
        rewards = result.verifier_result.rewards if result.verifier_result else None
        verdict = "FAILED" if wrong else "passed"
        print(f"{verdict} {task.name} {agent}: {json.dumps(rewards)}", flush=True)
        for complaint in wrong:
            print(f"  {complaint}")
        failed.append(bool(wrong))
    return failed


async def main(tasks):
    logging.getLogger("harbor").setLevel(logging.ERROR)
    failed = []
    with tempfile.TemporaryDirectory(prefix="gauntlet-trials-") as trials:
        for folder in sorted(path.parent for path in tasks.glob("*/task.toml")):
            failed += await try_task(folder, Path(trials))
    print(f"{failed.count(False)} passed, {failed.count(True)} failed")
    return 1 if True in failed or not failed else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(Path(sys.argv[1]).resolve())))
