#include "places.cuh"

// deliver_places is step 1 of the law for rows of places where a burst is computed by itself, one thread a slot:
//
//	for _, n := range queue { for _, port := range targets(n) { acc[port] += values[label[n]] } }
KERNEL deliver_places(places m, const i32 *values, const u32 *queue, u32 length, i32 *acc) {
    u64 all = (u64)length * m.count;
    for (u64 i = thread_index(); i < all; i += thread_count()) {
        u32 n = queue[i / m.count], team = (u32)(i % m.count), next = NO_UNIT;
        i32 weight = values[m.label[n]], *sums = acc + (u64)team * m.ports;
        for (u32 k = 0; k < m.units || next != NO_UNIT; k++) {
            unit u = k < m.units ? load_unit(m.slot, ((u64)n * m.count + team) * m.units + k) : load_unit(m.more, next);
            u32 after = further(&u);
            if (k == 0 || k >= m.units) next = after;
            for (u32 j = 0; j < UNIT; j++) {
                u32 place = u.word[j / 2] >> 16 * (j % 2) & 0xffff;
                if (place < m.ports) add(sums + place, weight);
            }
        }
    }
}
