// SPDX-License-Identifier: Apache-2.0
#include "harness/store/receipt.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/core/digest.h"
#include "harness/core/rng.h"
#include "harness/store/json_fields.h"

namespace gauntlet {
namespace {

constexpr std::size_t kDigits = 64;

std::string receipt_schema() {
  return fmt::format("gauntlet.receipt/{}", Receipt::kSchema);
}

Json to(const CheckTrace& check) {
  return {{"id", check.id},
          {"verdict", name_of(check.verdict)},
          {"timed", check.timed},
          {"calls", check.calls},
          {"opening", hex_number(check.opening)},
          {"inputs", hex_number(check.inputs)},
          {"outputs", hex_number(check.outputs)}};
}

Json unsigned_part(const Receipt::Closing& closing) {
  Json json{{"seed", closing.seed.text()},    {"nonce", closing.nonce},
            {"reference", closing.reference}, {"observation", closing.observation},
            {"cases", cases_digest(closing)}, {"outputs", outputs_digest(closing)},
            {"checks", Json::array()}};
  for (const CheckTrace& check : closing.checks) json["checks"].push_back(to(check));
  return json;
}

Json to(const Receipt& receipt, const Receipt::Closing& closing) {
  Json json = unsigned_part(closing);
  json["digest"] = closing_digest(receipt);
  json["signature"] = closing.signature;
  return json;
}

/// A SHA-256, a nonce, a key or, with more digits, a signature.
std::string digest_from(const JsonFields& in, const std::string& key, bool may_be_empty = false,
                        std::size_t wanted = kDigits) {
  const std::string digest = in.text(key);
  const bool digits = std::all_of(digest.begin(), digest.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  });
  if (!(may_be_empty && digest.empty()) && (!digits || digest.size() != wanted))
    in.refuse(key, fmt::format("must be {} lower-case hex digits", wanted));
  return digest;
}

CheckTrace trace_from(const JsonFields& in) {
  return {in.text("id"),     in.word("verdict", verdict_named),
          in.truth("timed"), static_cast<int>(in.integer("calls")),
          in.hex("opening"), in.hex("inputs"),
          in.hex("outputs")};
}

Receipt::Closing closing_from(const JsonFields& in) {
  Receipt::Closing closing;
  closing.seed = in.seed("seed");
  closing.nonce = digest_from(in, "nonce");
  closing.reference = digest_from(in, "reference", true);
  closing.observation = digest_from(in, "observation");
  for (const auto& check : in.list("checks")) closing.checks.push_back(trace_from(check));
  for (const auto& [key, digest] :
       {std::pair{"cases", cases_digest(closing)}, std::pair{"outputs", outputs_digest(closing)}})
    if (digest_from(in, key) != digest)
      in.refuse(key, fmt::format("must be {}, which is what `checks` adds up to; the file was "
                                 "edited: take it from where it was published, or grade again",
                                 digest));
  closing.signature = digest_from(in, "signature", false, 2 * kDigits);
  return closing;
}

}  // namespace

std::string fresh_nonce() {
  return fmt::format("{:016x}{:016x}{:016x}{:016x}", entropy(), entropy(), entropy(), entropy());
}

std::string commitment_to(const Receipt& receipt, const Seed& seed, const std::string& nonce) {
  Digest digest;
  digest.add("seed", seed.text())
      .add("nonce", nonce)
      .add("sources", receipt.sources)
      .add("library", receipt.library)
      .add("grader", receipt.grader)
      .add("submission", receipt.key.submission)
      .add("challenge", receipt.key.column())
      .add("device", name_of(receipt.key.device))
      .add("seed_drawn", receipt.seed_drawn ? "true" : "false")
      .add("gauntlet_version", receipt.gauntlet_version)
      .add("compiler", receipt.compiler)
      .add("cpu", receipt.cpu)
      .add("sandbox", receipt.sandbox)
      .add("started", receipt.started)
      .add("signer", receipt.signer);
  // The first attempt adds nothing, so that receipts from before there were others still fit.
  if (receipt.key.attempt != 1) digest.add("attempt", std::to_string(receipt.key.attempt));
  return digest.hex();
}

std::string closing_digest(const Receipt& receipt) {
  return Digest()
      .add("commitment", receipt.commitment)
      .add("closing", json_text(unsigned_part(*receipt.closing)))
      .hex();
}

std::string cases_digest(const Receipt::Closing& closing) {
  Digest digest;
  for (const CheckTrace& check : closing.checks)
    digest.add(check.id, hex_number(check.opening) + hex_number(check.inputs));
  return digest.hex();
}

std::string outputs_digest(const Receipt::Closing& closing) {
  Digest digest;
  for (const CheckTrace& check : closing.checks) digest.add(check.id, hex_number(check.outputs));
  return digest.hex();
}

std::string to_json(const Receipt& receipt) {
  Json json{{"schema", receipt_schema()}};
  put_cell_key(json, receipt.key);
  json["seed_drawn"] = receipt.seed_drawn;
  json["commitment"] = receipt.commitment;
  json["sources"] = receipt.sources;
  json["library"] = receipt.library;
  json["grader"] = receipt.grader;
  json["gauntlet_version"] = receipt.gauntlet_version;
  json["compiler"] = receipt.compiler;
  json["cpu"] = receipt.cpu;
  json["sandbox"] = receipt.sandbox;
  json["started"] = receipt.started;
  json["signer"] = receipt.signer;
  if (receipt.closing) json["closing"] = to(receipt, *receipt.closing);
  return json_text(json);
}

Receipt receipt_from_json(const std::string& text, const std::string& shown_name) {
  const JsonFields in = JsonFields::of_document(text, shown_name, receipt_schema());
  Receipt receipt;
  receipt.key = in.cell_key();
  receipt.seed_drawn = in.truth("seed_drawn");
  receipt.commitment = digest_from(in, "commitment");
  receipt.sources = digest_from(in, "sources");
  receipt.library = digest_from(in, "library", true);
  receipt.grader = digest_from(in, "grader");
  receipt.gauntlet_version = in.text("gauntlet_version");
  receipt.compiler = in.text("compiler");
  receipt.cpu = in.text("cpu");
  receipt.sandbox = in.text("sandbox");
  receipt.started = in.text("started");
  receipt.signer = digest_from(in, "signer");
  if (in.has("closing")) receipt.closing = closing_from(in.fields("closing"));
  if (receipt.closing && in.fields("closing").text("digest") != closing_digest(receipt))
    in.refuse("closing.digest",
              fmt::format("must be {}, which is what the closing part adds up to; the file was "
                          "edited: take it from where it was published, or grade again",
                          closing_digest(receipt)));
  if (to_json(receipt) != text)
    in.refuse("schema",
              "there is more or other text in the file than its fields; the file was "
              "edited: take it from where it was published, or grade again");
  return receipt;
}

}  // namespace gauntlet
