// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `device_tensor`, a small owner of device memory for tests and tools, and `eval` on a CUDA executor. Both allocate on the stream;
// copies between host and device wait for it. Kernels and `run` need neither.
#pragma once

#include "cuda.cuh"

namespace sinter {

/// Owner of row-major elements on the device, with the stream's order: freed after what was queued before. `ok()` is false when the
/// memory wasn't there. Not copyable; elements have no initial value.
template <class Type, class Extents>
class device_tensor {
public:
    using element = Type;
    using extents_type = Extents;
    using view_type = tensor_view<Type, Extents, row_major, device_memory>;
    using const_view_type = tensor_view<const Type, Extents, row_major, device_memory>;

    explicit device_tensor(const Extents& sizes = Extents{}, cudaStream_t stream = nullptr) : extents_(sizes), stream_(stream) {
        void* memory = nullptr;
        const i64 elements = count();
        if (elements > 0 && elements <= i64(~u64(0) >> 1) / i64(sizeof(Type)) &&
            cudaMallocAsync(&memory, u64(elements) * sizeof(Type), stream) == cudaSuccess)
            data_ = static_cast<Type*>(memory);
        else
            (void)cudaGetLastError();
    }
    device_tensor(device_tensor&& other) noexcept : extents_(other.extents_), stream_(other.stream_), data_(other.data_) { other.data_ = nullptr; }
    device_tensor(const device_tensor&) = delete;
    device_tensor& operator=(const device_tensor&) = delete;
    ~device_tensor() {
        if (data_) (void)cudaFreeAsync(data_, stream_);
    }

    bool ok() const { return data_ != nullptr || count() == 0; }
    i64 count() const { return extents_.sizes().count(); }
    shape sizes() const { return extents_.sizes(); }
    Type* data() { return data_; }
    const Type* data() const { return data_; }
    view_type view() & { return view_type(data_, extents_); }
    const_view_type view() const& { return const_view_type(data_, extents_); }

    /// All elements from host memory, or to it; returns when they are there.
    status copy_from(const Type* host) { return copy(data_, host, cudaMemcpyHostToDevice); }
    status copy_to(Type* host) const { return copy(host, data_, cudaMemcpyDeviceToHost); }

private:
    status copy(Type* to, const Type* from, cudaMemcpyKind kind) const {
        if (!ok()) return status{error::out_of_memory};
        cudaError_t code = cudaSuccess;
        if (count() > 0) code = cudaMemcpyAsync(to, from, u64(count()) * sizeof(Type), kind, stream_);
        if (code == cudaSuccess) code = cudaStreamSynchronize(stream_);
        return detail::device::status_of_launch(code);
    }
    Extents extents_;
    cudaStream_t stream_;
    Type* data_ = nullptr;
};

namespace detail::device {
/// Runs with the executor's workspace, or with one of its own where that is missing.
template <class Assignment>
status run_with_workspace(const cuda_executor& executor, const Assignment& assigned) {
    const i64 bytes = cuda_workspace_size(assigned);
    if (bytes == 0 || executor.workspace.bytes >= bytes) return try_run(executor, assigned);
    const device_tensor<u8, extents<dyn>> own(extents<dyn>(bytes), executor.stream);
    if (!own.ok()) return status{error::out_of_memory};
    return try_run(cuda(executor.stream, {const_cast<u8*>(own.data()), bytes}), assigned);
}
}  // namespace detail::device

/// Evaluates an expression on the device: a `device_tensor` whose elements are there when the stream gets so far, or, where the
/// expression has rank 0, the value itself, after waiting.
template <class Program, int Root, class Extents, dtype Type, bool Weak, class... Leaves>
auto eval(const cuda_executor& executor, const expression<Program, Root, Extents, Type, Weak, Leaves...>& value) {
    using element = type_of<Type>;
    using result_view = typename device_tensor<element, Extents>::view_type;
    using assignment_type = remove_cvref<decltype(detail::some<const result_view&>() = value)>;
    using wrong = detail::run_mistake<cuda_executor, assignment_type>;
    if constexpr (!is_same<wrong, detail::nothing_wrong>) {
        (void)sizeof(wrong);
        return poison{};
    } else {
        const shape sizes = detail::run_time_shape<lowering_of<assignment_type>, Root>(value.operands);
        device_tensor<element, Extents> result(extents_with<Extents>(sizes), executor.stream);
        status said = result.ok() ? detail::device::run_with_workspace(executor, result.view() = value) : status{error::out_of_memory};
        if constexpr (Extents::rank == 0) {
            element number{};
            if (said.ok()) said = result.copy_to(&number);
            if (!said.ok()) {
                SINTER_THROW(said);
            }
            return number;
        } else {
            if (!said.ok()) {
                SINTER_THROW(said);
            }
            return result;
        }
    }
}

}  // namespace sinter
