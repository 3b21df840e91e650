// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace gauntlet {

/// The fixed flags of every compilation of a .cu file to PTX. Sources see `headers`, a copy of
/// harness/simt/include, and no header of NVIDIA's.
std::vector<std::string> device_flags(const std::string& headers);

/// Those of every compilation of a .cu file for the host. The same clang as for the device: both
/// halves have to agree about names and layouts. Without something to embed clang registers no
/// kernels: `embedded` is a file with anything in it, as the PTX goes another way.
std::vector<std::string> host_flags(const std::string& headers, const std::string& embedded);

/// Those of linking a library, which is given its device by a function of the runtime.
std::vector<std::string> host_link_flags();

}  // namespace gauntlet
