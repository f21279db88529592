#include "neural_dynamics_fcl.cu"

// custom_ports is custom for a model with any number of ports, whose sums begin at an address; those of a neuron's next port lie as many
// sums further on as the area has neurons. The models' code reads them, after the remark custom_ports.
DEVICE bool custom_ports(const network *w, const area *a, u32 i, u32 n) {
    const float *each = w->constants + a->each;
    const i32 *sums = w->acc + a->first_port + i;
    float *v = w->v + n, *more = w->more + n, scale = (float)w->scale;
    u32 r = w->refractory[n], count = a->end - a->first, fires;
#ifdef BURST_ONE_UNIT
    fires = custom_ports(a->program, r, sums, scale, v, more, w->pitch, a->k, each, i, count, a->first + i, w->seed, w->t); // runs what stands in the place of the remark
#else
    asm volatile("// custom_ports %0 %1 %2 %3 %4 %5 %6 %7 %8 %9 %10 %11 %12 %13 %14"
                 : "=r"(fires)
                 : "r"(a->program), "r"(r), "l"(sums), "f"(scale), "l"(v), "l"(more), "l"(w->pitch), "l"(a->k), "l"(each),
                   "r"(i), "r"(count), "r"(a->first + i), "l"(w->seed), "l"(w->t)
                 : "memory");
#endif
    w->refractory[n] = (u16)(fires ? silence(a, fires) : r > 0 ? r - 1 : 0);
    return fires;
}

// update_ports is update for neuron n with the sums of acc.
DEVICE bool update_ports(const network *w, u32 n) {
    const area *a = area_of(w->areas, w->area_count, n);
    u32 i = n - a->first, port = a->first_port + i, ports = a->ports;
    if (a->model == CUSTOM) return custom_ports(w, a, i, n);
    return update<(ALL_MODELS & ~(1 << CUSTOM)) | BURST_BY_BURST>(w, a, i, n, ports > 0 ? w->acc[port] : 0,
                                                                  ports > 1 ? w->acc[port + (a->end - a->first)] : 0, term_of(w, a, i));
}

// neural_dynamics_ports is neural_dynamics_fcl for networks in which neurons have more than two ports.
KERNEL neural_dynamics_ports(network w, u32 neurons, u32 *fired, u32 ports, u32 *candidates) {
    u64 i = thread_index();
    bool fires = i < neurons && owns(w.own, (u32)i) && update_ports(&w, (u32)i);
    if (i / 32 * 32 < neurons) store_bits(fired + i / 32, fires);
    if (i / 32 * 32 < ports) store_bits(candidates + i / 32, i < ports && w.acc[i] != 0);
}
