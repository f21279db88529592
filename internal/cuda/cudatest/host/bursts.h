// How the stand-in lists kernels of many bursts, and others. Who includes it has their text.
#pragma once
#include "kernel.h"

static network_of network(const void *argument) {
    auto p = (const run *)argument;
    return {p->devices, p->devices > 1 ? p->x->stop : nullptr, false};
}
static network_of waiting_network(const void *argument) {
    network_of n = network(argument);
    n.waits = true;
    return n;
}

#define ENTRY(f) KERNEL_ENTRY(f, nullptr)
#define BURSTS(f) KERNEL_ENTRY(f, network)
#define LASTING(f) KERNEL_ENTRY(f, waiting_network)
#define LEARN_ENTRIES                                                                                                                      \
    ENTRY(learn_modulators), ENTRY(learn_sources), ENTRY(learn_events), ENTRY(learn_targets), ENTRY(learn_rows), ENTRY(learn_sweep),       \
        ENTRY(learn_swept), ENTRY(learn_totals), ENTRY(learn_every), ENTRY(learn_silence), ENTRY(learn_spikes), ENTRY(learn_window), ENTRY(learn_cuts)
