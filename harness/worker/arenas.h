// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>

#include "harness/worker/call.h"
#include "harness/worker/layout.h"
#include "harness/worker/protocol.h"
#include "harness/worker/shared_memory.h"

namespace gauntlet {

/// The memory that calls are made in, as the harness sees it (inside/arenas.h has the worker's
/// view): `in`, which the worker can only read, and `out`, which it writes. A session reaches it
/// through this class alone, and only while the worker is frozen. It is the host's memory; that of
/// a device would be another class with the same functions.
class Arenas {
 public:
  explicit Arenas(std::size_t bytes_each);  // and kFarRoom of address space

  int in_fd() const { return in_.fd(); }  // for the worker, as protocol.h says
  int out_fd() const { return out_.fd(); }

  wire::Order& order() const { return *reinterpret_cast<wire::Order*>(in_.base()); }
  std::byte* mailbox() const { return out_.base(); }

  /// Nothing of earlier calls is left outside the bodies of the next layout: who opens a page there
  /// finds zeros. Those pages stay, because giving pages back and asking for them again takes
  /// longer than a small call. `last` is the layout of a call around which nothing was found
  /// written, or empty: what lies between bodies that both layouts begin with is left as it is.
  void forget_calls(const Layout& last, const Layout& next);
  /// Nor in those bodies: all of their pages hold poison. place() writes over all of it as well.
  void poison(const Layout& layout);
  /// No page of earlier calls is left but those of the bodies, nor one of the mailbox: they would
  /// count as memory of the solution that has them mapped.
  void give_back_gaps(const Layout& layout);

  /// For several workers in turn: forgets earlier calls unless they were laid out alike, so that
  /// the pages of this layout stay where everybody has them mapped.
  void share_out(const Layout& layout);
  bool is_shared_out(const Layout& layout) const { return layout == shared_out_; }

  /// Overwrites what requests and replies have left in the mailbox, which are no body's.
  void wipe_mailbox(std::size_t used) { std::memset(mailbox(), 0, used); }

  /// Fresh inputs, poison in outputs and around everything, and the order to call.
  void place(CallBase& call, const Layout& layout);

  /// Throws SolutionFailure when the call wrote into `out` outside its buffers.
  void check_surroundings(const CallBase& call, const Layout& layout) const;

  /// Gives the call its results where they lie: there while this object is.
  void hand_over(CallBase& call, const Layout& layout) const;

  /// To be asked when the worker is gone; this object is of no use afterwards. False: a process of
  /// the solution has survived.
  bool nobody_writes() { return out_.nobody_writes(); }

  /// The same; throws SolutionFailure if one has.
  void require_nobody_left();

 private:
  std::byte* base_of(const Body& body) const;
  void write_body(const Buffer& buffer, const Body& body);

  SharedMemory in_;
  SharedMemory out_;
  Layout shared_out_;
};

}  // namespace gauntlet
