#pragma once

namespace gauntlet {

/// The walls around a stranger's process. Everything that grades keeps them all; only the audit of
/// the walls takes some down, to see that an attack then gets through and that it is the wall that
/// stops it. Nothing that a submission or the environment says reaches this.
struct Walls {
  bool landlock = true;
  bool seccomp = true;
  bool limits = true;       // the kernel's, and the watch over resident memory
  bool user = true;         // an own user id, when we are root
  bool namespaces = true;   // where the machine allows them
  bool mounts = true;       // files of its own, within namespaces, where the machine allows them
  bool groups = true;       // a control group for each command, where we may make one
  bool descriptors = true;  // all that were not handed over are closed
  bool environment = true;  // none of ours is handed on
};

}  // namespace gauntlet
