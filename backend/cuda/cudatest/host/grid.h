// run_bursts and its kin on the host, and launches by several devices: one that shares its network waits until every device has
// launched its part.
#pragma once
#include <memory>

// grid is a launch of run_bursts.
struct grid : shared_launch {
    std::vector<block> s;
    std::vector<std::vector<u64>> room; // the blocks' shared memory
    virtual void update(u64 t, bool backwards) = 0;
    virtual void list_fired(u64 t, bool backwards) = 0;

    template <class Piece> void all(bool backwards, Piece piece) { each(backwards, threads, piece); }
    void open(unsigned bytes) override {
        s.resize(blocks);
        room.assign(blocks, std::vector<u64>(bytes / 8 + 1, 0xA5A5A5A5A5A5A5A5));
    }
    void begin() override {
        if (p.sum.count > 0) all(false, [&](unsigned b) { begin_sums(&p.sum, &p.all, p.value_count, (u8 *)room[b].data()); });
        all(false, [&](unsigned b) { lay_out(&p, state(b), &s[b], false); });
    }
    u8 *state(unsigned b) { return (u8 *)room[b].data() + p.sum.room; }
    void complete(u64 t) {
        if (lists(&p.list)) all(t % 2, [&](unsigned) { list_candidates(&p.list, t - p.first, p.block_neurons, threads); });
        all(false, [&](unsigned) { announce(&p, t); });
    }
    void before(u64 t) override {
        all(t % 2, [&](unsigned b) { stimulate(&p, t, &s[b]); });
        if (p.sum.count > 0) {
            if (t > p.first && p.devices == 1) all(t % 2, [&](unsigned b) { list_for_host(&p, t - 1, &s[b]); });
            all(t % 2, [&](unsigned b) { sum_rows(&p, t, &s[b], (u8 *)room[b].data()); });
            all(t % 3 == 0, [&](unsigned b) { bring_sums(&p.sum, (u8 *)room[b].data()); });
        } else {
            all(t % 2, [&](unsigned b) { deliver(&p, t, &s[b]); });
        }
        if (t > p.first) complete(t - 1);
        update(t, t % 3 == 0);
        all(t % 2, [&](unsigned b) { reserve(&p, t, &s[b]); });
        list_fired(t, t % 5 == 0);
        if (p.devices == 1) return;
        all(t % 3 == 1, [&](unsigned b) { push(p.x, t, s[b].base, s[b].total[t % 2], thread_in_block(), block_size()); });
        each(t % 2, 1, [&](unsigned b) { tell_all(p.x, t, s[b].total[t % 2]); });
        all(t % 2, [&](unsigned b) { list_for_host(&p, t, &s[b]); });
        each(false, 1, [&](unsigned b) { p.waited[b] += 1000; });
    }
    bool after(u64 t) override {
        bool all_told = true;
        for (u32 q = 0; p.devices > 1 && q < p.devices; q++) all_told &= takes(t, s, q, q);
        return all_told;
    }
    void lost(u64 t) override {
        if (t > p.first) complete(t - 1);
    }
    void end() override {
        all(true, [&](unsigned b) { lay_out(&p, state(b), &s[b], true); });
        if (p.sum.count > 0 && p.devices == 1) all(true, [&](unsigned b) { list_for_host(&p, p.first + p.bursts - 1, &s[b]); });
        complete(p.first + p.bursts - 1);
        for (auto &one : room)
            if (one.back() != 0xA5A5A5A5A5A5A5A5) {
                fprintf(stderr, "stand-in for libcuda: a block wrote beside its shared memory\n");
                faults[device] = ILLEGAL_ADDRESS;
            }
    }
};

template <u32 models, bool by_teams> struct grid_of : grid {
    void update(u64 t, bool backwards) override {
        all(backwards, [&](unsigned b) { update_block<models, by_teams>(&p, t, &s[b]); });
    }
    void list_fired(u64 t, bool backwards) override {
        all(backwards, [&](unsigned b) { list<by_teams>(&p, t, &s[b]); });
    }
};

static std::unique_ptr<shared_launch> new_launch(const std::string &kernel) {
    if (kernel == "cluster_bursts_feagi") return std::make_unique<clusters<1 << FEAGI>>();
    if (kernel == "cluster_bursts_lif") return std::make_unique<clusters<1 << LIF>>();
    if (kernel == "cluster_bursts_psc_exp") return std::make_unique<clusters<1 << PSC_EXP>>();
    if (kernel == "cluster_bursts") return std::make_unique<clusters<ALL_MODELS>>();
    if (kernel == "run_bursts_feagi") return std::make_unique<grid_of<1 << FEAGI, false>>();
    if (kernel == "run_bursts_lif") return std::make_unique<grid_of<1 << LIF, false>>();
    if (kernel == "run_bursts_custom") return std::make_unique<grid_of<1 << CUSTOM, false>>();
    if (kernel == "run_bursts_psc_exp") return std::make_unique<grid_of<1 << PSC_EXP, false>>();
    if (kernel == "team_bursts_feagi") return std::make_unique<grid_of<1 << FEAGI, true>>();
    if (kernel == "team_bursts_lif") return std::make_unique<grid_of<1 << LIF, true>>();
    if (kernel == "team_bursts") return std::make_unique<grid_of<ALL_MODELS, true>>();
    return std::make_unique<grid_of<ALL_MODELS, false>>();
}

static std::vector<std::unique_ptr<shared_launch>> waiting; // launches that wait for other devices
static void forget_launches() { waiting.clear(); }

// waits_for_others reports whether the current device is in a launch that waits; one that was told to stop does not.
static bool waits_for_others() {
    for (auto g = waiting.begin(); g != waiting.end(); g++)
        if ((*g)->device == current) {
            if (*(*g)->p.x->stop == 0) return true;
            waiting.erase(g);
            return false;
        }
    return false;
}

// run_launches runs the parts of one network side by side; where a device is lost the others wait.
static int run_launches(std::vector<std::unique_ptr<shared_launch>> &list) {
    for (auto &a : list)
        for (auto &b : list)
            if (a->device != b->device && !peers[a->device][b->device]) return refuse("a store into a device without peer access");
    for (auto &g : list) g->begin();
    run &p = list[0]->p;
    for (u64 t = p.first; t < p.first + p.bursts; t++) {
        if (list.size() > 1 && t == (u64)control["lose_at"] && t > 0) {
            faults[control["lose_device"]] = ILLEGAL_ADDRESS;
            for (auto &g : list) g->lost(t);
            return SUCCESS;
        }
        for (auto &g : list)
            if (g->early(t)) return refuse("a device that is heard of a burst before it");
        for (size_t i = 0; i < list.size(); i++) list[(i + t) % list.size()]->before(t);
        for (auto &g : list)
            if (!g->after(t)) return refuse("a device that has not told who fired");
    }
    for (auto &g : list) g->end();
    list.clear();
    return SUCCESS;
}

// launch_bursts launches one, which runs once all devices of its network have launched theirs.
static int launch_bursts(const char *kernel, const run &p, unsigned blocks, unsigned threads, unsigned bytes) {
    auto g = new_launch(kernel);
    g->p = p, g->blocks = blocks, g->threads = threads, g->device = current;
    g->open(bytes);
    if (p.devices == 1) {
        std::vector<std::unique_ptr<shared_launch>> alone;
        alone.push_back(std::move(g));
        if (int e = run_launches(alone)) return e;
        return fault();
    }
    waiting.push_back(std::move(g));
    if (waiting.size() == p.devices)
        if (int e = run_launches(waiting)) return e;
    return SUCCESS;
}

static void run_shape(run) {} // how PTX declares run_bursts
#define COOPERATIVE(f) {#f, 1, adapter<run_shape>::run, adapter<run_shape>::declaration, false}
