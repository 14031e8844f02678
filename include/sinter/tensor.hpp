// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Views, which don't own, and `tensor`, a small owner for tests and tools. A view is a pointer, extents and strides; what is
// known while compiling takes no storage. Its memory space and alignment are in the type.
//
//     sinter::tensor_view<float, sinter::extents<sinter::dyn, 4096>> x(pointer, rows);
//     auto row = sinter::view(std_vector);              // rank 1 over anything with data() and size()
//     auto m = sinter::view(pointer, sinter::extents<2, 3>{});
//
// A view is trivially copyable and never rebinds by assignment: `y = expression` makes an assignment object for `run`.
#pragma once

#include "layout.hpp"
#include "scalar.hpp"

#include <new>  // the owner: aligned operator new

namespace sinter {

/// Where a view's memory lies. An executor accepts the spaces that it can reach; anything else doesn't compile.
struct host_memory {};
struct device_memory {};

/// A view or an owner.
template <class Type>
inline constexpr bool is_tensor = false;
/// Compilers print it where they call an assignment deleted.
struct SINTER_E005_write_y_equals_copy_of_x {};

namespace detail {
template <class Layout, int Rank>
struct stride_storage {};
template <int Rank>
struct stride_storage<strided, Rank> {
    i64 stride[unsigned(Rank > 0 ? Rank : 1)];
};
template <>
struct stride_storage<strided, 0> {
    i64 stride[1]{};  // g++ suspects an uninitialised copy otherwise
};
/// A view that could not be formed at run time has this size on an axis; `run` answers it with [SINTER-R005]. Where all sizes are in
/// the type, the first stride says it, beside a null pointer.
inline constexpr i64 invalid_size = -2;
/// A slice with run-time bounds that leave the axis: it has this size there, its stride is the bound, and the pointer is null, so that
/// `run` can say which bound of how many elements.
SINTER_INLINE i64 sliced_size(i64 elements) { return invalid_size - 1 - elements; }
inline constexpr i64 invalid_stride = i64(u64(1) << 63);
}  // namespace detail

void assign_to_view();  // assignment.hpp has those that are called; ordinary lookup ends here, whatever a user calls so

/// A non-owning tensor of element type `Type` (const for read-only). `Alignment` is a promise about the pointer in bytes
/// (0: the element's own). Trivially copyable; copy assignment is deleted, since a silent rebind would be a trap.
template <class Type, class Extents, class Layout = row_major, class Space = host_memory, int Alignment = 0>
class tensor_view : public detail::stride_storage<Layout, Extents::rank>, public Extents {
    static_assert(is_scalar_v<remove_cvref<Type>>, SINTER_NO_ELEMENT_TYPE);

public:
    using element = Type;
    using extents_type = Extents;
    using layout = Layout;
    using space = Space;
    static constexpr int rank = Extents::rank;
    static constexpr int alignment = Alignment;
    static constexpr bool contiguous = is_same<Layout, row_major>;

    tensor_view(const tensor_view&) = default;
    // Deleted, so that classes which ask whether views can be assigned (std::optional, std::variant, std::pair) get an answer and no
    // error. The second parameter's default is there to be printed; the general assignment below has one, so that this is preferred.
    const tensor_view& operator=(const tensor_view&) const = delete;  // [SINTER-E005] Hint: y = copy(x) copies elements.
    template <class Right, class Mistake = SINTER_E005_write_y_equals_copy_of_x>
        requires is_tensor<remove_cvref<Right>>
    const tensor_view& operator=(Right&&) const = delete;  // [SINTER-E005] Hint: y = copy(x) copies elements.

    /// Row-major elements at `pointer`; sizes that aren't static follow, left to right.
    template <class... Int>
        requires(contiguous && (is_index<Int> && ...))
    SINTER_HOST_DEVICE constexpr explicit tensor_view(Type* pointer, Int... sizes)
        : Extents(sizes...), pointer_(pointer) {}
    SINTER_HOST_DEVICE constexpr tensor_view(Type* pointer, const Extents& sizes)
        requires contiguous
        : Extents(sizes), pointer_(pointer) {}
    /// Strides in elements, one per axis, any sign.
    SINTER_HOST_DEVICE constexpr tensor_view(Type* pointer, const Extents& sizes, const array<i64, rank>& strides)
        requires(!contiguous)
        : Extents(sizes), pointer_(pointer) {
        for (int i = 0; i < rank; ++i) this->stride[i] = strides[i];
    }
    /// A view of mutable elements serves where a read-only one is asked for. WORKAROUND(nvcc, 13): it hands the host's compiler two base
    /// initialisers of a template in another order, which -Wall warns of; so the strides are copied in the body.
    template <class Other>
        requires(is_same<const Other, Type>)
    SINTER_HOST_DEVICE constexpr tensor_view(const tensor_view<Other, Extents, Layout, Space, Alignment>& other)
        : Extents(other.get_extents()), pointer_(other.data()) {
        if constexpr (!contiguous)
            for (int i = 0; i < rank; ++i) this->stride[i] = other.stride[i];
    }

    /// `view = expression`: an assignment object; nothing runs until `run` takes it (assignment.hpp).
    template <class Right, class Mistake = void>
    [[nodiscard(SINTER_DROPPED_ASSIGNMENT)]] constexpr auto operator=(Right&& right) const
        -> decltype(assign_to_view(*this, static_cast<Right&&>(right))) {
        return assign_to_view(*this, static_cast<Right&&>(right));
    }

    SINTER_INLINE Type* data() const { return pointer_; }
    SINTER_INLINE const Extents& get_extents() const { return *this; }
    SINTER_INLINE shape sizes() const {
        shape out = Extents::sizes();
        if constexpr (!contiguous && Extents::is_static && rank > 0)
            if (pointer_ == nullptr && this->stride[0] == detail::invalid_stride) out.size[0] = detail::invalid_size;
        return out;
    }
    SINTER_INLINE i64 count() const { return sizes().count(); }
    SINTER_INLINE view_state state() const {
        view_state out;
        out.sizes = sizes();
        if constexpr (contiguous)
            set_row_major_strides(out);
        else
            for (int i = 0; i < rank; ++i) out.stride[i] = this->stride[i];
        return out;
    }
    /// One element, for tests and tools. No bounds check.
    template <class... Int>
        requires(sizeof...(Int) == std::size_t(rank))
    SINTER_INLINE Type& operator()(Int... index) const {
        const view_state where = state();
        const i64 at[max_rank]{static_cast<i64>(index)...};
        i64 offset = 0;
        for (int i = 0; i < rank; ++i) offset += at[i] * where.stride[i];
        return pointer_[offset];
    }
    /// `x[2]`, `x(2)` of a matrix
    template <class Index>
    SINTER_HOST_DEVICE constexpr poison operator[](const Index&) const {
        static_assert(dependent_false<printed<Extents>, Index>, SINTER_NO_ELEMENTS);
        return {};
    }
    template <class... Int>
        requires(sizeof...(Int) != std::size_t(rank))
    SINTER_HOST_DEVICE constexpr poison operator()(const Int&...) const {
        static_assert(dependent_false<printed<Extents>, Int...>, SINTER_NO_ELEMENTS);
        return {};
    }

private:
    Type* pointer_;
};
template <class Type, class Extents, class Layout, class Space, int Alignment>
inline constexpr bool is_tensor<tensor_view<Type, Extents, Layout, Space, Alignment>> = true;

namespace detail {
/// Shallow const: a const container of this type still gives mutable elements, so it doesn't own them (a span, a pointer pair).
template <class Container>
concept has_data_and_size = requires(Container& from) {
    *from.data();
    from.size();
};
/// A container whose elements can't be viewed: std::vector<bool>, std::list, ...
template <class Container>
concept scattered_container = !has_data_and_size<Container> && requires(Container& from) {
    from.size();
    from.begin();
};
template <class Container>
inline constexpr bool borrows = is_same<decltype(static_cast<const Container*>(nullptr)->data()),
                                        decltype(static_cast<Container*>(nullptr)->data())>;
/// What `view` of a container gives: memory that dies with the full expression can't be viewed.
template <class Container, class Result>
using container_view = conditional<is_lvalue<Container&&> || borrows<remove_cvref<Container>>, Result,
                                   mistake<rule::memory_outlives_view, remove_cvref<Container>>>;
template <class Type>
struct pointee;
template <class Type>
struct pointee<Type*> {
    using type = Type;
};
/// A built-in array of any rank: its elements and its shape.
template <class Type, i64... Sizes>
struct array_parts {
    using element = Type;
    using sizes = extents<Sizes...>;
    static constexpr i64 count = (i64(1) * ... * Sizes);
};
template <class Type, std::size_t Size, i64... Sizes>
struct array_parts<Type[Size], Sizes...> : array_parts<Type, Sizes..., i64(Size)> {};
template <class Type>
SINTER_INLINE Type* first_element(Type& one) {
    return &one;
}
template <class Type, std::size_t Size>
SINTER_INLINE auto first_element(Type (&array)[Size]) {
    return first_element(array[0]);
}
template <class Array, class Extents>
constexpr bool array_fills() {
    if constexpr (Extents::is_static)
        return Extents{}.sizes().count() <= array_parts<Array>::count;
    else
        return true;
}
template <class Array, class Extents>
inline constexpr bool fills_array = array_fills<Array, Extents>();  // a constant: nvcc warns of the call in device code
}  // namespace detail

/// A row-major view of `sizes` at `pointer`. How many elements lie there, nobody can check: a container or an array is checked. A view
/// has its extents as a base class: `view(pointer, x)` is other memory in the shape of x, whatever the strides of x.
template <class Pointer, i64... Sizes>
    requires requires(remove_cvref<Pointer> pointer) { typename detail::pointee<remove_cvref<Pointer>>::type; }
SINTER_INLINE auto view(Pointer&& pointer, const extents<Sizes...>& sizes)
    -> tensor_view<typename detail::pointee<remove_cvref<Pointer>>::type, extents<Sizes...>> {
    return tensor_view<typename detail::pointee<remove_cvref<Pointer>>::type, extents<Sizes...>>(pointer, sizes);
}
/// A strided view: one element stride per axis.
template <class Type, i64... Sizes>
SINTER_INLINE tensor_view<Type, extents<Sizes...>, strided> view(Type* pointer, const extents<Sizes...>& sizes,
                                                                 const array<i64, int(sizeof...(Sizes))>& strides) {
    return tensor_view<Type, extents<Sizes...>, strided>(pointer, sizes, strides);
}
/// A view of a built-in array in its own shape: float m[2][3] is extents<2, 3>.
template <class Type, std::size_t Size>
SINTER_INLINE auto view(Type (&array)[Size])
    -> tensor_view<typename detail::array_parts<Type[Size]>::element, typename detail::array_parts<Type[Size]>::sizes> {
    return tensor_view<typename detail::array_parts<Type[Size]>::element, typename detail::array_parts<Type[Size]>::sizes>(
        detail::first_element(array));
}
/// The elements of a built-in array as `sizes`. Too small an array doesn't compile where the sizes are static; else the view has a
/// null pointer, which `run` refuses.
template <class Type, std::size_t Size, i64... Sizes>
SINTER_INLINE auto view(Type (&array)[Size], const extents<Sizes...>& sizes)
    -> tensor_view<typename detail::array_parts<Type[Size]>::element, extents<Sizes...>> {
    static_assert(detail::fills_array<Type[Size], extents<Sizes...>>,
                  "[SINTER-S033] the array has fewer elements than the shape. Hint: compare the product of the sizes with the array's.");
    const bool fits = sizes.sizes().count() <= detail::array_parts<Type[Size]>::count;
    return tensor_view<typename detail::array_parts<Type[Size]>::element, extents<Sizes...>>(fits ? detail::first_element(array) : nullptr, sizes);
}
/// A rank-1 view over anything with data() and size(): std::vector, std::array, std::span, ...
template <class Container>
    requires detail::has_data_and_size<remove_cvref<Container>>
constexpr auto view(Container&& from)
    -> detail::container_view<Container, tensor_view<typename detail::pointee<decltype(from.data())>::type, extents<dyn>>> {
    if constexpr (is_lvalue<Container&&> || detail::borrows<remove_cvref<Container>>) {
        using type = typename detail::pointee<decltype(from.data())>::type;
        return tensor_view<type, extents<dyn>>(from.data(), static_cast<i64>(from.size()));
    } else
        return {};
}
/// The elements of a container as `sizes`. Too small a container gives a view with a null pointer, which `run` refuses.
template <class Container, i64... Sizes>
    requires detail::has_data_and_size<remove_cvref<Container>>
constexpr auto view(Container&& from, const extents<Sizes...>& sizes)
    -> detail::container_view<Container, tensor_view<typename detail::pointee<decltype(from.data())>::type, extents<Sizes...>>> {
    if constexpr (is_lvalue<Container&&> || detail::borrows<remove_cvref<Container>>) {
        using type = typename detail::pointee<decltype(from.data())>::type;
        const bool fits = sizes.sizes().count() <= static_cast<i64>(from.size());
        return tensor_view<type, extents<Sizes...>>(fits ? from.data() : nullptr, sizes);
    } else
        return {};
}

template <class Container, i64... Sizes>
    requires detail::scattered_container<remove_cvref<Container>>
SINTER_INLINE mistake<rule::memory_is_contiguous, remove_cvref<Container>> view(Container&&, const extents<Sizes...>&) {
    return {};
}
template <class Container>
    requires detail::scattered_container<remove_cvref<Container>>
SINTER_INLINE mistake<rule::memory_is_contiguous, remove_cvref<Container>> view(Container&&) {
    return {};
}
/// What was refused before: no second message.
template <class... Extents>
constexpr poison view(poison, const Extents&...) {
    return {};
}
template <class Rule, class... What, class... Extents>
constexpr poison view(const mistake<Rule, What...>&, const Extents&...) {
    return {};
}
/// view(memory, 3, 4), view(memory, {3, 4}), and a pointer alone: a shape is a type.
template <class Memory, class... Numbers>
    requires((is_index<Numbers> && ...) &&
             (sizeof...(Numbers) > 0 || requires { typename detail::pointee<remove_cvref<Memory>>::type; }))
SINTER_INLINE mistake<rule::sizes_are_extents, remove_cvref<Memory>, Numbers...> view(Memory&&, Numbers...) {
    return {};
}
template <class Memory, std::size_t Count>
SINTER_INLINE mistake<rule::sizes_are_extents, remove_cvref<Memory>, int[Count]> view(Memory&&, const int (&)[Count]) {
    return {};
}

/// Owner of row-major elements on the heap, aligned to 64 bytes and zeroed. For tests, tools and small things; moving it is
/// cheap, copying is by name. `ok()` is false when the memory wasn't there. Members are inlined always: the linker would keep one
/// of those that files with different instruction sets emit.
template <class Type, class Extents>
class tensor {
    static_assert(is_scalar_v<Type>, SINTER_NO_ELEMENT_TYPE);

public:
    using element = Type;
    using extents_type = Extents;
    using view_type = tensor_view<Type, Extents>;
    using const_view_type = tensor_view<const Type, Extents>;
    static constexpr int rank = Extents::rank;

    SINTER_FORCE_INLINE tensor()
        requires(Extents::is_static)
        : tensor(Extents{}) {}
    SINTER_FORCE_INLINE explicit tensor(const Extents& sizes) : extents_(sizes) {
        const i64 count = sizes.sizes().count();
        if (count > 0 && count <= i64(~u64(0) >> 1) / i64(sizeof(Type))) {
            data_ = static_cast<Type*>(
                ::operator new(static_cast<std::size_t>(count) * sizeof(Type), std::align_val_t{64}, std::nothrow));
            if (data_)
                for (i64 i = 0; i < count; ++i) data_[i] = Type{};
        }
    }
    template <class... Int>
        requires(!(Extents::is_static && sizeof...(Int) == 0) && (is_index<Int> && ...))
    SINTER_FORCE_INLINE explicit tensor(Int... sizes) : tensor(Extents(sizes...)) {}
    SINTER_FORCE_INLINE tensor(tensor&& other) noexcept : extents_(other.extents_), data_(other.data_) { other.data_ = nullptr; }
    SINTER_FORCE_INLINE tensor& operator=(tensor&& other) noexcept {
        Type* const mine = data_;
        data_ = other.data_;
        other.data_ = mine;
        const Extents sizes = extents_;
        extents_ = other.extents_;
        other.extents_ = sizes;
        return *this;
    }
    /// `t = x + 1`
    template <class Right>
        requires(!is_same<remove_cvref<Right>, tensor>)
    SINTER_FORCE_INLINE poison operator=(const Right&) {
        static_assert(dependent_false<printed<Extents>, given<int(sizeof(Right) > 0)>>, SINTER_OWNER_ON_THE_LEFT);
        return {};
    }
    tensor(const tensor&) = delete;
    tensor& operator=(const tensor&) = delete;
    SINTER_FORCE_INLINE ~tensor() { ::operator delete(data_, std::align_val_t{64}); }

    SINTER_FORCE_INLINE bool ok() const { return data_ != nullptr || count() == 0; }
    SINTER_HOST_DEVICE SINTER_FORCE_INLINE view_type view() & { return view_type(data_, extents_); }
    SINTER_HOST_DEVICE SINTER_FORCE_INLINE const_view_type view() const& { return const_view_type(data_, extents_); }
    SINTER_FORCE_INLINE Type* data() { return data_; }
    SINTER_FORCE_INLINE const Type* data() const { return data_; }
    /// One element by its indices, as a view's; `t[i]` counts through all of them.
    template <class... Int>
        requires(sizeof...(Int) == std::size_t(rank))
    SINTER_FORCE_INLINE Type& operator()(Int... index) {
        return view()(index...);
    }
    template <class... Int>
        requires(sizeof...(Int) == std::size_t(rank))
    SINTER_FORCE_INLINE const Type& operator()(Int... index) const {
        return view()(index...);
    }
    SINTER_FORCE_INLINE i64 count() const { return extents_.sizes().count(); }
    SINTER_FORCE_INLINE shape sizes() const { return extents_.sizes(); }
    SINTER_FORCE_INLINE const Extents& get_extents() const { return extents_; }
    SINTER_FORCE_INLINE Type& operator[](i64 index) { return data_[index]; }
    SINTER_FORCE_INLINE const Type& operator[](i64 index) const { return data_[index]; }
    SINTER_FORCE_INLINE Type* begin() { return data_; }
    SINTER_FORCE_INLINE Type* end() { return data_ + count(); }
    SINTER_FORCE_INLINE const Type* begin() const { return data_; }
    SINTER_FORCE_INLINE const Type* end() const { return data_ + count(); }

private:
    Extents extents_;
    Type* data_ = nullptr;
};
template <class Type, class Extents>
inline constexpr bool is_tensor<tensor<Type, Extents>> = true;

/// An owner's view; that of a temporary would outlive its memory.
template <class Type, class Extents>
SINTER_INLINE tensor_view<Type, Extents> view(tensor<Type, Extents>& from) {
    return from.view();
}
template <class Type, class Extents>
SINTER_INLINE tensor_view<const Type, Extents> view(const tensor<Type, Extents>& from) {
    return from.view();
}
template <class Type, class Extents>
SINTER_INLINE mistake<rule::memory_outlives_view, tensor<Type, Extents>> view(tensor<Type, Extents>&&) {
    return {};
}
/// Other memory in the shape of an owner: view(pointer, t), view(container, t).
template <class Memory, class Type, class Extents>
SINTER_INLINE auto view(Memory&& memory, const tensor<Type, Extents>& like) -> decltype(view(static_cast<Memory&&>(memory), like.get_extents())) {
    return view(static_cast<Memory&&>(memory), like.get_extents());
}

}  // namespace sinter
