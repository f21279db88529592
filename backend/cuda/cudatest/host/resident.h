// resident_bursts and its kin on the host.
#pragma once

// resident_on_host is the same for resident_bursts: work's steps, each by all workers of all blocks.
template <u32 models> static void resident_on_host(const run *p, unsigned blocks, unsigned threads, unsigned bytes) {
    auto all = [&](auto piece, bool backwards, unsigned some) {
        for (unsigned b = 0; b < blocks; b++)
            for (unsigned t = 0; t < some; t++) {
                running = {backwards ? blocks - 1 - b : b, blocks, t, threads};
                piece(running.block);
            }
    };
    unsigned workers = threads - 32;
    std::vector<resident> s(blocks);
    std::vector<std::vector<u64>> room(blocks, std::vector<u64>(bytes / 8 + 1, 0xA5A5A5A5A5A5A5A5));
    for (unsigned b = 0; b < blocks; b++) s[b].room = (u8 *)room[b].data();
    auto complete = [&](u64 t) {
        if (lists(&p->list)) all([&](unsigned) { list_candidates(&p->list, t - p->first, p->block_neurons, workers); }, t % 2, workers);
        running = {blocks - 1, blocks, workers, threads};
        tell(p, (u32)(t + 1 - p->first));
    };
    all([&](unsigned b) { divide<models>(p, &s[b]); }, false, 1);
    all([&](unsigned b) { begin_resident<models>(p, &s[b]); }, false, threads);
    all([&](unsigned b) { deliver_rows(p, p->first - 1, (u32)(p->first % 3), &s[b], true); }, false, workers);
    for (u64 t = p->first; t < p->first + p->bursts; t++) {
        all([&](unsigned b) { prepare(p, t, &s[b]); }, false, workers);
        all([&](unsigned b) { drive_block(p, t, &s[b]); }, false, workers);
        all([&](unsigned b) { update_resident<models>(p, t, &s[b]); }, t % 3 == 0, workers);
        all([&](unsigned b) { count_groups(p, &s[b]); }, t % 2, workers);
        if (lists(&p->list)) all([&](unsigned) { count_candidates(&p->list, t - p->first, p->block_neurons); }, t % 3 == 0, workers);
        all([&](unsigned b) { list_block(p, &s[b]); }, t % 2, workers);
        if (lists(&p->list)) all([&](unsigned) { count_spans(&p->list, t - p->first, p->block_neurons, workers); }, t % 3 == 0, workers);
        all([&](unsigned b) { send(p, t, (u32)((t + 1) % 3), &s[b]); }, t % 5 == 0, workers);
        all([&](unsigned b) { deliver_rows(p, t, (u32)((t + 1) % 3), &s[b], false); }, t % 2, workers);
        if (lists(&p->list) && t > p->first) complete(t - 1);
        all([&](unsigned b) { leave(p, &s[b]); }, t % 2, workers);
        if (!lists(&p->list)) complete(t);
        bool more = false;
        for (auto &one : s) more |= one.left, one.left = 0;
        if (more && t + 1 < p->first + p->bursts) all([&](unsigned b) { deliver_rows(p, t, (u32)((t + 1) % 3), &s[b], true); }, t % 2, workers);
    }
    if (lists(&p->list)) complete(p->first + p->bursts - 1);
    all([&](unsigned b) { end_resident<models>(p, &s[b]); }, true, threads);
    for (auto &one : room)
        if (one.back() != 0xA5A5A5A5A5A5A5A5) {
            fprintf(stderr, "stand-in for libcuda: a block wrote beside its shared memory\n");
            fault() = ILLEGAL_ADDRESS;
        }
}

// launch_resident runs a launch of resident_bursts.
static int launch_resident(const std::string &kernel, const run *p, unsigned blocks, unsigned threads, unsigned bytes) {
    if (kernel == "resident_bursts_feagi") resident_on_host<1 << FEAGI>(p, blocks, threads, bytes);
    else if (kernel == "resident_bursts_lif") resident_on_host<1 << LIF>(p, blocks, threads, bytes);
    else if (kernel == "resident_bursts_psc_exp") resident_on_host<1 << PSC_EXP>(p, blocks, threads, bytes);
    else resident_on_host<ALL_MODELS>(p, blocks, threads, bytes);
    return fault();
}
