// cluster_bursts and its kin on the host: work_cluster's steps, each by all workers of all blocks.
#pragma once

template <u32 models> static void clusters_on_host(const run *p, unsigned blocks, unsigned threads, unsigned bytes) {
    auto all = [&](auto piece, bool backwards, unsigned some) {
        for (unsigned b = 0; b < blocks; b++)
            for (unsigned t = 0; t < some; t++) {
                running = {backwards ? blocks - 1 - b : b, blocks, t, threads};
                piece(running.block);
            }
    };
    unsigned workers = threads - 32;
    std::vector<clustered> s(blocks);
    std::vector<std::vector<u64>> room(blocks, std::vector<u64>(bytes / 8 + 3, 0xA5A5A5A5A5A5A5A5));
    std::vector<u8 *> rooms(blocks);
    for (unsigned b = 0; b < blocks; b++) s[b].room = rooms[b] = (u8 *)(((uintptr_t)room[b].data() + 15) / 16 * 16);
    for (unsigned b = 0; b < blocks; b++) s[b].rooms = &rooms[b / p->packed.size * p->packed.size];
    auto complete = [&](u64 t) {
        running = {blocks - 1, blocks, workers, threads};
        tell(p, (u32)(t + 1 - p->first));
    };
    all([&](unsigned b) { divide_cluster<models>(p, &s[b]); }, false, 1);
    all([&](unsigned b) { begin_cluster<models>(p, &s[b]); }, false, threads);
    all([&](unsigned b) { count_ahead(p, p->first - 1, &s[b]); }, false, workers);
    all([&](unsigned b) { stimulate_cluster(p, p->first, &s[b]); }, false, workers);
    for (u64 t = p->first; t < p->first + p->bursts; t++) {
        all([&](unsigned b) { draw_inputs(p, t, &s[b]); }, t % 2, workers);
        all([&](unsigned b) { sum_places(p, t, &s[b]); }, t % 2, workers);
        if (t > p->first) all([&](unsigned b) { bring_queue(p, t - 1, &s[b]); }, t % 3 == 0, workers);
        all([&](unsigned b) { update_cluster<models>(p, t, &s[b]); }, t % 3 == 0, workers);
        all([&](unsigned b) { list_cluster(p, t, &s[b]); }, t % 5 == 0, workers);
        if (t + 1 < p->first + p->bursts) all([&](unsigned b) { stimulate_cluster(p, t + 1, &s[b]); }, t % 2, workers);
        if (t > p->first) complete(t - 1);
        all([&](unsigned b) { count_ahead(p, t, &s[b]); }, t % 2, workers);
        all([&](unsigned b) { zero_sums(p, &s[b]); }, t % 2, workers);
    }
    all([&](unsigned b) { bring_queue(p, p->first + p->bursts - 1, &s[b]); }, false, workers);
    complete(p->first + p->bursts - 1);
    all([&](unsigned b) { end_resident<models>(p, &s[b]); }, true, threads);
    for (unsigned b = 0; b < blocks; b++)
        if (memcmp(rooms[b] + bytes, "\xA5\xA5\xA5\xA5\xA5\xA5\xA5\xA5", 8) != 0) {
            fprintf(stderr, "stand-in for libcuda: a block wrote beside its shared memory\n");
            fault() = ILLEGAL_ADDRESS;
        }
}

// launch_clusters runs a launch of cluster_bursts.
static int launch_clusters(const std::string &kernel, const run *p, unsigned blocks, unsigned threads, unsigned bytes) {
    if (kernel == "cluster_bursts_feagi") clusters_on_host<1 << FEAGI>(p, blocks, threads, bytes);
    else if (kernel == "cluster_bursts_lif") clusters_on_host<1 << LIF>(p, blocks, threads, bytes);
    else clusters_on_host<ALL_MODELS>(p, blocks, threads, bytes);
    return fault();
}
