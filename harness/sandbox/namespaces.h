// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace gauntlet {

class FileView;

/// Moves the calling process into new network, IPC and host-name namespaces, and its later children
/// into a new process namespace; an ordinary user needs a user namespace for that, in which he has
/// his own number and no other. With `files` also into a mount namespace in which there is nothing
/// else. Async-signal-safe. Null, or the step that failed with errno.
const char* enter_namespaces(const FileView* files);

/// Process 1 of a new process namespace: does nothing until it is killed, or until nobody can write
/// into the pipe `life` any more; its end is the end of all others in the namespace. It keeps no
/// other descriptor and none of our memory, once nobody can write into the pipe `others`: with who
/// can, it shares the memory.
[[noreturn]] void be_namespace_init(int life, int others);

/// Empty when namespaces were seen to work here, else why not. Tried once a process and user.
const std::string& why_no_namespaces();

}  // namespace gauntlet
