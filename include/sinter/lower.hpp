// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lowering: from a program and its outputs to one loop nest, as plain values in constant evaluation. Every node that is
// needed becomes an instance with an access: which loop axis each of its axes follows. Index maps disappear into the
// operands' strides. Reductions get levels; a nest is chosen; what can't be one kernel is refused with a reason.
// No target and no memory here; plan.hpp presents the result, evaluate.hpp and the backends follow it.
#pragma once

#include "assignment.hpp"
#include "lowered.hpp"
#include "size_identity.hpp"

namespace sinter {

namespace detail {

/// How a use reaches a node: loop axis per axis of the (mapped) node.
struct access {
    int rank = 0;
    int axis[max_rank]{};
    bool varies[max_rank]{};
};
struct chain_list {
    int length = 0;
    chain_step step[max_chain]{};
};
inline constexpr int max_known_chains = 8;
/// A node's use that was lowered before: under which chain and access, and to which instance.
struct visit {
    int older = 0;  ///< of the same node: 1 + index, 0: none
    int chain = 0;
    u64 place = 0;
    int made = 0;
};
constexpr u64 packed(const access& use) {
    u64 place = u64(use.rank);
    for (int i = 0; i < use.rank; ++i) place = place << 5 | u64(use.axis[i] + 1) << 1 | u64(use.varies[i]);
    return place;
}
/// Where the axes of a value lie among the loop axes of the outputs, counted from the right.
struct positions {
    int of[max_rank]{};
    static constexpr positions plain(int rank) {
        positions out;
        for (int i = 0; i < rank; ++i) out.of[i] = rank - 1 - i;
        return out;
    }
};
struct fresh_axis {
    int node_rank = 0;
    int position = 0;
    access kept{};
    int axis = 0;
};

template <int Nodes, int Outputs>
struct lowering {
    lowered<Nodes, Outputs> out{};
    const node_value* node = nullptr;
    const inferred<Nodes>* facts = nullptr;
    const bool* weak_leaf = nullptr;
    constexpr lowering() = default;
    constexpr lowering(const node_value* nodes, const inferred<Nodes>& inferred_of_nodes, const bool* weak) : node(nodes), facts(&inferred_of_nodes), weak_leaf(weak) {}
    int axis_at_position[max_rank]{-1, -1, -1, -1, -1, -1, -1, -1};
    bool restores = false;  ///< outputs lie as if dropping reductions kept their axes
    fresh_axis fresh[max_loop_axes]{};
    int fresh_count = 0;
    int one_lane_axis = -1;  ///< of size 1, which folds that need one share
    // Uses that were lowered already, by node: a shared value is visited once and not once for every way that leads to it.
    static constexpr int visit_capacity = 2 * Nodes + 16;
    visit visited[unsigned(visit_capacity)]{};
    int visit_count = 0;
    int newest_visit[unsigned(Nodes)]{};  ///< 1 + index in `visited`, 0: none
    chain_list chains[max_known_chains]{};
    int chain_count = 0;
    int newest_instance[unsigned(Nodes)]{};  ///< the same for instances
    int older_instance[lowered<Nodes, Outputs>::capacity]{};

    constexpr int fail(nest_violation why) {
        if (out.why == nest_violation::none) out.why = why;
        return -1;
    }
    constexpr int new_axis(int key, i64 size) {
        if (out.axis_count == max_loop_axes) {
            fail(nest_violation::too_large);
            return 0;
        }
        out.axis_key[out.axis_count] = key;
        out.axis_size[out.axis_count] = size;
        return out.axis_count++;
    }
    constexpr int position_axis(int position) {
        if (axis_at_position[position] < 0) axis_at_position[position] = new_axis(-1024 * position, 1);
        return axis_at_position[position];
    }
    /// Records that an axis runs over `size`; false when that contradicts a known size.
    constexpr bool note_size(int axis, i64 size) {
        i64& known = out.axis_size[axis];
        if (size == 1 || size == known) return true;
        if (known == 1 || known == dyn) {
            known = size;
            return true;
        }
        if (size == dyn) return true;
        if (is_named_size(known) || is_named_size(size)) {
            if (is_named_size(known)) known = size;
            return true;  // checked when run
        }
        return false;
    }

    /// The node behind index maps: a number is itself wherever they put it.
    constexpr int behind_maps(int index) const {
        while (node[index].kind == node_kind::index_map) index = node[index].argument[0];
        return index;
    }
    constexpr bool is_immediate(int index) const {
        index = behind_maps(index);
        return node[index].kind == node_kind::literal || node[index].kind == node_kind::count ||
               (node[index].kind == node_kind::leaf && weak_leaf[node[index].bits]);
    }

    /// The static shape of a node after a chain, and which final axes are only stretched.
    constexpr bool chain_shape(const shape& from, const chain_list& chain, shape& result, bool (&stretched)[max_rank]) {
        result = from;
        for (int i = 0; i < max_rank; ++i) stretched[i] = false;
        for (int s = 0; s < chain.length; ++s) {
            const chain_step& step = chain.step[s];
            if (step.pad_to > result.rank) {
                shape padded{step.pad_to, {}};
                for (int i = 0; i < step.pad_to; ++i) {
                    const int source = i - (step.pad_to - result.rank);
                    padded.size[i] = source < 0 ? 1 : result.size[source];
                }
                result = padded;
            }
            for (int i = 0; i < result.rank; ++i) stretched[i] = step.stretched[i];
            const bool any = [&] {
                for (int i = 0; i < result.rank; ++i)
                    if (stretched[i]) return true;
                return false;
            }();
            index_map_spec map = step.map;
            if ((map.kind == map_kind::slice || map.kind == map_kind::flip) && stretched[normal_axis(map.number[0], result.rank)])
                continue;
            if (any && (map.kind == map_kind::reshape || map.kind == map_kind::unflatten || map.kind == map_kind::flatten)) {
                fail(nest_violation::map_of_broadcast);
                return false;
            }
            bool moved[max_rank]{};
            move_mask(map, result.rank, stretched, moved);
            if (map.kind == map_kind::expand && any) {
                // Stretched axes stay 1 here; the access broadcasts them.
                const int grow = map.count - result.rank;
                for (int i = 0; i < result.rank; ++i)
                    if (stretched[i]) map.number[grow + i] = 1;
            }
            const shape_result mapped = mapped_shape(map, result);
            if (!mapped.ok()) {
                fail(nest_violation::map_of_broadcast);
                return false;
            }
            result = mapped.value;
            for (int i = 0; i < max_rank; ++i) stretched[i] = moved[i];
        }
        return true;
    }
    /// Where marks on axes go under a map that moves axes.
    static constexpr void move_mask(const index_map_spec& map, int rank, const bool (&from)[max_rank], bool (&to)[max_rank]) {
        switch (map.kind) {
            case map_kind::permute:
                for (int i = 0; i < rank; ++i) to[i] = from[normal_axis(map.number[i], rank)];
                break;
            case map_kind::squeeze: {
                const int axis = normal_axis(map.number[0], rank);
                for (int i = 0; i + 1 < rank; ++i) to[i] = from[i < axis ? i : i + 1];
                break;
            }
            case map_kind::unsqueeze: {
                const int axis = normal_axis(map.number[0], rank + 1);
                for (int i = 0; i <= rank; ++i) to[i] = i == axis ? false : from[i < axis ? i : i - 1];
                break;
            }
            case map_kind::expand:
                for (int i = 0; i < rank; ++i) to[map.count - rank + i] = from[i];
                break;
            default:
                for (int i = 0; i < rank; ++i) to[i] = from[i];
        }
    }

    /// Instance of a node at a place of the nest; -1 after a failure.
    constexpr int lower(int index, const chain_list& chain, const access& use) {
        if (out.why != nest_violation::none) return -1;
        const int chain_id = chain_number(chain);
        const u64 place = packed(use);
        for (int i = newest_visit[index]; i != 0; i = visited[i - 1].older)
            if (visited[i - 1].place == place && visited[i - 1].chain == chain_id) return visited[i - 1].made;
        const node_value& n = node[index];
        if (n.kind == node_kind::index_map) {
            chain_list longer;
            if (chain.length == max_chain) return fail(nest_violation::too_large);
            longer.length = chain.length + 1;
            longer.step[0].map = n.op->map;
            longer.step[0].pad_to = facts->sizes[n.argument[0]].rank;
            for (int i = 0; i < chain.length; ++i) longer.step[i + 1] = chain.step[i];
            return remember(index, chain_id, place, lower(n.argument[0], longer, use));
        }
        // The access from the node's own point of view: axes of static size 1 don't vary.
        shape mapped{};
        bool stretched[max_rank]{};
        if (!chain_shape(facts->sizes[index], chain, mapped, stretched)) return -1;
        instance made;
        made.kind = n.kind;
        made.node = index;
        made.arity = n.arity;
        made.type = compute_dtype(facts->type[index].type);
        made.rank = mapped.rank;
        for (int i = 0; i < mapped.rank; ++i) {
            const int distance = mapped.rank - 1 - i;
            const bool inside = distance < use.rank;
            made.axis[i] = inside ? use.axis[use.rank - 1 - distance] : -1;
            made.varies[i] = inside && use.varies[use.rank - 1 - distance] && mapped.size[i] != 1 && !stretched[i];
        }
        made.chain_length = 0;
        const bool carries_chain = n.kind == node_kind::leaf || n.kind == node_kind::coordinate;
        if (carries_chain && chain.length > 0) {
            made.chain_length = chain.length;
            made.chain = place_chain(chain);
            if (out.why != nest_violation::none) return -1;
        }
        access inner;
        inner.rank = made.rank;
        for (int i = 0; i < made.rank; ++i) {
            inner.axis[i] = made.axis[i];
            inner.varies[i] = made.varies[i];
        }
        switch (n.kind) {
            case node_kind::leaf:
            case node_kind::coordinate:
                made.arity = 0;
                for (int i = 0; i < made.rank; ++i)
                    if (made.varies[i]) {
                        made.free |= u32(1) << made.axis[i];
                        if (!note_size(made.axis[i], mapped.size[i])) return fail(nest_violation::different_sizes);
                    }
                break;
            case node_kind::map:
                for (int a = 0; a < n.arity; ++a) {
                    made.immediate[a] = is_immediate(n.argument[a]) ? behind_maps(n.argument[a]) : n.argument[a];
                    if (is_immediate(n.argument[a])) {
                        made.argument[a] = -1;
                        continue;
                    }
                    chain_list longer = chain;
                    if (chain.length > 0) {
                        // An argument that is broadcast to this node's shape keeps size 1 on those axes along the chain.
                        const shape& whole = facts->sizes[index];
                        const shape& own = facts->sizes[n.argument[a]];
                        bool mark[max_rank]{};
                        for (int i = 0; i < whole.rank; ++i) {
                            const i64 size = own.from_right(whole.rank - 1 - i);
                            mark[i] = size == 1 && whole.size[i] != 1;
                        }
                        if (!mark_chain(longer, whole.rank, mark)) return -1;
                    }
                    const int argument = lower(n.argument[a], longer, inner);
                    if (argument < 0) return -1;
                    made.argument[a] = argument;
                    made.free |= out.at[argument].free;
                    if (out.at[argument].level > made.level) made.level = out.at[argument].level;
                }
                break;
            case node_kind::reduce: {
                if (!lower_reduction(index, chain, made, inner)) return -1;
                break;
            }
            default: break;
        }
        return remember(index, chain_id, place, add(made));
    }
    constexpr int remember(int index, int chain_id, u64 place, int made) {
        if (made >= 0 && chain_id >= 0 && visit_count < visit_capacity) {
            visited[visit_count] = visit{newest_visit[index], chain_id, place, made};
            newest_visit[index] = ++visit_count;
        }
        return made;
    }
    /// Chains by number, 0 the empty one; -1 when the table is full.
    constexpr int chain_number(const chain_list& chain) {
        if (chain.length == 0) return 0;
        for (int c = 0; c < chain_count; ++c) {
            bool same = chains[c].length == chain.length;
            for (int i = 0; same && i < chain.length; ++i) same = chains[c].step[i] == chain.step[i];
            if (same) return c + 1;
        }
        if (chain_count == max_known_chains) return -1;
        chains[chain_count] = chain;
        return ++chain_count;
    }

    /// Where a chain stands in the pool; added when it is new.
    constexpr int place_chain(const chain_list& chain) {
        for (int begin = 0; begin + chain.length <= out.step_count; ++begin) {
            bool same = true;
            for (int i = 0; same && i < chain.length; ++i) same = out.step[begin + i] == chain.step[i];
            if (same) return begin;
        }
        if (out.step_count + chain.length > max_chain_steps) return fail(nest_violation::too_large);
        for (int i = 0; i < chain.length; ++i) out.step[out.step_count++] = chain.step[i];
        return out.step_count - chain.length;
    }

    /// Marks the stretched axes on every step of a chain.
    constexpr bool mark_chain(chain_list& chain, int rank, const bool (&mark)[max_rank]) {
        bool now[max_rank]{};
        for (int i = 0; i < max_rank; ++i) now[i] = mark[i];
        int current = rank;
        for (int s = 0; s < chain.length; ++s) {
            chain_step& step = chain.step[s];
            if (s == 0) step.pad_to = rank;
            bool any = false;
            for (int i = 0; i < current; ++i) {
                step.stretched[i] = step.stretched[i] || now[i];
                any = any || now[i];
            }
            bool moved[max_rank]{};
            const map_kind kind = step.map.kind;
            if (any && (kind == map_kind::reshape || kind == map_kind::unflatten || kind == map_kind::flatten)) {
                fail(nest_violation::map_of_broadcast);
                return false;
            }
            move_mask(step.map, current, now, moved);
            if (kind == map_kind::squeeze) --current;
            if (kind == map_kind::unsqueeze) ++current;
            if (kind == map_kind::expand || kind == map_kind::reshape) current = step.map.count;
            if (kind == map_kind::unflatten) ++current;
            if (kind == map_kind::flatten)
                current -= normal_axis(step.map.number[1], current) - normal_axis(step.map.number[0], current);
            for (int i = 0; i < max_rank; ++i) now[i] = moved[i];
        }
        return true;
    }

    /// Unsqueezes that put each dropped axis back where it was: the reduction with kept axes, spelled otherwise.
    static constexpr bool unsqueezes_restore(const chain_list& chain, int rank, const bool (&reduced)[max_rank]) {
        int axis_of[max_rank]{}, current = 0;  // the argument's axis in each place, -1: a new one
        for (int i = 0; i < rank; ++i)
            if (!reduced[i]) axis_of[current++] = i;
        for (int s = 0; s < chain.length; ++s) {
            const index_map_spec& map = chain.step[s].map;
            if (map.kind != map_kind::unsqueeze || current == max_rank) return false;
            const int at = normal_axis(map.number[0], current + 1);
            for (int i = current; i > at; --i) axis_of[i] = axis_of[i - 1];
            axis_of[at] = -1;
            ++current;
        }
        if (current != rank) return false;
        for (int i = 0; i < rank; ++i)
            if (axis_of[i] != (reduced[i] ? -1 : i)) return false;
        return true;
    }

    /// Does a permutation leave the marked axes in their order?
    static constexpr bool keeps_order(const index_map_spec& map, int rank, const bool (&mark)[max_rank]) {
        for (int i = 0, before = -1; i < rank; ++i) {
            const int axis = normal_axis(map.number[i], rank);
            if (!mark[axis]) continue;
            if (axis < before) return false;
            before = axis;
        }
        return true;
    }
    constexpr bool lower_reduction(int index, const chain_list& chain, instance& made, const access& outer) {
        const node_value& n = node[index];
        const shape& from = facts->sizes[n.argument[0]];
        bool reduced[max_rank]{};
        int ignored = 0;
        reduced_axes(*n.op, from.rank, reduced, ignored);
        access use;
        use.rank = from.rank;
        chain_list pushed = chain;
        bool mark[max_rank]{};
        for (int i = 0; i < from.rank; ++i) mark[i] = reduced[i];
        const bool keep = n.op->keep || unsqueezes_restore(chain, from.rank, reduced);
        if (keep && !n.op->keep) {
            pushed.length = 0;
        } else if (chain.length > 0) {
            // The same maps apply to the argument when they only move axes, and leave the folded ones alone: their order, which an index and
            // the bits of a sum depend on, and which of them are the last, which follow the lane rule.
            if (!n.op->keep) {
                fail(nest_violation::map_of_reduction);
                return false;
            }
            bool last[max_rank]{};
            for (int i = from.rank - 1; i >= 0 && mark[i]; --i) last[i] = true;
            int kept = 0;
            pushed.length = 0;
            int rank = from.rank;
            for (int s = 0; s < chain.length; ++s) {
                const index_map_spec& map = chain.step[s].map;
                const bool on_folded = (map.kind == map_kind::slice || map.kind == map_kind::flip) &&
                                       mark[normal_axis(map.number[0], rank)];
                const bool moves = map.kind == map_kind::permute || map.kind == map_kind::slice || map.kind == map_kind::flip ||
                                   map.kind == map_kind::unsqueeze;
                if (!moves || (map.kind == map_kind::permute && !keeps_order(map, rank, mark))) {
                    fail(nest_violation::map_of_reduction);
                    return false;
                }
                if (on_folded) continue;
                pushed.step[kept] = chain.step[s];
                for (int i = 0; i < max_rank; ++i) pushed.step[kept].stretched[i] = chain.step[s].stretched[i] && !mark[i];
                ++kept;
                bool moved[max_rank]{};
                move_mask(map, rank, mark, moved);
                for (int i = 0; i < max_rank; ++i) mark[i] = moved[i];
                move_mask(map, rank, last, moved);
                for (int i = 0; i < max_rank; ++i) last[i] = moved[i];
                if (map.kind == map_kind::unsqueeze) ++rank;
            }
            pushed.length = kept;
            use.rank = rank;
            bool trailing = true;
            for (int i = rank - 1; i >= 0; --i) {
                trailing = trailing && mark[i];
                if (last[i] != trailing) {
                    fail(nest_violation::map_of_reduction);
                    return false;
                }
            }
        }
        // Loop axes of the argument: kept ones follow the use; a folded one follows the axis along which the result is
        // broadcast back, so that softmax and its kin read one row; else a new one.
        shape argument_shape{};
        bool unused[max_rank]{};
        if (!chain_shape(from, pushed, argument_shape, unused)) return false;
        int next = 0;
        access kept{};
        bool leading = true, seen_kept = false;
        for (int i = 0; i < use.rank; ++i) {
            if (!mark[i]) seen_kept = true;
            if (mark[i] && seen_kept) leading = false;
        }
        for (int i = 0; i < use.rank; ++i) {
            if (keep || !mark[i]) {
                const int source = keep ? i : next++;
                const int distance = (keep ? use.rank : outer.rank) - 1 - source;
                const bool inside = distance < outer.rank;
                use.axis[i] = inside ? outer.axis[outer.rank - 1 - distance] : -1;
                use.varies[i] = inside && (mark[i] ? true : outer.varies[outer.rank - 1 - distance]);
                if (!mark[i]) {
                    kept.axis[kept.rank] = use.axis[i];
                    kept.varies[kept.rank++] = use.varies[i];
                }
            }
        }
        for (int i = 0; i < use.rank; ++i) {
            if (!mark[i]) continue;
            const i64 size = argument_shape.size[i];
            if (keep && use.axis[i] >= 0 && compatible(use.axis[i], size) && !taken(use, i)) {
                use.varies[i] = true;
                continue;
            }
            use.axis[i] = -1;
            const int position = use.rank - 1 - i;
            if (keep || leading || (restores && in_place(use, mark))) {
                const int candidate = axis_at_position[position];
                if ((candidate < 0 || compatible(candidate, size)) && !taken_axis(use, i, candidate)) {
                    use.axis[i] = position_axis(position);
                    use.varies[i] = true;
                    continue;
                }
            }
            use.axis[i] = find_fresh(use, i, kept, size);
            use.varies[i] = true;
            if (out.why != nest_violation::none) return false;
        }
        const int argument = lower(n.argument[0], pushed, use);
        if (argument < 0) return false;
        made.arity = 1;
        made.argument[0] = argument;
        made.immediate[0] = n.argument[0];
        made.free = out.at[argument].free;
        made.level = out.at[argument].level;
        // Folded loop axes; an axis of static size 1 folds nothing. The trailing run of folded axes follows the lane rule.
        bool trailing = true;
        for (int i = use.rank - 1; i >= 0; --i) {
            if (!mark[i]) {
                trailing = false;
                continue;
            }
            if (argument_shape.size[i] == 1) continue;
            const u32 bit = u32(1) << use.axis[i];
            if (!note_size(use.axis[i], argument_shape.size[i])) {
                fail(nest_violation::different_sizes);
                return false;
            }
            made.folded |= bit;
            if (trailing) made.lane_axes |= bit;
        }
        if (made.folded && !made.lane_axes && mark[use.rank - 1] && tells_lanes()) made.folded |= made.lane_axes = u32(1) << lane_axis_of_one();
        made.free &= ~made.folded;
        if (made.folded) ++made.level;
        return true;
    }
    /// Where all trailing folded axes have static size 1 and others are folded, too, the lane rule folds that one element before the column
    /// rule folds the rest. Whether it does, only some monoids tell; for the others columns are the faster nest.
    constexpr bool tells_lanes() const {
        for (int i = 0; i < Nodes; ++i)
            if (node[i].kind == node_kind::reduce && (node[i].op->two_phase || !node[i].op->identity_is_exact)) return true;
        return false;
    }
    constexpr int lane_axis_of_one() {
        if (one_lane_axis < 0) one_lane_axis = new_axis(1 << 20, 1);  // innermost
        return one_lane_axis;
    }
    /// Do the kept axes of a reduction's argument follow the loop axes at their own positions?
    constexpr bool in_place(const access& use, const bool (&folded)[max_rank]) const {
        for (int i = 0; i < use.rank; ++i)
            if (!folded[i] && use.varies[i] && use.axis[i] != axis_at_position[use.rank - 1 - i]) return false;
        return true;
    }
    constexpr bool compatible(int axis, i64 size) const {
        const i64 known = out.axis_size[axis];
        return known == size || known == 1 || size == 1 || known < 0 || size < 0;
    }
    static constexpr bool taken(const access& use, int index) {
        for (int i = 0; i < use.rank; ++i)
            if (i != index && use.axis[i] == use.axis[index] && use.varies[i]) return true;
        return false;
    }
    static constexpr bool taken_axis(const access& use, int index, int axis) {
        if (axis < 0) return false;
        for (int i = 0; i < use.rank; ++i)
            if (i != index && use.axis[i] == axis && use.varies[i]) return true;
        return false;
    }
    constexpr int find_fresh(const access& use, int index, const access& kept, i64 size) {
        for (int f = 0; f < fresh_count; ++f) {
            const fresh_axis& known = fresh[f];
            bool same = known.node_rank == use.rank && known.position == index && known.kept.rank == kept.rank &&
                        compatible(known.axis, size);
            for (int i = 0; same && i < kept.rank; ++i)
                same = known.kept.axis[i] == kept.axis[i] && known.kept.varies[i] == kept.varies[i];
            if (same) return known.axis;
        }
        int key = 1;
        for (int i = 0; i < use.rank; ++i) {
            if (use.axis[i] < 0) continue;
            if (i < index) key = out.axis_key[use.axis[i]] + 1 + fresh_count;
            if (i > index && (index == 0 || use.axis[index - 1] < 0)) {
                key = out.axis_key[use.axis[i]] - 512 + fresh_count;
                break;
            }
        }
        if (fresh_count == max_loop_axes) {
            fail(nest_violation::too_large);
            return 0;
        }
        const int axis = new_axis(key, 1);
        fresh[fresh_count].node_rank = use.rank;
        fresh[fresh_count].position = index;
        fresh[fresh_count].kept = kept;
        fresh[fresh_count].axis = axis;
        ++fresh_count;
        return axis;
    }

    constexpr int add(const instance& made) {
        for (int i = newest_instance[made.node] - 1; i >= 0; i = older_instance[i] - 1) {
            const instance& known = out.at[i];
            if (known.free != made.free || known.chain_length != made.chain_length || known.chain != made.chain ||
                known.folded != made.folded)
                continue;
            bool same = known.rank == made.rank;
            for (int a = 0; same && a < made.arity; ++a) same = known.argument[a] == made.argument[a];
            // Where the value doesn't vary, the axis it would follow is without meaning.
            for (int a = 0; same && a < made.rank; ++a)
                same = known.varies[a] == made.varies[a] && (!made.varies[a] || known.axis[a] == made.axis[a]);
            if (same) return i;
        }
        if (out.size == lowered<Nodes, Outputs>::capacity) return fail(nest_violation::too_large);
        older_instance[out.size] = newest_instance[made.node];
        newest_instance[made.node] = out.size + 1;
        out.at[out.size] = made;
        return out.size++;
    }

    /// An output's axes are loop axes; those of several outputs are aligned at the right, where their sizes must agree.
    constexpr bool place_output_axes(const shape& sizes, const positions& at) {
        for (int i = 0; i < sizes.rank; ++i)
            if (!note_size(position_axis(at.of[i]), sizes.size[i])) fail(nest_violation::different_sizes);
        return out.why == nest_violation::none;
    }
    /// The positions of a value's axes, counted from the right, if each reduction that drops axes kept them: `m = mean(x, last_axis, drop)`
    /// then lies beside `x - mean(x, last_axis)`. The plain ones where that isn't known.
    constexpr positions restored(int index, int rank) const {
        positions place = positions::plain(rank);
        const node_value& n = node[index];
        if (n.kind == node_kind::map) {
            for (int a = 0; a < n.arity; ++a)  // an argument with all axes leads
                if (!is_immediate(n.argument[a]) && facts->sizes[n.argument[a]].rank == rank) return restored(n.argument[a], rank);
        } else if (n.kind == node_kind::reduce) {
            const int from = facts->sizes[n.argument[0]].rank;
            const positions argument = restored(n.argument[0], from);
            bool reduced[max_rank]{};
            int ignored = 0, next = 0;
            reduced_axes(*n.op, from, reduced, ignored);
            for (int i = 0; i < from; ++i)
                if ((n.op->keep || !reduced[i]) && next < rank) place.of[next++] = argument.of[i];
        }
        return place;
    }
    /// Lowers a root whose value is stored to an output of these sizes.
    constexpr bool lower_output(int output, int root, const shape& sizes, const positions& at) {
        access use;
        use.rank = sizes.rank;
        for (int i = 0; i < use.rank; ++i) {
            use.axis[i] = axis_at_position[at.of[i]];
            use.varies[i] = sizes.size[i] != 1;
            out.output_axis[output][i] = use.axis[i];
            out.output_varies[output][i] = use.varies[i];
            if (use.varies[i]) out.output_free[output] |= u32(1) << use.axis[i];
        }
        out.output_immediate[output] = behind_maps(root);
        out.output[output] = is_immediate(root) ? -1 : lower(root, chain_list{}, use);
        return out.why == nest_violation::none;
    }

    /// A count refers to a reduction by node; any instance of it folds the same sizes.
    constexpr void resolve_counts() {
        for (int i = 0; i < out.size; ++i)
            for (int a = 0; a < out.at[i].arity; ++a) {
                if (out.at[i].argument[a] >= 0 || out.at[i].kind != node_kind::map) continue;
                const node_value& immediate = node[out.at[i].immediate[a]];
                if (immediate.kind == node_kind::count) out.at[i].count_of[a] = reduction_instance(immediate.argument[0]);
            }
    }
    constexpr int reduction_instance(int reduction) {
        for (int i = 0; i < out.size; ++i)
            if (out.at[i].node == reduction) return i;
        return fail(nest_violation::too_large);
    }

    /// All of it: outputs' axes are the first loop axes, aligned at the right.
    constexpr void lower_all(const int* root, const shape* output_shape) {
        positions at[unsigned(Outputs)]{};
        for (int o = 0; o < Outputs; ++o) {
            const int rank = output_shape[o].rank;
            at[o] = restores && facts->sizes[root[o]].rank == rank ? restored(root[o], rank) : positions::plain(rank);
            if (!place_output_axes(output_shape[o], at[o])) return;
        }
        for (int o = 0; o < Outputs; ++o)
            if (!lower_output(o, root[o], output_shape[o], at[o])) return;
        resolve_counts();
        choose_nest();
    }
    /// Chooses the nest: which axes the inner reductions fold, and whether others fold row values.
    constexpr void choose_nest() {
        for (int i = 0; i < out.axis_count; ++i) out.order[i] = i;
        for (int i = 1; i < out.axis_count; ++i)
            for (int j = i; j > 0 && out.axis_key[out.order[j]] < out.axis_key[out.order[j - 1]]; --j) {
                const int swap = out.order[j];
                out.order[j] = out.order[j - 1];
                out.order[j - 1] = swap;
            }
        u32 groups[2]{};
        int group_count = 0;
        for (int i = 0; i < out.size; ++i) {
            const u32 folded = out.at[i].folded;
            if (!folded) continue;
            bool known = false;
            for (int g = 0; g < group_count; ++g) known = known || groups[g] == folded;
            if (known) continue;
            if (group_count == 2) {
                fail(nest_violation::incompatible_axes);
                return;
            }
            groups[group_count++] = folded;
        }
        if (group_count == 0) {
            out.kind = nest_kind::pointwise;
            return;
        }
        if (group_count == 1) {
            out.inner = groups[0];
        } else if (nests(groups[0], groups[1])) {
            out.inner = groups[0];
            out.outer = groups[1];
        } else if (nests(groups[1], groups[0])) {
            out.inner = groups[1];
            out.outer = groups[0];
        } else {
            fail(nest_violation::incompatible_axes);
            return;
        }
        bool first = true;
        for (int i = 0; i < out.size; ++i) {
            instance& it = out.at[i];
            if (!it.folded) continue;
            it.fold_group = it.folded == out.inner ? 0 : 1;
            if (it.fold_group == 0) {
                if (!first && it.lane_axes != out.inner_lane) {
                    fail(nest_violation::incompatible_axes);
                    return;
                }
                out.inner_lane = it.lane_axes;
                first = false;
                if (it.level > out.levels) out.levels = it.level;
            } else if (it.lane_axes != it.folded) {
                fail(nest_violation::incompatible_axes);  // row values fold by the lane rule only
                return;
            }
        }
        out.kind = out.inner_lane ? nest_kind::rows : nest_kind::columns;
        if (out.outer && out.kind == nest_kind::columns) fail(nest_violation::incompatible_axes);
    }
    /// Reductions over `outer` fold values that don't vary over `inner`, all rows are theirs, and nothing else depends on them.
    constexpr bool nests(u32 inner, u32 outer) const {
        if (inner & outer) return false;
        bool depends[lowered<Nodes, Outputs>::capacity]{};
        for (int i = 0; i < out.size; ++i) {
            const instance& it = out.at[i];
            for (int a = 0; a < it.arity; ++a)
                if (it.argument[a] >= 0 && depends[it.argument[a]]) depends[i] = true;
            if (it.folded == outer) {
                if (out.at[it.argument[0]].free & inner) return false;
                if (depends[i]) return false;  // a second level over rows would need a second sweep
                depends[i] = true;
            }
            if (depends[i] && (it.free != 0 || it.folded == inner)) return false;
        }
        for (int o = 0; o < Outputs; ++o)  // nor does it fill a tensor: the rows are over when it is known
            if (out.output[o] >= 0 && depends[out.output[o]] && out.output_free[o] != 0) return false;
        return true;
    }
};

/// Calls note(axis, size) with the sizes of operands, by who gives them, along each loop axis that their elements vary over.
template <class Lowering, class Table, class Note>
constexpr void note_sizes_of_operands(const size_identities<Lowering>& known, const Table& table, const Note& note) {
    lowering<Lowering::node_count, 1> work;
    for (int i = 0; i < table.size; ++i) {
        const instance& it = table.at[i];
        if (it.kind != node_kind::leaf) continue;
        chain_list chain;
        chain.length = it.chain_length;
        for (int s = 0; s < it.chain_length; ++s) chain.step[s] = table.step[it.chain + s];
        shape sizes{};
        bool stretched[max_rank]{};
        work.chain_shape(known.identity[it.node], chain, sizes, stretched);
        for (int a = 0; a < it.rank; ++a)
            if (it.varies[a]) note(it.axis[a], sizes.size[a] == dyn ? known.unknown_size(Lowering::leaf_count + it.node, a) : sizes.size[a]);
    }
}
/// The same with the sizes of outputs: their values', but where a value is to fill an axis.
template <class Lowering, class Table, class Note>
constexpr void note_sizes_of_outputs(const size_identities<Lowering>& known, const Table& table, const Note& note) {
    for (int o = 0; o < Lowering::output_count; ++o) {
        const shape& stored = Lowering::output_shape[o];
        for (int i = 0; i < stored.rank; ++i) {
            if (!table.output_varies[o][i]) continue;
            const i64 value = known.identity[Lowering::root[o]].from_right(stored.rank - 1 - i);
            i64 size = stored.size[i];
            if (size < 0 && value != 1) size = value;
            if (size == dyn) size = known.unknown_size(Lowering::leaf_count + Lowering::node_count + o, i);
            note(table.output_axis[o][i], size);
        }
    }
}
/// Do all sizes that share a loop axis agree whatever they are when run: those of outputs, and along a folded axis of operands, too?
template <class Lowering, class Table>
constexpr bool sizes_surely_agree(const Table& table) {
    constexpr int outputs = Lowering::output_count;
    size_identities<Lowering> known;
    for (int o = 0; o < outputs; ++o) {  // an output's own sizes say what its value's are
        const shape& stored = Lowering::output_shape[o];
        for (int d = 0; d < stored.rank; ++d) {
            const i64 value = known.identity[Lowering::root[o]].from_right(d), size = stored.from_right(d);
            if (size == dyn || value >= 0) continue;
            for (shape& one : known.identity)
                for (i64& same : one.size)
                    if (same == value) same = size;
        }
    }
    i64 along[max_loop_axes]{};
    bool agree = true;
    const auto note = [&](int axis, i64 size) {
        if (along[axis] != 0 && along[axis] != size) agree = false;
        along[axis] = size;
    };
    note_sizes_of_outputs(known, table, note);
    note_sizes_of_operands(known, table, [&](int axis, i64 size) {
        if ((table.inner | table.outer) >> axis & 1) note(axis, size);
    });
    return agree;
}

/// Do at least the operands and outputs that share a folded loop axis surely have one size along it? If not, as in
/// sum(a, axes<1>) + sum(b, axes<1>), or y = sum(a) that fills a tensor, the kernel is right where the sizes are equal when run, and the call
/// refused where they aren't.
template <class Lowering>
constexpr bool folds_surely_agree() {
    constexpr auto& table = Lowering::value;
    const size_identities<Lowering> known;
    i64 along[max_loop_axes]{};
    bool agree = true;
    const auto note = [&](int axis, i64 size) {
        if (!((table.inner | table.outer) >> axis & 1)) return;
        if (along[axis] != 0 && along[axis] != size) agree = false;
        along[axis] = size;
    };
    note_sizes_of_outputs(known, table, note);
    note_sizes_of_operands(known, table, note);
    return agree;
}
/// Is a formula one kernel, and surely so, whatever its sizes are when run? Axes that lie side by side only since a dropped one was put back
/// may have other sizes; so may axes that unrelated operands are folded along.
template <class Lowering>
constexpr bool is_surely_one_kernel() {
    if constexpr (Lowering::value.why != nest_violation::none || Lowering::value.restored)
        return false;
    else
        return folds_surely_agree<Lowering>();
}

/// Of a leaf's or an output's elements; 0 for what has none.
template <class Leaf>
constexpr u64 parameters_of_elements() {
    if constexpr (requires { typename Leaf::element; })
        return element_parameters<remove_cvref<typename Leaf::element>>;
    else
        return 0;
}
template <class Leaf>
constexpr table_facts table_facts_of() {
    if constexpr (is_table<Leaf>)
        return {static_cast<u8>(sizeof(typename Leaf::element)), decltype(Leaf::value)::extents_type::static_shape};
    else
        return {};
}

}  // namespace detail

/// The lowered form of an assignment type, once per type.
template <class Assignment>
struct lowering_of;
template <class... Node, int... Roots, class... Leaves, class... Outputs>
struct lowering_of<assignment<program<Node...>, indices<Roots...>, list<Leaves...>, list<Outputs...>>> {
    static constexpr int node_count = int(sizeof...(Node));
    static constexpr int leaf_count = int(sizeof...(Leaves));
    static constexpr int output_count = int(sizeof...(Outputs));
    static constexpr node_value node[unsigned(node_count)] = {node_traits<Node>::value...};
    static constexpr shape leaf_shape[unsigned(leaf_count + 1)] = {detail::leaf_facts<Leaves>::sizes..., shape{}};
    static constexpr value_type leaf_type[unsigned(leaf_count + 1)] = {detail::leaf_facts<Leaves>::type..., value_type{}};
    static constexpr bool weak_leaf[unsigned(leaf_count + 1)] = {detail::leaf_facts<Leaves>::type.weak..., false};
    static constexpr table_facts leaf_table[unsigned(leaf_count + 1)] = {detail::table_facts_of<Leaves>()..., table_facts{}};
    static constexpr u64 leaf_parameters[unsigned(leaf_count + 1)] = {detail::parameters_of_elements<Leaves>()..., 0};
    static constexpr u64 output_parameters[unsigned(output_count)] = {detail::parameters_of_elements<Outputs>()...};
    static constexpr int root[unsigned(output_count)] = {Roots...};
    static constexpr shape output_shape[unsigned(output_count)] = {Outputs::extents_type::static_shape...};
    static constexpr dtype output_type[unsigned(output_count)] = {dtype_of<remove_cvref<typename Outputs::element>>...};

    static constexpr inferred<node_count> facts = infer_nodes<node_count>(node, leaf_shape, leaf_type);

    static constexpr lowered<node_count, output_count> lower() {
        detail::lowering<node_count, output_count> work(node, facts, weak_leaf);
        work.lower_all(root, output_shape);
        if constexpr (output_count > 1) return lower_outputs_together(work);
        return work.out;
    }
    static constexpr lowered<node_count, output_count> lower_outputs_together(const detail::lowering<node_count, output_count>& work) {
        // One that drops axes beside one that keeps them: side by side, as if both kept. Aligned at the right, sizes known only when
        // run may fit by chance alone; if none needs chance side by side, that is better.
        const bool fits = work.out.why == nest_violation::none;
        if (fits && (!drops_inside() || detail::sizes_surely_agree<lowering_of>(work.out))) return work.out;
        detail::lowering<node_count, output_count> again(node, facts, weak_leaf);
        again.restores = true;
        again.out.restored = true;
        again.lower_all(root, output_shape);
        if (again.out.why != nest_violation::none || (fits && !detail::sizes_surely_agree<lowering_of>(again.out))) return work.out;
        return again.out;
    }
    /// Does an output lie elsewhere when dropped axes are put back?
    static constexpr bool drops_inside() {
        const detail::lowering<node_count, output_count> work(node, facts, weak_leaf);
        for (int o = 0; o < output_count; ++o) {
            const int rank = output_shape[o].rank;
            if (facts.sizes[root[o]].rank != rank) continue;
            const detail::positions at = work.restored(root[o], rank);
            for (int i = 0; i < rank; ++i)
                if (at.of[i] != rank - 1 - i) return true;
        }
        return false;
    }
    static constexpr lowered<node_count, output_count> table = lower();  // no reference: device code reads it
    static constexpr const auto& value = table;
};

}  // namespace sinter
