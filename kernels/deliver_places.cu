#include "network.cuh"
#include "places.cuh"

// piece_of is the i-th piece of the rows of a queue.
DEVICE u64 piece_of(const places *m, const u32 *queue, u64 i) {
    return (u64)queue[i >> m->pieces_log] << m->pieces_log | (i & ((1u << m->pieces_log) - 1));
}

// deliver_places is step 1 of the law for rows of places where a burst is computed by itself, one thread a slot; own is whose the
// places are:
//
//	for _, n := range queue { for _, port := range targets(n) { acc[port] += values[label[n]] } }
KERNEL deliver_places(places m, part own, const area *areas, u32 area_count, const i32 *values, const u32 *queue, u32 length, i32 *acc) {
    u64 all = ((u64)length << m.pieces_log) * m.count;
    for (u64 i = thread_index(); i < all; i += thread_count()) {
        u64 slot = piece_of(&m, queue, i / m.count) * m.count + i % m.count;
        u32 first = first_of(&m, (u32)(i % m.count)), units = 1u << m.units_log, next = NO_UNIT;
        i32 weight = 0;
        for (u32 k = 0; k < units || next != NO_UNIT; k++) {
            unit u = k < units ? load_unit(m.slot, (slot << m.units_log) + k) : load_unit(m.more, next);
            if (k == 0) weight = values[label_of(&u)];
            if (k == 0 || k >= units) next = further(&u);
#pragma unroll
            for (u32 j = 0; j < UNIT; j++) {
                u32 place = u.word[j / 2] >> 16 * (j % 2) & 0xffff;
                if (place >= m.ports) continue;
                bool second = place >= m.neurons;
                u32 n = neuron_of(own, first + place - (second ? m.neurons : 0));
                add(acc + (m.ports == m.neurons ? n : port_at(area_of(areas, area_count, n), n, second)), weight);
            }
        }
    }
}
