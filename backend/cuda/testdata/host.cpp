// A stand-in for libcuda.so.1 on machines without a GPU: device memory is host memory between guard bytes, and a launch
// runs the kernels of package kernels as loops over blocks and threads. It checks what it is given, and fails on demand
// (hostControl) so that tests can see what becomes of the failure. It proves arithmetic, arguments and the code that calls
// it; races and the limits of a launch only a GPU proves.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "burst.cu"

#define API extern "C" int

enum {
    SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NO_DEVICE = 100, INVALID_DEVICE = 101, INVALID_PTX = 218,
    INVALID_CONTEXT = 201, UNSUPPORTED_PTX_VERSION = 222, NOT_FOUND = 500, ILLEGAL_ADDRESS = 700,
};

const size_t GUARD = 256;
const unsigned char GUARD_BYTE = 0xE7, FRESH_BYTE = 0xA5; // fresh memory is no zero

struct allocation {
    size_t bytes;
    bool host;
};

// What the stand-in pretends to be, and what it holds.
static std::map<std::string, long long> control; // see hostControl
static std::map<uintptr_t, allocation> memory;
static long long contexts, streams, modules, allocations, launches, synchronizes;
static int fault;
static thread_local bool current;
static int dummy_context, dummy_stream, dummy_module;

static void reset() {
    control = {{"devices", 1}, {"version", 13000}, {"capability", 90}, {"free", 1ll << 40}, {"fail_alloc", 0}, {"fail_launch", 0}};
    allocations = launches = synchronizes = 0;
    fault = SUCCESS;
}

// hostControl sets what the stand-in pretends: devices, version, capability, free (bytes); fail_alloc and fail_launch: the
// k-th from now on fails (an allocation for want of memory; a launch by an illegal address that later calls report).
// "reset" is a new process: everything as it was, faults forgotten.
API hostControl(const char *key, long long value) {
    if (control.empty() || !strcmp(key, "reset")) reset();
    if (!strcmp(key, "fail_alloc")) value += value > 0 ? allocations : 0;
    if (!strcmp(key, "fail_launch")) value += value > 0 ? launches : 0;
    control[key] = value;
    return SUCCESS;
}

// hostCount gives back what is held, or how often something happened.
API hostCount(const char *key, long long *value) {
    std::string k = key;
    if (k == "held") *value = (long long)memory.size() + contexts + streams + modules;
    else if (k == "bytes") {
        *value = 0;
        for (auto &m : memory)
            if (!m.second.host) *value += (long long)m.second.bytes;
    } else if (k == "allocations") *value = allocations;
    else if (k == "launches") *value = launches;
    else if (k == "synchronizes") *value = synchronizes;
    else return INVALID_VALUE;
    return SUCCESS;
}

static int refuse(const char *why) {
    fprintf(stderr, "stand-in for libcuda: %s\n", why);
    return INVALID_VALUE;
}

// ready is what every call that needs a context begins with.
static int ready() {
    if (!current) return INVALID_CONTEXT;
    return fault;
}

static bool guards_hold(uintptr_t p, size_t bytes) {
    auto before = (unsigned char *)p - GUARD, after = (unsigned char *)p + bytes;
    for (size_t i = 0; i < GUARD; i++)
        if (before[i] != GUARD_BYTE || after[i] != GUARD_BYTE) return false;
    return true;
}

// inside reports whether a range lies in one allocation of the kind.
static bool inside(uintptr_t p, size_t bytes, bool host) {
    auto m = memory.upper_bound(p);
    if (m == memory.begin()) return false;
    --m;
    return m->second.host == host && p + bytes <= m->first + m->second.bytes;
}

static int allocate(uintptr_t *p, size_t bytes, bool host) {
    if (int e = ready()) return e;
    if (bytes == 0) return refuse("an allocation of no bytes");
    if (++allocations == control["fail_alloc"]) return OUT_OF_MEMORY;
    auto block = (unsigned char *)aligned_alloc(512, (bytes + 2 * GUARD + 511) / 512 * 512);
    memset(block, GUARD_BYTE, GUARD);
    memset(block + GUARD, FRESH_BYTE, bytes);
    memset(block + GUARD + bytes, GUARD_BYTE, GUARD);
    *p = (uintptr_t)block + GUARD;
    memory[*p] = {bytes, host};
    return SUCCESS;
}

static int release(uintptr_t p, bool host) {
    auto m = memory.find(p);
    if (m == memory.end() || m->second.host != host) return refuse("freeing what is not allocated");
    bool ok = guards_hold(p, m->second.bytes);
    free((void *)(p - GUARD));
    memory.erase(m);
    if (!ok) return fault = ILLEGAL_ADDRESS;
    return fault;
}

API cuInit(unsigned) { return control["devices"] ? SUCCESS : NO_DEVICE; }
API cuDriverGetVersion(int *v) {
    if (control.empty()) reset();
    *v = (int)control["version"];
    return SUCCESS;
}
API cuGetErrorName(int e, const char **s) {
    static const std::map<int, const char *> names = {
        {1, "CUDA_ERROR_INVALID_VALUE"}, {2, "CUDA_ERROR_OUT_OF_MEMORY"}, {100, "CUDA_ERROR_NO_DEVICE"},
        {201, "CUDA_ERROR_INVALID_CONTEXT"}, {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"}, {700, "CUDA_ERROR_ILLEGAL_ADDRESS"}};
    auto n = names.find(e);
    if (n == names.end()) return INVALID_VALUE;
    *s = n->second;
    return SUCCESS;
}
API cuGetErrorString(int e, const char **s) {
    return cuGetErrorName(e, s);
}
API cuDeviceGetCount(int *n) {
    *n = (int)control["devices"];
    return SUCCESS;
}
API cuDeviceGet(int *device, int i) {
    if (i < 0 || i >= control["devices"]) return INVALID_DEVICE;
    *device = i;
    return SUCCESS;
}
API cuDeviceGetName(char *name, int n, int) {
    snprintf(name, (size_t)n, "Host Stand-in");
    return SUCCESS;
}
API cuDeviceGetAttribute(int *v, int attribute, int) {
    switch (attribute) {
    case 16: *v = 2; return SUCCESS; // multiprocessors
    case 75: *v = (int)control["capability"] / 10; return SUCCESS;
    case 76: *v = (int)control["capability"] % 10; return SUCCESS;
    }
    return INVALID_VALUE;
}
API cuDeviceTotalMem_v2(size_t *n, int) {
    *n = (size_t)1 << 40;
    return SUCCESS;
}
API cuDevicePrimaryCtxRetain(void **c, int) {
    contexts++;
    *c = &dummy_context;
    return SUCCESS;
}
API cuDevicePrimaryCtxRelease_v2(int) {
    contexts--;
    return SUCCESS;
}
API cuCtxSetCurrent(void *c) {
    if (c != &dummy_context) return INVALID_CONTEXT;
    current = true;
    return SUCCESS;
}
API cuMemGetInfo_v2(size_t *free, size_t *total) {
    if (int e = ready()) return e;
    *free = (size_t)control["free"];
    *total = (size_t)1 << 40;
    return SUCCESS;
}
API cuMemAlloc_v2(uintptr_t *p, size_t bytes) { return allocate(p, bytes, false); }
API cuMemFree_v2(uintptr_t p) { return release(p, false); }
API cuMemHostAlloc(uintptr_t *p, size_t bytes, unsigned) { return allocate(p, bytes, true); }
API cuMemFreeHost(uintptr_t p) { return release(p, true); }
API cuMemcpyHtoDAsync_v2(uintptr_t to, const void *from, size_t n, void *stream) {
    if (int e = ready()) return e;
    if (stream != &dummy_stream || !inside(to, n, false)) return refuse("an upload past the end of device memory");
    memcpy((void *)to, from, n);
    return SUCCESS;
}
API cuMemcpyDtoHAsync_v2(void *to, uintptr_t from, size_t n, void *stream) {
    if (int e = ready()) return e;
    if (stream != &dummy_stream || !inside(from, n, false)) return refuse("a download past the end of device memory");
    memcpy(to, (void *)from, n);
    return SUCCESS;
}
API cuMemcpyDtoDAsync_v2(uintptr_t to, uintptr_t from, size_t n, void *stream) {
    if (int e = ready()) return e;
    if (stream != &dummy_stream || !inside(from, n, false) || !inside(to, n, false)) return refuse("a copy past the end of device memory");
    memcpy((void *)to, (void *)from, n);
    return SUCCESS;
}
API cuMemsetD8Async(uintptr_t p, unsigned char b, size_t n, void *stream) {
    if (int e = ready()) return e;
    if (stream != &dummy_stream || !inside(p, n, false)) return refuse("a fill past the end of device memory");
    memset((void *)p, b, n);
    return SUCCESS;
}
API cuStreamCreate(void **s, unsigned) {
    if (int e = ready()) return e;
    streams++;
    *s = &dummy_stream;
    return SUCCESS;
}
API cuStreamDestroy_v2(void *) {
    streams--;
    return fault;
}
API cuStreamSynchronize(void *s) {
    if (int e = ready()) return e;
    if (s != &dummy_stream) return refuse("a stream that is none");
    synchronizes++;
    for (auto &m : memory)
        if (!guards_hold(m.first, m.second.bytes)) {
            fprintf(stderr, "stand-in for libcuda: a kernel wrote beside an allocation of %zu bytes\n", m.second.bytes);
            return fault = ILLEGAL_ADDRESS;
        }
    return SUCCESS;
}

// cuModuleLoadDataEx takes PTX that the pretended device and driver could take; the code itself is in this library.
API cuModuleLoadDataEx(void **module, const char *ptx, unsigned options, const int *names, void **values) {
    if (int e = ready()) return e;
    int major = 0, minor = 0, target = 0;
    const char *version = strstr(ptx, ".version "), *arch = strstr(ptx, ".target sm_");
    if (!version || !arch || sscanf(version, ".version %d.%d", &major, &minor) != 2 || sscanf(arch, ".target sm_%d", &target) != 1) return INVALID_PTX;
    if (target > control["capability"]) {
        for (unsigned i = 0; i < options; i++)
            if (names[i] == 5) strcpy((char *)values[i], "ptxas error: the target is newer than the device");
        return INVALID_PTX;
    }
    if (control["version"] < 11080 && major * 10 + minor > 77) return UNSUPPORTED_PTX_VERSION;
    modules++;
    *module = &dummy_module;
    return SUCCESS;
}
API cuModuleUnload(void *) {
    modules--;
    return fault;
}

struct kernel {
    const char *name;
    size_t parameters;
    void (*run)(void **);
};

template <class... P, size_t... I> static void call(void (*f)(P...), void **args, std::index_sequence<I...>) {
    f(*(std::remove_reference_t<P> *)args[I]...);
}

template <auto F> struct adapter;
template <class... P, void (*F)(P...)> struct adapter<F> {
    static const size_t parameters = sizeof...(P);
    static void run(void **args) { call(F, args, std::index_sequence_for<P...>{}); }
};

#define ENTRY(f) {#f, adapter<f>::parameters, adapter<f>::run}

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
static void run_bursts_feagi(void **args) { run_on_host<1 << FEAGI>((const run *)args[0], running.blocks, running.threads, shared_bytes); }
static void run_bursts_lif(void **args) { run_on_host<1 << LIF>((const run *)args[0], running.blocks, running.threads, shared_bytes); }
static void run_bursts_psc_exp(void **args) { run_on_host<1 << PSC_EXP>((const run *)args[0], running.blocks, running.threads, shared_bytes); }

#define COOPERATIVE(f) {#f, 1, f}
static const kernel kernels[] = {COOPERATIVE(run_bursts), COOPERATIVE(run_bursts_feagi), COOPERATIVE(run_bursts_lif), COOPERATIVE(run_bursts_psc_exp), ENTRY(inject), ENTRY(fired_rows), ENTRY(synaptic_propagation_fcl),
                                 ENTRY(neural_dynamics_fcl), ENTRY(list_sums), ENTRY(list_ids), ENTRY(catch_up), ENTRY(queue_rows)};

API cuModuleGetFunction(const kernel **f, void *, const char *name) {
    if (int e = ready()) return e;
    for (auto &k : kernels)
        if (!strcmp(k.name, name)) {
            *f = &k;
            return SUCCESS;
        }
    return NOT_FOUND;
}

API cuMemHostGetDevicePointer_v2(uintptr_t *p, void *host, unsigned) {
    if (!inside((uintptr_t)host, 1, true)) return refuse("an address of memory that is not page-locked");
    *p = (uintptr_t)host;
    return SUCCESS;
}
API cuFuncSetAttribute(const kernel *, int, int) { return SUCCESS; }
API cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const kernel *, int, size_t) {
    *blocks = 1;
    return SUCCESS;
}

// cuLaunchCooperativeKernel runs a kernel whose blocks wait for each other.
API cuLaunchCooperativeKernel(const kernel *f, unsigned blocks, unsigned by, unsigned bz, unsigned threads, unsigned ty,
                              unsigned tz, unsigned shared, void *stream, void **args) {
    if (int e = ready()) return e;
    if (blocks == 0 || blocks > 2 || by != 1 || bz != 1 || ty != 1 || tz != 1) return refuse("a cooperative grid of this shape");
    if (threads == 0 || threads > 1024 || threads % 32 != 0) return refuse("a block of no whole warps");
    if (strncmp(f->name, "run_bursts", 10) || stream != &dummy_stream || !args[0] || args[1]) return refuse("a cooperative launch of this kind");
    if (++launches == control["fail_launch"]) {
        fault = ILLEGAL_ADDRESS;
        return SUCCESS;
    }
    running = {0, blocks, 0, threads};
    shared_bytes = shared;
    f->run(args);
    return fault;
}

// cuLaunchKernel runs the blocks forwards and backwards by turns, since no kernel may count on an order of them. Warps'
// lanes run in order, which is what store_bits and store_sum count on.
API cuLaunchKernel(const kernel *f, unsigned blocks, unsigned by, unsigned bz, unsigned threads, unsigned ty, unsigned tz,
                   unsigned shared, void *stream, void **args, void **extra) {
    if (int e = ready()) return e;
    if (blocks == 0 || blocks > 0x7fffffff || by != 1 || bz != 1 || ty != 1 || tz != 1) return refuse("a grid of this shape");
    if (threads == 0 || threads > 1024 || threads % 32 != 0) return refuse("a block of no whole warps");
    if (shared != 0 || extra != nullptr || stream != &dummy_stream) return refuse("a launch of this kind");
    for (size_t i = 0; i < f->parameters; i++)
        if (!args[i]) return refuse("a launch with too few arguments");
    if (args[f->parameters]) return refuse("a launch with too many arguments");
    if (++launches == control["fail_launch"]) {
        fault = ILLEGAL_ADDRESS;
        return SUCCESS;
    }
    for (unsigned b = 0; b < blocks; b++)
        for (unsigned t = 0; t < threads; t++) {
            running = {launches % 2 ? b : blocks - 1 - b, blocks, t, threads};
            f->run(args);
        }
    return SUCCESS;
}
