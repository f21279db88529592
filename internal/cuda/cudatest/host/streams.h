// Streams: work is done when it is queued, but for that of another library (hostQueue), which takes its time: copies queued
// behind it happen once it is done, and the stream is not done before.
#pragma once
#include <deque>
#include <functional>
#include <unistd.h>

static std::map<void *, std::deque<std::function<bool()>>> pending; // each says whether it is done

// hostQueue queues work on a stream; progress is called again and again until it returns other than 0.
API hostQueue(void *stream, int (*progress)(void *), void *of) {
    ONE_AT_A_TIME;
    if (int e = ready()) return e;
    if (!streams.count(stream)) return refuse("work in no stream");
    pending[stream].push_back([=] { return progress(of) != 0; });
    return SUCCESS;
}

// hostDevice is the device that the thread works with, counting hidden ones, −1 for none.
API hostDevice() {
    ONE_AT_A_TIME;
    return current < 0 ? current : current + (int)control["hidden"];
}

// hostOwns says whether a range is device memory.
API hostOwns(uintptr_t p, size_t bytes) {
    ONE_AT_A_TIME;
    return inside(p, bytes, false);
}

// deferred queues a copy where its stream has work, and says whether it did.
static bool deferred(void *stream, void *to, const void *from, size_t n) {
    auto p = pending.find(stream);
    if (p == pending.end()) return false;
    p->second.push_back([=] {
        memcpy(to, from, n);
        return true;
    });
    return true;
}

// advance does what can be done of a stream's work, and says whether all is. Who asks again lets others work meanwhile.
static bool advance(void *stream) {
    auto p = pending.find(stream);
    if (p == pending.end()) return true;
    while (!p->second.empty() && p->second.front()()) p->second.pop_front();
    if (p->second.empty()) pending.erase(p);
    return !pending.count(stream);
}

API cuStreamCreate(void **s, unsigned) {
    ONE_AT_A_TIME;
    if (int e = ready()) return e;
    *s = malloc(1);
    streams.insert(*s);
    return SUCCESS;
}
API cuStreamDestroy_v2(void *s) {
    ONE_AT_A_TIME;
    if (!streams.erase(s)) return refuse("destroying a stream that is none");
    if (!advance(s)) return refuse("destroying a stream whose work has not ended");
    free(s);
    return fault();
}
API cuStreamSynchronize(void *s) {
    ONE_AT_A_TIME;
    if (int e = ready()) return e;
    if (!streams.count(s)) return refuse("a stream that is none");
    synchronizes++;
    if (!advance(s)) return refuse("waiting for a stream whose work waits for another part");
    if (waits_for_others()) return refuse("waiting for a launch that waits for another device");
    for (auto &m : memory)
        if (!guards_hold(m.first, m.second.bytes)) {
            fprintf(stderr, "stand-in for libcuda: a kernel wrote beside an allocation of %zu bytes\n", m.second.bytes);
            return fault() = ILLEGAL_ADDRESS;
        }
    return SUCCESS;
}
static int query(void *s) {
    ONE_AT_A_TIME;
    if (int e = ready()) return e;
    if (!streams.count(s)) return refuse("a stream that is none");
    return !advance(s) || waits_for_others() ? NOT_READY : SUCCESS;
}
API cuStreamQuery(void *s) {
    int e = query(s);
    if (e == NOT_READY) usleep(20); // what it waits for may want this processor
    return e;
}
