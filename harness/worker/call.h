// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace gauntlet {

/// What the elements of a buffer are. Only evidence and the null solutions look at it; the worker
/// moves bytes.
enum class ElementType { f32, f64, f16, bf16, i8, u8, i16, u16, i32, u32, i64, u64 };

std::size_t size_of(ElementType type);

/// The element type that a C++ type stands for. 16-bit floats are carried as std::uint16_t and
/// named by the caller.
template <class T>
constexpr ElementType element_type() {
  using U = std::remove_cv_t<T>;
  if constexpr (std::is_same_v<U, float>) return ElementType::f32;
  if constexpr (std::is_same_v<U, double>) return ElementType::f64;
  if constexpr (std::is_same_v<U, std::int8_t>) return ElementType::i8;
  if constexpr (std::is_same_v<U, std::uint8_t>) return ElementType::u8;
  if constexpr (std::is_same_v<U, std::int16_t>) return ElementType::i16;
  if constexpr (std::is_same_v<U, std::uint16_t>) return ElementType::u16;
  if constexpr (std::is_same_v<U, std::int32_t>) return ElementType::i32;
  if constexpr (std::is_same_v<U, std::uint32_t>) return ElementType::u32;
  if constexpr (std::is_same_v<U, std::int64_t>) return ElementType::i64;
  if constexpr (std::is_same_v<U, std::uint64_t>) return ElementType::u64;
}

/// Where a buffer starts in the worker: `skew` bytes after a multiple of `alignment`. Every buffer
/// is followed by a page that faults, as near to its last byte as the alignment lets it be.
struct Placement {
  std::size_t alignment = 64;  // bytes, a power of two, at most 4096
  std::size_t skew = 0;        // bytes, below alignment
};

/// A pointer field of the argument struct and the memory behind it.
///   in      the worker can read it and nothing else: a write faults
///   out     poison (0xFF: NaN in every float format, -1 in every integer) until the call writes it
///   inout   starts as a copy of `source`; the worker may write it
enum class Direction { in, out, inout };

struct Buffer {
  static constexpr std::size_t kNoField = static_cast<std::size_t>(-1);

  /// Where a part of an array lies that is so far from the first that nothing could fill what lies
  /// between: `bytes` behind the start of buffers()[first], which has the array's pointer.
  struct Behind {
    std::size_t first;
    std::size_t bytes;
  };

  std::string name;          // as the contract calls it: "dx"
  std::size_t field_offset;  // of the pointer in the argument struct; kNoField: Behind has one
  Direction direction;
  ElementType type;
  std::size_t bytes;
  const std::byte* source = nullptr;  // in, inout: the grader's own copy; must outlive the call
  Placement placement;
  std::span<std::byte> result;  // out, inout: set by the call, valid until the session's next one
  std::optional<Behind> behind = {};
};

/// A pointer field that has no memory of its own: it points into an input that overlaps it.
struct InputView {
  std::size_t field_offset;  // of the pointer in the argument struct
  std::size_t buffer;        // number of the input among the call's buffers
  std::size_t bytes;         // behind the start of that
};

/// How to carry one callback's request out of the worker and its reply back. A callback of a
/// contract is `int64_t (*f)(void* context, Request* request)`; Request is a plain struct whose
/// pointer fields the worker's trampoline copies. Element counts come from int64 fields of the
/// request: count = fixed * field(count_offset[0]) * field(count_offset[1]); -1 means "no field".
struct CallbackArray {
  std::size_t field_offset;
  Direction direction;  // in: solution -> grader; out: grader -> solution
  std::size_t element_bytes;
  std::int64_t fixed = 1;
  std::int64_t count_offset[2] = {-1, -1};
};

/// One request of a solution, already copied out of its reach. Arrays are in the order of the
/// callback's description; out arrays start zeroed and go back to the solution.
struct CallbackRequest {
  std::span<std::byte> request;  // the Request struct; its pointer fields mean nothing here
  std::vector<std::span<std::byte>> arrays;

  template <class T>
  T& as() {
    return *reinterpret_cast<T*>(request.data());
  }
  template <class T>
  std::span<T> array(std::size_t i) {
    return {reinterpret_cast<T*>(arrays.at(i).data()), arrays.at(i).size() / sizeof(T)};
  }
};

struct Callback {
  std::string name;
  std::size_t field_offset;          // of the function pointer in the argument struct
  std::size_t context_field_offset;  // of the void* that is handed back as first argument
  std::size_t request_bytes;
  std::vector<CallbackArray> arrays;
  std::function<std::int64_t(CallbackRequest&)> answer;  // runs in the trusted process
};

/// Where an argument struct says on which device its pointers lie, and the stream to work on. A
/// session on a device sets both where the grader says `host`; any other value stays as it is, so
/// that a refusal can be asked for.
struct DeviceFields {
  std::size_t device_offset;  // of an int32
  std::int32_t host;          // its value for memory of the process
  std::int32_t cuda;          // its value for memory of a CUDA device
  std::size_t stream_offset;  // of a pointer: the cudaStream_t
  /// What a call may copy from the device to the host, in bytes: scalars and sizes. More fails it.
  std::uint64_t host_copy_bytes;
};

/// One call of an exported function, `int64_t symbol(const Args*)`: what goes in, what comes out.
/// Session::run fills in the results.
class CallBase {
 public:
  CallBase(const CallBase&) = delete;
  CallBase& operator=(const CallBase&) = delete;

  std::string symbol;
  bool measure_memory = false;  // ask for peak_bytes; costs a walk of the worker's page tables
  bool measure_heap = false;    // ask for heap_bytes
  /// Called with rounding upwards and with subnormal results flushed to zero: a function returns
  /// with these too. What it computes then is nobody's to judge. Says nothing to a device.
  bool unusual_floats = false;
  /// Beside these, subnormal arguments are zeros too: comparisons of them mean something else.
  bool zero_subnormals = false;
  bool null_context = false;  // callbacks have a null context, which contracts allow
  std::optional<DeviceFields> device_fields;  // none: the contract knows the CPU only

  std::span<const std::byte> arguments() const { return arguments_; }
  std::vector<Buffer>& buffers() { return buffers_; }
  const std::vector<Buffer>& buffers() const { return buffers_; }
  const std::vector<InputView>& views() const { return views_; }
  std::vector<Callback>& callbacks() { return callbacks_; }
  const std::vector<Callback>& callbacks() const { return callbacks_; }

  /// Set by Session::run.
  std::int64_t returned = 0;             // what the function said; a claim like any other
  std::chrono::nanoseconds elapsed{};    // from release to confirmed freeze, by the parent's clock
  std::chrono::nanoseconds processor{};  // what all threads of the worker used of it
  std::chrono::nanoseconds lost{};  // in a race: processor time that other programs had meanwhile
  /// On the CPU: above what the worker held before it loaded the solution. On a device: of the
  /// solution's own allocations there, variables included, and nothing of the host's.
  std::optional<std::int64_t> peak_bytes;
  /// What malloc says is in use behind the call, where few threads live. The worker's word: who
  /// forges it hides what it forgets to free, and nothing else.
  std::optional<std::int64_t> heap_bytes;

  const Buffer& buffer(std::string_view name) const;

 protected:
  CallBase(std::string symbol, std::span<const std::byte> arguments)
      : symbol(std::move(symbol)), arguments_(arguments) {}
  ~CallBase() = default;

  std::size_t offset_of(const void* field, std::size_t field_bytes) const;
  std::size_t add(Buffer buffer);
  void add_view(std::size_t field_offset, std::string_view input, std::size_t bytes);
  /// Part `i` of the array that buffers()[first] begins.
  Buffer part_behind(std::size_t first, std::size_t i, std::int64_t stride, std::size_t bytes,
                     const std::byte* source = nullptr) const;

  std::span<const std::byte> arguments_;
  std::vector<Buffer> buffers_;
  std::vector<InputView> views_;
  std::vector<Callback> callbacks_;
};

/// A result buffer of a call, to be looked at after the call ran.
template <class T>
class Output {
 public:
  Output(const CallBase& call, std::size_t index) : call_(&call), index_(index) {}

  /// Lies in memory shared with the (frozen) worker. Valid until the session's next call.
  std::span<const T> view() const {
    const auto bytes = call_->buffers().at(index_).result;
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  std::vector<T> copy() const { return {view().begin(), view().end()}; }

 private:
  const CallBase* call_;
  std::size_t index_;
};

/// A call with the contract's argument struct. Scalars are set in `args` directly, pointers by
/// naming the field:
///
///   Call<ScaleArgs> call("scale_rows");
///   call.args.rows = rows;
///   call.in("x", call.args.x, x);
///   const auto y = call.out<float>("y", call.args.y, x.size());
///   probe.run(call);
///   compare(y.view(), ...);
///
/// A pointer field that is not named stays null.
template <class Args>
class Call : public CallBase {
  static_assert(std::is_trivially_copyable_v<Args>, "a contract's structs are plain C");

 public:
  explicit Call(std::string symbol)
      : CallBase(std::move(symbol), {reinterpret_cast<const std::byte*>(&args), sizeof(Args)}) {}

  Args args{};

  template <class Field, class T>
  void in(std::string name, const Field* const& field, std::span<const T> data,
          Placement placement = {}, ElementType type = element_type<T>()) {
    add(Buffer{std::move(name),
               offset_of(&field, sizeof field),
               Direction::in,
               type,
               data.size_bytes(),
               reinterpret_cast<const std::byte*>(data.data()),
               placement,
               {}});
  }
  template <class Field, class T>
  void in(std::string name, const Field* const& field, const std::vector<T>& data,
          Placement placement = {}, ElementType type = element_type<T>()) {
    in(std::move(name), field, std::span<const T>(data), placement, type);
  }

  /// Another field, which points so many elements behind the start of `input`, named before it.
  template <class T, class Field>
  void in_view(std::string_view input, const Field* const& field, std::size_t elements) {
    add_view(offset_of(&field, sizeof field), input, elements * sizeof(T));
  }

  template <class T, class Field>
  Output<T> out(std::string name, Field* const& field, std::size_t count, Placement placement = {},
                ElementType type = element_type<T>()) {
    return {*this, add(Buffer{std::move(name),
                              offset_of(&field, sizeof field),
                              Direction::out,
                              type,
                              count * sizeof(T),
                              nullptr,
                              placement,
                              {}})};
  }

  template <class Field, class T>
  Output<T> inout(std::string name, Field* const& field, const std::vector<T>& initial,
                  Placement placement = {}, ElementType type = element_type<T>()) {
    return {*this, add(Buffer{std::move(name),
                              offset_of(&field, sizeof field),
                              Direction::inout,
                              type,
                              initial.size() * sizeof(T),
                              reinterpret_cast<const std::byte*>(initial.data()),
                              placement,
                              {}})};
  }

  /// An array whose parts lie `stride` elements apart, with nothing but faults between them: for
  /// strides beyond 2^32, where no memory could hold what lies between. One part at least; each is
  /// shorter than the stride by 16 pages or more. `placement` is that of the first.
  template <class Field, class T>
  void in_parts(const std::string& name, const Field* const& field,
                const std::vector<std::span<const T>>& parts, std::int64_t stride,
                Placement placement = {}, ElementType type = element_type<T>()) {
    in(name, field, parts.at(0), placement, type);
    const std::size_t first = buffers_.size() - 1;
    for (std::size_t i = 1; i < parts.size(); ++i)
      add(part_behind(first, i, stride, parts[i].size_bytes(),
                      reinterpret_cast<const std::byte*>(parts[i].data())));
  }

  /// The same for an output: so many parts of `count` elements each.
  template <class T, class Field>
  std::vector<Output<T>> out_parts(const std::string& name, Field* const& field, std::size_t parts,
                                   std::size_t count, std::int64_t stride, Placement placement = {},
                                   ElementType type = element_type<T>()) {
    std::vector<Output<T>> outputs{out<T>(name, field, count, placement, type)};
    const std::size_t first = buffers_.size() - 1;
    for (std::size_t i = 1; i < parts; ++i)
      outputs.emplace_back(*this, add(part_behind(first, i, stride, count * sizeof(T))));
    return outputs;
  }

  /// Says which fields of the struct tell the device and the stream, see DeviceFields.
  void lies_on(const std::int32_t& device, std::int32_t host, std::int32_t cuda,
               void* const& stream, std::uint64_t host_copy_bytes) {
    device_fields = DeviceFields{offset_of(&device, sizeof device), host, cuda,
                                 offset_of(&stream, sizeof stream), host_copy_bytes};
  }

  template <class Function, class Request>
  void callback(std::string name, Function* const& field, void* const& context,
                std::vector<CallbackArray> arrays,
                std::function<std::int64_t(Request&, CallbackRequest&)> answer) {
    callbacks_.push_back({std::move(name), offset_of(&field, sizeof field),
                          offset_of(&context, sizeof context), sizeof(Request), std::move(arrays),
                          [answer = std::move(answer)](CallbackRequest& raw) {
                            return answer(raw.as<Request>(), raw);
                          }});
  }
};

}  // namespace gauntlet
