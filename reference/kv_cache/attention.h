// SPDX-License-Identifier: Apache-2.0
#pragma once

// A call of kv_attend, cut into pieces that threads take one by one.
#include <memory>

#include "attend.h"

// A piece of attention: some rows of an entry, over some of the keys they see. Memory is fastest
// where whole pages are read, so that heads stay together as long as their rows are few.
struct Piece {
  int64_t entry, head, heads;
  int64_t row, rows;    // of each head; rows count queries times the heads that share a kv head
  int64_t begin, end;   // keys
  int64_t parts, part;  // pieces that these rows are cut into, and which one this is
  int64_t store;        // where its partial result lies, when there are several
};

class Attention {
 public:
  explicit Attention(const KvAttendArgs& args)
      : a_(args), format_(args.shape), shared_(args.q_heads / args.shape.kv_heads) {
    for (int64_t i = 0; i < a_.count; ++i) cut_rows(i);
    cut_keys();
  }

  void run() {
    const int64_t count = static_cast<int64_t>(pieces_.size());
    const int threads = static_cast<int>(std::clamp<int64_t>(count, 1, a_.shape.num_threads));
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
    for (int64_t i = 0; i < count; ++i) work(pieces_[i]);
    for (const Piece& piece : pieces_)
      if (piece.parts > 1 && piece.part == 0) merge(piece);
  }

 private:
  struct Seen {
    int64_t begin, end;
  };

  Seen seen(int64_t entry, int64_t row) const {
    const int64_t length = a_.lengths[a_.which[entry]];
    const int64_t queries = a_.query_start[entry + 1] - a_.query_start[entry];
    const int64_t position = length - queries + row / shared_;
    int64_t begin = a_.key_begin ? a_.key_begin[entry] : 0;
    int64_t end = a_.key_end ? a_.key_end[entry] : length;
    // A window that reaches back to the start or further hides nothing, however large it is.
    if (a_.window >= 0 && position > a_.window) begin = std::max(begin, position - a_.window);
    end = std::min(end, position + 1);
    return {begin, std::max(begin, end)};
  }

  void cut_rows(int64_t entry) {
    const int64_t rows = (a_.query_start[entry + 1] - a_.query_start[entry]) * shared_;
    const int64_t together = rows <= kMaxRows ? a_.shape.kv_heads : 1;
    for (int64_t head = 0; head < a_.shape.kv_heads; head += together)
      for (int64_t row = 0; row < rows; row += kMaxRows) {
        const int64_t some = std::min(kMaxRows, rows - row);
        // Both ends of what a row sees grow with the row.
        const Seen first = seen(entry, row);
        const Seen last = seen(entry, row + some - 1);
        pieces_.push_back({entry, head, together, row, some, first.begin,
                           std::max(first.begin, last.end), 1, 0, 0});
      }
  }

  // Cuts what is longer than a fair share of the work, so that threads end together.
  void cut_keys() {
    int64_t keys = 0;
    for (const Piece& piece : pieces_) keys += (piece.end - piece.begin) * piece.heads;
    if (a_.shape.num_threads == 1 || keys == 0) return;
    const int64_t share = std::max<int64_t>(256, divide_up(keys, 4 * a_.shape.num_threads));
    std::vector<Piece> cut;
    int64_t stored = 0;
    for (Piece piece : pieces_) {
      const int64_t begin = piece.begin;
      const int64_t span = piece.end - begin;
      piece.parts = std::max<int64_t>(1, divide_up(span * piece.heads, share));
      for (piece.part = 0; piece.part < piece.parts; ++piece.part) {
        piece.begin = begin + span * piece.part / piece.parts / kLanes * kLanes;
        piece.end = begin + span * (piece.part + 1) / piece.parts / kLanes * kLanes;
        if (piece.part == 0) piece.begin = begin;
        if (piece.part + 1 == piece.parts) piece.end = begin + span;
        piece.store = stored;
        if (piece.parts > 1) stored += piece.heads * piece.rows * (format_.value.dim + 2);
        cut.push_back(piece);
      }
    }
    pieces_ = std::move(cut);
    partial_.resize(stored);
  }

  // Rows of a piece, those of its first head first.
  int64_t out_row(const Piece& piece, int64_t i) const {
    const int64_t row = piece.row + i % piece.rows;
    return (a_.query_start[piece.entry] + row / shared_) * a_.q_heads +
           (piece.head + i / piece.rows) * shared_ + row % shared_;
  }

  void work(const Piece& piece) {
    std::vector<std::unique_ptr<Block>> blocks;
    for (int64_t h = 0; h < piece.heads; ++h) {
      blocks.push_back(std::make_unique<Block>(format_, piece.head + h, piece.rows));
      for (int64_t r = 0; r < piece.rows; ++r) {
        const Seen keys = seen(piece.entry, piece.row + r);
        const float* q = a_.q + out_row(piece, h * piece.rows + r) * format_.key.dim;
        blocks.back()->set_row(r, q, a_.scale, keys.begin, keys.end);
      }
    }
    const Pages pages{static_cast<const char*>(a_.pool),
                      a_.table + a_.which[piece.entry] * a_.shape.table_width};
    const int64_t step = piece.heads == 1 ? piece.end + 1 : stretch_of(format_);
    for (int64_t at = piece.begin; at < piece.end;) {
      const int64_t next = std::min(piece.end, (at / step + 1) * step);
      for (auto& block : blocks) block->pass(pages, at, next, piece.end);
      at = next;
    }
    for (int64_t i = 0; i < piece.heads * piece.rows; ++i)
      finish(piece, i, *blocks[i / piece.rows], i % piece.rows);
  }

  void finish(const Piece& piece, int64_t i, Block& block, int64_t r) {
    if (piece.parts == 1) {
      write(piece, i, block.top(r), block.weight(r), block.values(r));
      return;
    }
    const int64_t dim = format_.value.dim;
    float* to = &partial_[piece.store + i * (dim + 2)];
    to[0] = block.top(r);
    to[1] = block.weight(r);
    std::copy_n(block.values(r), dim, to + 2);
  }

  // A row's result from its sums of exp(score - top) and of that times values.
  void write(const Piece& piece, int64_t i, float top, float weight, const float* values) const {
    const int64_t row = out_row(piece, i);
    const float inverse = weight > 0 ? 1 / weight : 0;
    for (int64_t d = 0; d < format_.value.dim; ++d)
      a_.out[row * format_.value.dim + d] = values[d] * inverse;
    if (a_.lse) a_.lse[row] = weight > 0 ? top + std::log(weight) : -kInfinity;
  }

  void merge(const Piece& piece) const {
    const int64_t dim = format_.value.dim;
    std::vector<float> values(dim);
    const int64_t rows = piece.heads * piece.rows;
    for (int64_t i = 0; i < rows; ++i) {
      const float* first = &partial_[piece.store + i * (dim + 2)];
      const int64_t stride = rows * (dim + 2);
      float top = -kInfinity;
      float weight = 0;
      for (int64_t p = 0; p < piece.parts; ++p) top = std::max(top, first[p * stride]);
      std::fill(values.begin(), values.end(), 0.0f);
      for (int64_t p = 0; p < piece.parts; ++p) {
        const float* part = first + p * stride;
        if (part[0] == -kInfinity) continue;
        const float share = std::exp(part[0] - top);
        weight += share * part[1];
        for (int64_t d = 0; d < dim; ++d) values[d] += share * part[2 + d];
      }
      write(piece, i, top, weight, values.data());
    }
  }

  const KvAttendArgs& a_;
  PageFormat format_;
  int64_t shared_;  // query heads of a kv head
  std::vector<Piece> pieces_;
  std::vector<float> partial_;
};
