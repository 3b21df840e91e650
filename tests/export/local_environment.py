# SPDX-License-Identifier: Apache-2.0
"""Harbor's containers without containers: each is a folder, which its commands' paths lead into.

Built as its Dockerfile says: COPY lines are carried out, and who is made FROM an image called
gauntlet has this checkout's program where that image has it. It holds back nobody, and is for tasks
of our own.
"""

import asyncio
import os
import re
import shlex
import shutil
import tempfile
from pathlib import Path

from harbor.environments.base import BaseEnvironment, ExecResult
from harbor.environments.capabilities import EnvironmentCapabilities

# What a container has of its own; everything else is this machine's.
OWN = re.compile(r"(?<![\w./-])/(?=(?:app|logs|tests|solution)(?![\w.-]))")
PROGRAM = os.environ.get("GAUNTLET_PROGRAM", "")


class LocalEnvironment(BaseEnvironment):
    def __init__(self, *args, **kwargs):
        self.root = Path(tempfile.mkdtemp(prefix="gauntlet-harbor-"))
        super().__init__(*args, **kwargs)

    @staticmethod
    def type():
        return "gauntlet-local"

    @property
    def capabilities(self):
        return EnvironmentCapabilities(disable_internet=True)

    def _validate_definition(self):
        if not (self.environment_dir / "Dockerfile").is_file():
            raise FileNotFoundError(self.environment_dir / "Dockerfile")

    def _inside(self, path):
        return self.root / str(path).lstrip("/")

    async def start(self, force_build):
        for line in (self.environment_dir / "Dockerfile").read_text().splitlines():
            words = line.split()
            if words[:1] == ["FROM"] and words[1].split("/")[-1].startswith("gauntlet"):
                program = self._inside("/usr/bin/gauntlet")
                program.parent.mkdir(parents=True)
                program.write_text(f'#!/bin/sh\nexec {shlex.quote(PROGRAM)} "$@"\n')
                program.chmod(0o755)
            if words[:1] == ["COPY"]:
                source, target = self.environment_dir / words[1], self._inside(words[2])
                target.parent.mkdir(parents=True, exist_ok=True)
                (shutil.copytree if source.is_dir() else shutil.copy)(source, target)
        for folder in ("/app", "/logs/agent", "/logs/verifier", "/logs/artifacts"):
            self._inside(folder).mkdir(parents=True, exist_ok=True)

    async def stop(self, delete):
        shutil.rmtree(self.root, ignore_errors=True)

    async def upload_file(self, source_path, target_path):
        target = self._inside(target_path)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source_path, target)

    async def upload_dir(self, source_dir, target_dir):
        shutil.copytree(source_dir, self._inside(target_dir), symlinks=True, dirs_exist_ok=True)

    async def download_file(self, source_path, target_path):
        shutil.copy(self._inside(source_path), target_path)

    async def download_dir(self, source_dir, target_dir):
        shutil.copytree(self._inside(source_dir), target_dir, symlinks=True, dirs_exist_ok=True)

    async def exec(self, command, cwd=None, env=None, timeout_sec=None, user=None):
        process = await asyncio.create_subprocess_exec(
            "/bin/bash", "-c", OWN.sub(f"{self.root}/", command),
            cwd=self._inside(cwd or "/app"), env={**os.environ, **(self._merge_env(env) or {})},
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)
        try:
            out, err = await asyncio.wait_for(process.communicate(), timeout_sec)
        except TimeoutError:
            process.kill()
            raise
        return ExecResult(stdout=out.decode(errors="replace"), stderr=err.decode(errors="replace"),
                          return_code=process.returncode)
