#include "places.cuh"

// deliver_places is step 1 of the law for rows of places where a burst is computed by itself, one warp a stretch:
//
//	for _, n := range queue { for _, port := range targets(n) { acc[port] += values[label[n]] } }
KERNEL deliver_places(places m, const i32 *values, const u32 *queue, u32 length, i32 *acc) {
    u64 all = (u64)length * m.count;
    u32 each = m.wide ? 8 : 4;
    for (u64 i = thread_index() / 32; i < all; i += thread_count() / 32) {
        u32 n = queue[i / m.count], team = (u32)(i % m.count), from, until;
        stretch_at(&m, team, n, &from, &until);
        i32 weight = values[m.label[n]];
        for (u64 k = (u64)from * each + lane(); k < (u64)until * each; k += 32)
            if (m.place[k] < m.ports) add(acc + (u64)team * m.ports + m.place[k], weight);
    }
}
