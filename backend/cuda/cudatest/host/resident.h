// resident_bursts, delayed_bursts and their kin on the host: the kernels' steps, each by threads of all blocks, one after the other.
#pragma once

// residents is a launch of one of them.
struct residents {
    const run *p;
    unsigned blocks, threads, workers;
    std::vector<resident> s;
    std::vector<std::vector<u64>> room; // the blocks' shared memory

    residents(const run *p, unsigned blocks, unsigned threads, unsigned bytes)
        : p(p), blocks(blocks), threads(threads), workers(threads - 32), s(blocks),
          room(blocks, std::vector<u64>(bytes / 8 + 1, 0xA5A5A5A5A5A5A5A5)) {
        for (unsigned b = 0; b < blocks; b++) s[b].room = (u8 *)room[b].data();
    }
    // all lets each block's first threads do a piece.
    template <class Piece> void all(bool backwards, unsigned some, Piece piece) {
        for (unsigned b = 0; b < blocks; b++)
            for (unsigned t = 0; t < some; t++) {
                running = {backwards ? blocks - 1 - b : b, blocks, t, threads};
                piece(&s[running.block]);
            }
    }
    template <u32 models> void begin() {
        all(false, 1, [&](resident *s) { divide<models>(p, s); });
        all(false, threads, [&](resident *s) { begin_resident<models>(p, s); });
    }
    template <u32 models> void end() {
        all(true, threads, [&](resident *s) { end_resident<models>(p, s); });
        for (auto &one : room)
            if (one.back() != 0xA5A5A5A5A5A5A5A5) {
                fprintf(stderr, "stand-in for libcuda: a block wrote beside its shared memory\n");
                fault() = ILLEGAL_ADDRESS;
            }
    }
    void count(u64 t, unsigned some) {
        if (!lists(&p->list)) return;
        all(t % 3 == 0, some, [&](resident *) { count_candidates(&p->list, t - p->first, p->block_neurons); });
        all(t % 3 == 0, some, [&](resident *) { count_spans(&p->list, t - p->first, p->block_neurons, some); });
    }
    // left says whether a block has left rows to all, and forgets it.
    bool left() {
        bool any = false;
        for (auto &one : s) any |= one.left, one.left = 0;
        return any;
    }
    void complete(u64 t) {
        if (lists(&p->list)) all(t % 2, workers, [&](resident *) { list_candidates(&p->list, t - p->first, p->block_neurons, workers); });
        running = {blocks - 1, blocks, workers, threads};
        tell(p, (u32)(t + 1 - p->first));
    }
    void deliver_shared(u64 t) {
        all(t % 2, workers, [&](resident *s) { deliver_rows(p, t, (u32)((t + 1) % 3), s, true); });
    }

    // at_once is work's order.
    template <u32 models> void at_once() {
        deliver_shared(p->first - 1);
        for (u64 t = p->first; t < p->first + p->bursts; t++) {
            all(false, workers, [&](resident *s) { prepare(p, t, s); });
            all(false, workers, [&](resident *s) { drive_block<true>(p, t, s, p->drive_count > 0 ? 2 : 0); });
            all(t % 3 == 0, workers, [&](resident *s) { update_resident<models>(p, t, s); });
            all(t % 2, workers, [&](resident *s) { count_groups(p, s); });
            all(t % 2, workers, [&](resident *s) { list_block(p, s); });
            count(t, workers);
            all(t % 5 == 0, workers, [&](resident *s) { send(p, t, (u32)((t + 1) % 3), s); });
            all(t % 2, workers, [&](resident *s) { deliver_rows(p, t, (u32)((t + 1) % 3), s, false); });
            if (lists(&p->list) && t > p->first) complete(t - 1);
            all(t % 2, workers, [&](resident *s) { leave(p, s); });
            if (!lists(&p->list)) complete(t);
            if (left() && t + 1 < p->first + p->bursts) deliver_shared(t);
        }
        if (lists(&p->list)) complete(p->first + p->bursts - 1);
    }

    // left_over is what all blocks do during burst t for the burst before, or after it with shared.
    void left_over(u64 t, bool shared) {
        all(t % 2, workers, [&](resident *s) { deliver_left(p, t, s, shared, left_of(p, t, shared)); });
    }
    // inform tells the host who fired, as meet does.
    void inform(u64 t) {
        all(t % 2, workers, [&](resident *s) { count_groups(p, s); });
        all(t % 3 == 0, workers, [&](resident *s) { list_alone(p, s); });
        all(t % 2, workers, [&](resident *s) { bring_ids(p, t, s); });
    }
    // delayed is work_delayed's order. What is left of rows goes out at the end of a burst or, in every third one, at its beginning;
    // the host is told as late as may be.
    template <u32 models> void delayed() {
        unsigned front = 32 * p->front;
        left_over(p->first - 1, true);
        for (u64 t = p->first; t < p->first + p->bursts; t++) {
            all(false, workers, [&](resident *) { stimulate_blocks(p, t); });
            all(false, workers, [&](resident *s) { find_terms(p, t, s); });
            all(false, workers, [&](resident *s) { drive_block<true>(p, t, s, p->drive_count > 0 ? 2 : 0); });
            if (t > p->first) inform(t - 1);
            if (t % 3 == 1) left_over(t, false);
            all(t % 3 == 0, front, [&](resident *s) { update_resident<models>(p, t, s); });
            all(t % 2, front, [&](resident *) { clear_lengths(p, t); });
            all(t % 5 == 0, front, [&](resident *s) { deliver_soon(p, t, s); });
            all(t % 3 == 0, front, [&](resident *s) { deliver_listed(p, t, s); });
            all(false, 1, [&](resident *s) { s->listed = 0; });
            count(t, front);
            if (t % 3 != 1) left_over(t, false);
            if (t > p->first) complete(t - 1);
            if (left() && t + 1 < p->first + p->bursts) left_over(t, true);
        }
        inform(p->first + p->bursts - 1);
        complete(p->first + p->bursts - 1);
    }
};

template <u32 models> static int run_residents(const std::string &kernel, residents g) {
    g.begin<models>();
    if (kernel.rfind("delayed", 0) == 0) g.delayed<models>();
    else g.at_once<models>();
    g.end<models>();
    return fault();
}

// launch_resident runs a launch of one of them.
static int launch_resident(const std::string &kernel, const run *p, unsigned blocks, unsigned threads, unsigned bytes) {
    std::string models = kernel.substr(kernel.find("_bursts") + 7);
    residents g(p, blocks, threads, bytes);
    if (models == "_feagi") return run_residents<1 << FEAGI>(kernel, std::move(g));
    if (models == "_lif") return run_residents<1 << LIF>(kernel, std::move(g));
    if (models == "_psc_exp") return run_residents<1 << PSC_EXP>(kernel, std::move(g));
    return run_residents<ALL_MODELS>(kernel, std::move(g));
}
