// SPDX-License-Identifier: Apache-2.0
// What the hosts here share: a file of arrays in, a file of arrays out, device memory that ends the
// program where a call fails. nvcc compiles a host together with one solution.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

inline void require(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(code));
  std::exit(2);
}

/// A case is a row of values as they lie in memory, one behind the other; it ends with its file.
class Case {
 public:
  explicit Case(const char* path) : file_(std::fopen(path, "rb")) {
    if (file_ == nullptr) std::exit(3);
  }
  template <class T>
  T number() {
    T value;
    if (std::fread(&value, sizeof value, 1, file_) != 1) std::exit(3);
    return value;
  }
  /// On the device; null where there are no bytes.
  template <class T>
  T* array(std::int64_t count) {
    if (count == 0) return nullptr;
    std::vector<T> values(static_cast<std::size_t>(count));
    if (std::fread(values.data(), sizeof(T), values.size(), file_) != values.size()) std::exit(3);
    void* place = nullptr;
    require(cudaMalloc(&place, values.size() * sizeof(T)), "cudaMalloc");
    require(cudaMemcpy(place, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice),
            "cudaMemcpy");
    return static_cast<T*>(place);
  }

 private:
  std::FILE* file_;
};

/// What the calls of all contracts say alike.
template <class Args>
Args described(int abi_version, int device, int data_type) {
  Args args{};
  args.abi_version = abi_version;
  args.struct_size = sizeof args;
  args.device = device;
  args.num_threads = 1;
  args.deterministic = 1;
  args.min_align = 4;
  args.data_type = data_type;
  cudaStream_t stream;
  require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  args.stream = stream;
  return args;
}

/// Of a call that is to begin after all that came before, and to be done when its stream is.
template <class Call>
std::int64_t status_of(void* stream, const Call& call) {
  require(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  const std::int64_t status = call();
  require(cudaStreamSynchronize(static_cast<cudaStream_t>(stream)), "cudaStreamSynchronize");
  return status;
}

/// An array on the device that holds garbage before each run and is written out behind it.
template <class T>
class Output {
 public:
  explicit Output(std::int64_t count) : values_(static_cast<std::size_t>(count)) {
    require(cudaMalloc(&place_, values_.size() * sizeof(T)), "cudaMalloc");
  }
  T* spoiled() {
    require(cudaMemset(place_, 0xcd, values_.size() * sizeof(T)), "cudaMemset");
    return static_cast<T*>(place_);
  }
  void write(std::FILE* file) {
    require(cudaMemcpy(values_.data(), place_, values_.size() * sizeof(T), cudaMemcpyDeviceToHost),
            "cudaMemcpy");
    std::fwrite(values_.data(), sizeof(T), values_.size(), file);
  }

 private:
  std::vector<T> values_;
  void* place_ = nullptr;
};
