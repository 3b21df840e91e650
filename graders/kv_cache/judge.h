// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "call.h"
#include "harness/grading/probe.h"
#include "oracle.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// What a page may take at most, by the contract.
std::int64_t page_budget(const Setup& setup);

/// What is wrong with an answer of kv_page_bytes: more than the contract grants, or less than
/// tokens need, whatever is in them. Who has less keeps the tokens elsewhere, or not yet.
std::optional<std::string> page_bytes_fault(const Setup& setup, std::int64_t answer);

/// Asks for it, and ends the check for a fault.
std::int64_t require_page_bytes(Probe& probe, const Setup& setup);

/// Tokens that kv_read gave, from token `begin` of a sequence on, that are further from what was
/// appended than the contract lets them be. Where a NaN or infinity may spoil them, any are right.
std::optional<Miss> stored_miss(const Setup& setup, std::int64_t sequence, std::int64_t begin,
                                const Tokens& got, const Tokens& given);

/// Results of attention or of a merge that are further off than they may be; those that were not
/// wanted are not looked at.
std::optional<Miss> answer_miss(const Answer& answer, const Expected& expected);

/// The same results, bit for bit.
bool same_bits(const Answer& a, const Answer& b);

/// Ends the check for one, and notes how much of the tolerance was used.
void require_close(Probe& probe, const Answer& answer, const Expected& expected);

/// Notes it for an answer that has no miss.
void note_share(Probe& probe, const Answer& answer, const Expected& expected);

/// Asks for a merge and compares with the oracle.
Answer require_right(Probe& probe, const Parts& parts, bool want_lse = true,
                     const CallOptions& options = {});

/// Asks for the same merge so many times more: each answers with the same bits.
void require_same_again(Probe& probe, const Parts& parts, const CallOptions& options,
                        const Answer& first, int times);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
