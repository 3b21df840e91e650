// SPDX-License-Identifier: Apache-2.0
// The simulator, for who uses it: PTX text -> ptx::parse -> decode -> Program; DeviceMemory::load
// and map; launch -> LaunchResult. README.md here says what it promises.
#pragma once

#include "harness/simt/decode/program.h"
#include "harness/simt/execute/launch.h"
#include "harness/simt/memory/device_memory.h"
#include "harness/simt/ptx/parser.h"
