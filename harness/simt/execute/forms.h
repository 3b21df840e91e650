// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace gauntlet::simt {

class FormTable;

// The forms that need more than the registers of a lane.
void add_memory_forms(FormTable& table);    // loads and stores
void add_atomic_forms(FormTable& table);    // atom, red
void add_exchange_forms(FormTable& table);  // shuffles, votes, matches, redux
void add_control_forms(FormTable& table);   // branches, barriers, fences, addresses, printf, trap

}  // namespace gauntlet::simt
