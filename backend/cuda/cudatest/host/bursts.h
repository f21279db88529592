// run_bursts and its kin on the host.
#pragma once

// run_bursts waits in its middle for other blocks and threads, so here its pieces are run one after the other, each by all
// threads of all blocks; bytes is the shared memory of a block.
template <u32 models> static void run_on_host(const run *p, unsigned blocks, unsigned threads, unsigned bytes) {
    auto all = [&](auto piece, bool backwards) {
        for (unsigned b = 0; b < blocks; b++)
            for (unsigned t = 0; t < threads; t++) {
                running = {backwards ? blocks - 1 - b : b, blocks, t, threads};
                piece(running.block);
            }
    };
    std::vector<block> s(blocks);
    std::vector<std::vector<u64>> room(blocks, std::vector<u64>(bytes / 8 + 1, 0xA5A5A5A5A5A5A5A5));
    all([&](unsigned b) { lay_out(p, (u8 *)room[b].data(), &s[b], false); }, false);
    for (u64 t = p->first; t < p->first + p->bursts; t++) {
        all([&](unsigned b) { deliver(p, t, &s[b]); }, t % 2);
        if (t > p->first) all([&](unsigned) { announce(p, t - 1); }, false);
        all([&](unsigned b) { update_block<models>(p, t, &s[b]); }, t % 3 == 0);
        all([&](unsigned b) { reserve(p, t, &s[b]); }, t % 2);
        all([&](unsigned b) { list(p, t, &s[b]); }, t % 5 == 0);
    }
    all([&](unsigned b) { lay_out(p, (u8 *)room[b].data(), &s[b], true); }, true);
    all([&](unsigned) { announce(p, p->first + p->bursts - 1); }, false);
    for (auto &one : room)
        if (one.back() != 0xA5A5A5A5A5A5A5A5) {
            fprintf(stderr, "stand-in for libcuda: a block wrote beside its shared memory\n");
            fault = ILLEGAL_ADDRESS;
        }
}

static unsigned shared_bytes; // of the launch in hand
static void run_bursts(void **args) { run_on_host<ALL_MODELS>((const run *)args[0], running.blocks, running.threads, shared_bytes); }
static void run_bursts_custom(void **args) { run_on_host<1 << CUSTOM>((const run *)args[0], running.blocks, running.threads, shared_bytes); }
