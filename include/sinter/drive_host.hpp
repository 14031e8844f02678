// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host driver as one call, for backends: an executor whose lanes live in a processor's registers hands its lane family and
// the assignment over, and gets every nest, layout and tail in the canonical order (docs/backend). It holds no loop itself;
// what it holds is the choice between drivers and variants.
#pragma once

#include "drive_code_sum.hpp"
#include "drive_columns.hpp"
#include "drive_product.hpp"
#include "drive_short_rows.hpp"
#include "drive_table.hpp"

namespace sinter::detail {

/// Whether a kernel is a product of codes and its family multiplies such.
template <class Kernel, class Family>
inline constexpr bool multiplies = false;
template <class Kernel, class Family>
    requires(find_product_fold(Kernel::view) >= 0 && requires { typename Family::products; })
inline constexpr bool multiplies<Kernel, Family> = code_product_facts<Kernel>::possible;

/// Whether a kernel is a function of one code, long enough for the tables of its family.
template <class Kernel, class Family>
inline constexpr bool uses_table = false;
template <class Kernel, class Family>
    requires requires { typename Family::code_tables; }
inline constexpr bool uses_table<Kernel, Family> = find_code_table(Kernel::view).cost >= Family::code_tables::worth;

/// Whether a kernel is a proved sum of two operands of codes, and its family has such.
template <class Kernel, class Family>
inline constexpr bool sums_codes = false;
template <class Kernel, class Family>
    requires(requires { typename Family::code_sums; } && Kernel::outputs == 1 && (Kernel::output_type[0] == dtype::q8 || Kernel::output_type[0] == dtype::qu8))
inline constexpr bool sums_codes<Kernel, Family> = code_sum_facts<Kernel>::possible;

/// Operands whose lane stride matters: those read per element, in columns also those read per column.
constexpr bool reads_per_lane(const kernel_view& of, int i) {
    return of.at[i].kind == node_kind::leaf && (of.where[i] == site::element || (of.nest == nest_kind::columns && of.where[i] == site::row));
}
constexpr bool stores_per_lane(const kernel_view& of, int output) {
    return of.nest == nest_kind::columns ? (of.output_free[output] & of.vector_bit()) != 0 : of.stores_elements(output);
}
/// All but the functions. `short_rows`: the driver of short rows takes it.
template <int Slots>
constexpr launch_facts<Slots> find_launch_facts(const kernel_view& of, bool short_rows) {
    launch_facts<Slots> out;
    out.axes = find_loop_facts<Slots>(of);
    if (short_rows) out.axes.pointwise = false;  // the lane is the row as it was written
    out.columns = of.nest == nest_kind::columns;
    // No two threads store the same element: an output that lacks the axes of the rows, or the lane's, keeps them together.
    const u32 all = of.all_output_axes();
    u32 across = 0;
    for (int a = 0; a < of.axes; ++a)
        if (of.role_of(a) == axis_role::outer) across |= all & u32(1) << a;
    out.splits_rows = of.outer == 0;
    out.splits_lanes = of.nest != nest_kind::rows && !short_rows;
    for (int o = 0; o < of.outputs; ++o) {
        if (across & ~of.output_free[o]) out.splits_rows = false;
        if (of.vector_bit() & all & ~of.output_free[o]) out.splits_lanes = false;
    }
    for (int s = 0; s < Slots; ++s) out.need[s] = -1;
    for (int i = 0, slot = 0; i < of.instances; ++i) {
        if (!of.is_operand(i)) continue;
        if (reads_per_lane(of, i)) {
            // Of several lane axes any may turn out to be the one with elements: what lies still along it is packed then.
            out.need[slot] = (of.at[i].free & of.vector_bit()) == 0 && of.lane_axis_count() <= 1 ? 0 : 1;
            if (of.where[i] == site::element) out.bytes += dtype_size(of.memory_type(i));
        }
        ++slot;
    }
    for (int o = 0; o < of.outputs; ++o) {
        if (stores_per_lane(of, o)) out.need[Slots - of.outputs + o] = 1;
        if (of.stores_elements(o)) out.output_bytes += dtype_size(of.output_type[o]);
    }
    out.bytes += out.output_bytes;
    return out;
}

/// Chooses the driver and variant for a call, and splits its rows (or one row's elements) over threads.
template <class Kernel, class Family>
struct host_launch {
    using assignment_type = typename Kernel::assignment_type;
    template <bool Fast>
    using driver = conditional<Kernel::nest == nest_kind::columns, column_driver<Kernel, Family, Fast>,
                               conditional<Fast && multiplies<Kernel, Family>, product_driver<Kernel, Family>,
                                           conditional<takes_short_rows<Kernel, Family>, short_row_driver<Kernel, Family>,
                                                       conditional<Fast && uses_table<Kernel, Family>, table_driver<Kernel, Family>,
                                                                   conditional<Fast && sums_codes<Kernel, Family>, code_sum_driver<Kernel, Family>,
                                                                               typename row_driver_of<Kernel, Family>::type>>>>>;

    template <int Instance>
    static constexpr bool known_unit_operand() {
        if constexpr (!reads_per_lane(Kernel::view, Instance))
            return true;
        else
            return row_driver<Kernel, Family>::template stride_of<Instance> != lane_stride::unknown;
    }
    template <int Output>
    static constexpr bool known_unit_output() {
        using view = nth_of_outputs<assignment_type, Output>;
        constexpr int inner = view::rank > 0 ? view::rank - 1 : 0;
        return !stores_per_lane(Kernel::view, Output) || (view::contiguous && view::rank > 0 && Kernel::table.output_varies[Output][inner] &&
                                            Kernel::table.output_axis[Output][inner] == Kernel::vector_axis);
    }
    template <int... Instance, int... Output>
    static constexpr bool always_fast(indices<Instance...>, indices<Output...>) {
        return lane_axis_count<Kernel>() <= 1 && (known_unit_operand<Instance>() && ... && true) && (known_unit_output<Output>() && ... && true);
    }
    static constexpr bool only_fast = always_fast(selected<operand_instances<Kernel>>{}, make_indices<Kernel::outputs>{});

    static constexpr launch_facts<slots<Kernel>::count> make_facts() {
        launch_facts<slots<Kernel>::count> out = find_launch_facts<slots<Kernel>::count>(Kernel::view, takes_short_rows<Kernel, Family>);
        out.operands = binding_facts_of<Kernel>::value;
        out.always_fast = only_fast;
        out.fast = driver<true>::run;
        if constexpr (!only_fast || Kernel::nest == nest_kind::pointwise) out.slow = driver<false>::run;
        return out;
    }
    static constexpr launch_facts<slots<Kernel>::count> facts = make_facts();

    /// Checks a call, makes its loops and runs them. When all layouts are known while compiling, both are constants.
    template <class Hook>
    static SINTER_FORCE_INLINE status launch(const assignment_type& assigned, const Hook& hook, int threads) {
        constexpr int slot_count = slots<Kernel>::count;
        using known = known_binding<Kernel, Family, assignment_type>;
        using call = host_call<Family, slot_count>;
        if constexpr (known::value) {
            const void* pointer[unsigned(slot_count)];
            const status checked = known::check_operands(assigned, pointer, make_indices<Kernel::instances>{}, make_indices<Kernel::outputs>{});
            if (checked.ok() && !known::known.bound.empty_output)
                call::run(facts, &assigned, known::known.bound, pointer, known_loops<known>::value, hook, threads);
            return checked;
        } else {
            slot_state given[unsigned(slot_count)];
            give_all<Kernel>(given, assigned.operands, assigned.targets);
            return call::launch(facts, maps_of<Kernel, Family>(), given, &assigned, hook, threads);
        }
    }
    template <class Known>
    struct known_loops {
        static constexpr loops<slots<Kernel>::count> make() {
            loops<slots<Kernel>::count> out{};
            loop_maker<Family, slots<Kernel>::count>::make(facts.axes, Known::known.bound, out);
            return out;
        }
        static constexpr loops<slots<Kernel>::count> value = make();
    };
};

}  // namespace sinter::detail

namespace sinter {

/// The hook of a backend without threads.
struct calling_thread {
    template <class Function>
    SINTER_FORCE_INLINE void operator()(int count, const Function& function) const {
        for (int i = 0; i < count; ++i) function(i);
    }
};

/// Checks the operands of an assignment and runs it over a lane family; `hook(threads, f)` calls f(0) to f(threads - 1), on any
/// threads in any order, and waits for them. Nothing is written when the status isn't ok. Code for one instruction set must
/// not meet that of another in the linker: let the family be a type of that instruction set alone.
template <class Family, class Assignment, class Hook = calling_thread>
SINTER_FORCE_INLINE status launch_on_host(const Assignment& assigned, const Hook& hook = {}, int threads = 1) {
    return detail::host_launch<kernel<Assignment>, Family>::launch(assigned, hook, threads);
}

}  // namespace sinter
