// Whether what one thread writes and another reads or writes is ordered by barriers, fences and acquired words, as the memory model of PTX
// wants it: by clocks, so that a race is found even where the schedule hides it. Each thread counts; what it has seen of the others is how
// far each had counted when it came to the last barrier, or released the last word, that they share. The compiler tells of each access to
// memory, by its hooks for ThreadSanitizer. Loads of weak order are not reordered: what is not ordered is a race already.
#pragma once
#include <dlfcn.h>
#include <unordered_map>

typedef std::shared_ptr<const std::vector<unsigned>> view; // of each thread how far it is known

// carried is what a word brings to who acquires it.
struct carried {
    scope reach;
    const fiber *from;
    view seen;
};

struct knowledge {
    view seen;
    unsigned now;                                                   // its own count
    view fenced[SCOPES];                                            // what it had seen at its last fence
    std::unordered_map<const void *, std::vector<carried>> pending; // of words that it has looked at since
};

// use is one of those of four bytes that a later one may race with; which of the bytes are bits of mask.
struct use {
    unsigned number, at;
    unsigned char mask;
    bool writes, strong;
    const void *where;
};
const unsigned USES = 6;
struct cell {
    unsigned launch, count;
    use list[USES];
};

// races checks one crowd after the other.
struct races {
    bool on = false;
    unsigned launch = 0;
    std::vector<knowledge> known;
    std::vector<const fiber *> threads;
    std::unordered_map<const void *, std::vector<carried>> words;
    std::unordered_map<uintptr_t, std::vector<cell>> pages;
    unsigned drawn = 0;
    struct {
        const unsigned char *at = nullptr;
        size_t bytes;
        unsigned char old[16];
        const void *where;
    } last; // the running thread's last store: one that leaves what was there is none

    void begin(std::vector<fiber *> all) {
        on = true;
        launch++;
        words.clear();
        known.assign(all.size(), knowledge{});
        threads.assign(all.begin(), all.end());
        view none = std::make_shared<std::vector<unsigned>>(all.size());
        for (size_t i = 0; i < all.size(); i++) all[i]->number = (unsigned)i, known[i].seen = none, known[i].now = 1;
    }
    static void join(std::vector<unsigned> *to, const std::vector<unsigned> &from) {
        for (size_t i = 0; i < to->size(); i++)
            if ((*to)[i] < from[i]) (*to)[i] = from[i];
    }

    // meet lets threads see what all of them have seen.
    void meet(const std::vector<fiber *> &who) {
        if (!on) return;
        auto all = std::make_shared<std::vector<unsigned>>(*known[who[0]->number].seen);
        const void *last = nullptr;
        for (fiber *f : who) {
            auto &seen = known[f->number].seen;
            if (seen.get() != last) join(all.get(), *seen);
            last = seen.get();
        }
        for (fiber *f : who) (*all)[f->number] = std::max((*all)[f->number], known[f->number].now);
        for (fiber *f : who) known[f->number].seen = all, known[f->number].now++;
    }
    // mine is what the running thread may release, which counts on.
    view mine() {
        knowledge &k = known[running->number];
        auto v = std::make_shared<std::vector<unsigned>>(*k.seen);
        (*v)[running->number] = k.now++;
        return v;
    }
    static bool knows(const knowledge &k, const std::vector<unsigned> &what) {
        for (size_t i = 0; i < what.size(); i++)
            if (what[i] > (*k.seen)[i] && i != running->number) return false;
        return true;
    }
    void take(const std::vector<carried> &list, scope reach) {
        knowledge &k = known[running->number];
        for (auto &r : list) {
            if (!reaches(r.reach, r.from, running) || !reaches(reach, r.from, running) || knows(k, *r.seen)) continue;
            auto v = std::make_shared<std::vector<unsigned>>(*k.seen);
            join(v.get(), *r.seen);
            k.seen = v;
        }
    }
    static bool reaches(scope s, const fiber *a, const fiber *b) {
        if (s == SYSTEM) return true;
        if (a->home->of != b->home->of) return false;
        unsigned size = a->home->of->cluster;
        return s == DEVICE_WIDE || (s == CLUSTER ? a->home->index / size == b->home->index / size : a->home == b->home);
    }
    void put(const void *word, scope reach, view v, bool adds) {
        auto &list = words[word];
        if (!adds) list.clear(); // what was added before is gone
        for (auto &r : list)
            if (r.reach == reach && r.from->home == running->home && v) {
                auto both = std::make_shared<std::vector<unsigned>>(*r.seen);
                join(both.get(), *v);
                r.seen = both;
                return;
            }
        if (v) list.push_back({reach, running, v});
    }
    // fence orders what the thread has looked at before, and what it will store later.
    void fence(scope reach) {
        knowledge &k = known[running->number];
        for (auto &p : k.pending) take(p.second, reach);
        k.pending.clear();
        view v = mine();
        for (int s = 0; s <= reach; s++) k.fenced[s] = v;
    }

    void where(const void *a, const void *b) {
        for (auto p : {a, b}) {
            Dl_info i;
            if (dladdr(p, &i)) fprintf(stderr, "    addr2line -ife %s 0x%zx\n", i.dli_fname, (size_t)((char *)p - (char *)i.dli_fbase));
        }
    }
    void settle() {
        if (!last.at) return;
        auto at = last.at;
        last.at = nullptr;
        if (memcmp(at, last.old, last.bytes) != 0) note((uintptr_t)at, last.bytes, true, false, last.where);
    }

    void touch(uintptr_t p, size_t bytes, bool writes, bool strong, const void *where) {
        if (!on || !running || p - (uintptr_t)running->stack < STACK) return;
        settle();
        if (!writes || strong || bytes > sizeof last.old) return note(p, bytes, writes, strong, where);
        last.at = (const unsigned char *)p, last.bytes = bytes, last.where = where;
        memcpy(last.old, last.at, bytes);
    }
    void note(uintptr_t p, size_t bytes, bool writes, bool strong, const void *where) {
        for (uintptr_t q = p & ~3ull; q < p + bytes; q += 4) {
            unsigned char mask = 15;
            if (q < p) mask &= 15 << (p - q);
            if (q + 4 > p + bytes) mask &= 15 >> (q + 4 - p - bytes);
            auto &page = pages[q >> 12];
            if (page.empty()) page.resize(1024);
            compare(page[q >> 2 & 1023], {running->number, known[running->number].now, mask, writes, strong, where});
        }
    }
    // compare looks for uses of the same bytes that the thread has not seen, and keeps this one for later ones.
    void compare(cell &c, use a) {
        if (c.launch != launch) c.launch = launch, c.count = 0;
        auto &seen = *known[a.number].seen;
        unsigned kept = 0;
        for (unsigned i = 0; i < c.count; i++) {
            use &o = c.list[i];
            bool before = o.number == a.number || o.at <= seen[o.number];
            if ((o.mask & a.mask) != 0 && !before && (o.writes || a.writes) && !(o.strong && a.strong)) {
                const fiber *f = threads[o.number];
                where(a.where, o.where);
                fail("a race: it %s what thread %u of block %u of device %d %s, without a barrier or fence between", a.writes ? "writes" : "reads", f->thread,
                     f->block, f->home->of->device, o.writes ? "has written" : "has read");
            }
            if (before && (o.mask & ~a.mask) == 0 && (a.writes || !o.writes) && (o.strong || !a.strong)) continue; // who races with it races with this one
            c.list[kept++] = o;
        }
        c.count = kept;
        if (c.count < USES) {
            c.list[c.count++] = a;
            return;
        }
        for (unsigned i = drawn++ % USES, n = 0; n < USES; i = (i + 1) % USES, n++)
            if (!c.list[i].writes || a.writes) { // some readers are enough to find who writes unasked
                c.list[i] = a;
                return;
            }
    }
};
static races checked;

// What primitives tell.
void strong_access(const void *p, size_t bytes, bool writes) { checked.touch((uintptr_t)p, bytes, writes, true, __builtin_return_address(0)); }
void stored(const void *p, scope reach, bool releases, bool adds) {
    if (!checked.on) return;
    checked.put(p, reach, releases ? checked.mine() : checked.known[running->number].fenced[reach], adds);
}
void loaded(const void *p, scope reach, bool acquires) {
    if (!checked.on) return;
    auto w = checked.words.find(p);
    if (w == checked.words.end()) return;
    if (acquires) checked.take(w->second, reach);
    else checked.known[running->number].pending[p] = w->second;
}
void fenced(scope reach) {
    checked.settle();
    if (checked.on) checked.fence(reach);
}

// What the compiler tells.
#define HOOK(size)                                                                                                       \
    extern "C" void __tsan_read##size(void *p) { checked.touch((uintptr_t)p, size, false, false, __builtin_return_address(0)); } \
    extern "C" void __tsan_write##size(void *p) { checked.touch((uintptr_t)p, size, true, false, __builtin_return_address(0)); } \
    extern "C" void __tsan_unaligned_read##size(void *p) { checked.touch((uintptr_t)p, size, false, false, __builtin_return_address(0)); } \
    extern "C" void __tsan_unaligned_write##size(void *p) { checked.touch((uintptr_t)p, size, true, false, __builtin_return_address(0)); } \
    extern "C" void __tsan_volatile_read##size(void *p) { checked.touch((uintptr_t)p, size, false, true, __builtin_return_address(0)); } \
    extern "C" void __tsan_volatile_write##size(void *p) { checked.touch((uintptr_t)p, size, true, true, __builtin_return_address(0)); }
HOOK(1)
HOOK(2)
HOOK(4)
HOOK(8)
HOOK(16)
extern "C" void __tsan_read_range(void *p, size_t n) { checked.touch((uintptr_t)p, n, false, false, __builtin_return_address(0)); }
extern "C" void __tsan_write_range(void *p, size_t n) { checked.touch((uintptr_t)p, n, true, false, __builtin_return_address(0)); }
extern "C" void __tsan_init() {}
extern "C" void __tsan_func_entry(void *) {}
extern "C" void __tsan_func_exit() {}
