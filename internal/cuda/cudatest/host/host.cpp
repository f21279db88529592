// A stand-in for libcuda.so.1 on machines without a GPU: device memory is host memory between guard bytes, and a launch
// runs the kernels of package kernels, as they are, with a fiber for each thread (crowd.h). It checks what it is given, and fails on demand
// (hostControl) so that tests can see what becomes of the failure. It proves arithmetic, arguments, who waits for whom, and the code that
// calls it; the limits of a launch and speed only a GPU proves.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <chrono>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <pthread.h>
#include <signal.h>
#include <set>
#include <string>
#include <utility>
#include <vector>

typedef unsigned int u32;
typedef unsigned long long u64;

#define RACES
#include "custom.h"
#include "kernel.h"

#define EXPORTED extern "C" __attribute__((visibility("default")))
#define API EXPORTED int
#define ONE_AT_A_TIME std::lock_guard<std::recursive_mutex> in_turn(turns)

static std::recursive_mutex turns; // of threads that call

const kernel_list *kernel_list::all;

enum {
    SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NO_DEVICE = 100, INVALID_DEVICE = 101, INVALID_PTX = 218,
    DEVICE_UNAVAILABLE = 46, INVALID_CONTEXT = 201, UNSUPPORTED_PTX_VERSION = 222, NOT_FOUND = 500, NOT_READY = 600, ILLEGAL_ADDRESS = 700, LAUNCH_FAILED = 719,
    PEER_ALREADY_ENABLED = 704,
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
static std::set<void *> streams;
static std::map<std::string, long long> launches_of; // of a kernel, since the process began
static long long contexts, marks, modules, allocations, launches, synchronizes, compilations, downloads, downloaded, waits, most_bytes;
static const int DEVICES = 8; // at most
static thread_local int current = -1; // device of the context
static int dummy_context[DEVICES], dummy_module, faults[DEVICES];
static bool peers[DEVICES][DEVICES]; // whether kernels of the first may use memory of the second

static void end_lasting();

static int &fault() { return faults[current < 0 ? 0 : current]; }

static void forget_launches();
static bool waits_for_others();

static void reset() {
    control = {{"devices", 1}, {"hidden", 0}, {"version", 13000}, {"capability", 90}, {"multiprocessors", 2}, {"fewer", 0}, {"free", 1ll << 40}, {"shared", 232448}, {"fail_alloc", 0}, {"fail_launch", 0},
               {"skip_launch", 0}, {"fail_context", 0}, {"fail_compile", 0}, {"ptx_isa", 0}, {"nvrtc_isa", 83}, {"blas_fails", 0},
               {"peer_access", 1}, {"cooperative", 1}, {"lose_device", 0}, {"lose_at", 0}, {"schedule", 0},
               {"nvml_pending", 0}, {"nvml_generation", 5}, {"nvml_width", 16}, {"nvml_errors", 0}, {"nvml_energy", 0}};
    allocations = launches = synchronizes = compilations = downloads = downloaded = waits = most_bytes = 0;
    memset(faults, 0, sizeof faults);
    memset(peers, 0, sizeof peers);
    forget_launches();
}

// hostControl sets what the stand-in pretends: devices, hidden (so many before them, as by CUDA_VISIBLE_DEVICES), version, capability, free (bytes), shared (bytes that a block may have); fail_alloc and fail_launch: the
// k-th from now on fails (an allocation for want of memory; a launch by an illegal address that later calls report).
// skip_launch: the k-th from now on does nothing and says nothing. peer_access: whether devices can use each other's memory.
// lose_at: in this burst (0: never), or at this place of a launch that goes on, device lose_device falls off, once it has told the host of the one before, and others wait
// for it. schedule: which thread runs next is drawn from this seed (0: the first that can). fail_context: no context can be made. ptx_isa: the newest
// PTX that the driver takes, whatever its version says. cooperative: whether there are cooperative launches. "room for NAME": so many
// multiprocessors have room for a block of the kernel NAME; all have without it. nvrtc.h and others.h tell of theirs. "reset" is a new process:
// everything as it was, faults forgotten.
API hostControl(const char *key, long long value) {
    ONE_AT_A_TIME;
    if (control.empty() || !strcmp(key, "reset")) reset();
    if (!strcmp(key, "fail_alloc")) value += value > 0 ? allocations : 0;
    if (!strcmp(key, "fail_launch") || !strcmp(key, "skip_launch")) value += value > 0 ? launches : 0;
    control[key] = value;
    return SUCCESS;
}

static long long bytes_held(bool host) {
    long long sum = 0;
    for (auto &m : memory)
        if (m.second.host == host) sum += (long long)m.second.bytes;
    return sum;
}

// hostCount gives back what is held, or how often something happened.
API hostCount(const char *key, long long *value) {
    ONE_AT_A_TIME;
    std::string k = key;
    if (k == "held") *value = (long long)memory.size() + contexts + (long long)streams.size() + marks + modules;
    else if (k == "bytes" || k == "host_bytes") *value = bytes_held(k == "host_bytes");
    else if (k == "most_bytes") *value = most_bytes; // of device memory at once, since "reset"
    else if (k == "allocations") *value = allocations;
    else if (k == "launches") *value = launches;
    else if (k == "synchronizes") *value = synchronizes;
    else if (k == "downloads") *value = downloads;
    else if (k == "downloaded") *value = downloaded; // bytes
    else if (k == "waits") *value = waits; // for events
    else if (k == "compilations") *value = compilations;
    else if (k.rfind("launches of ", 0) == 0) *value = launches_of[k.substr(12)]; // a kernel's name
    else return INVALID_VALUE;
    return SUCCESS;
}

static int refuse(const char *why) {
    fprintf(stderr, "stand-in for libcuda: %s\n", why);
    return INVALID_VALUE;
}

// ready is what every call that needs a context begins with.
static int ready() {
    if (current < 0) return INVALID_CONTEXT;
    end_lasting();
    return fault();
}

static bool guards_hold(uintptr_t p, size_t bytes) {
    static const std::string intact(GUARD, (char)GUARD_BYTE);
    return !memcmp((char *)p - GUARD, intact.data(), GUARD) && !memcmp((char *)p + bytes, intact.data(), GUARD);
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
    most_bytes = std::max(most_bytes, bytes_held(false));
    return SUCCESS;
}

static int release(uintptr_t p, bool host) {
    auto m = memory.find(p);
    if (m == memory.end() || m->second.host != host) return refuse("freeing what is not allocated");
    bool ok = guards_hold(p, m->second.bytes);
    free((void *)(p - GUARD));
    memory.erase(m);
    if (!ok) return fault() = ILLEGAL_ADDRESS;
    return fault();
}

API cuInit(unsigned) { ONE_AT_A_TIME; return control["devices"] ? SUCCESS : NO_DEVICE; }
API cuDriverGetVersion(int *v) {
    ONE_AT_A_TIME;
    if (control.empty()) reset();
    *v = (int)control["version"];
    return SUCCESS;
}
API cuGetErrorName(int e, const char **s) {
    ONE_AT_A_TIME;
    static const std::map<int, const char *> names = {
        {1, "CUDA_ERROR_INVALID_VALUE"}, {2, "CUDA_ERROR_OUT_OF_MEMORY"}, {100, "CUDA_ERROR_NO_DEVICE"},
        {46, "CUDA_ERROR_DEVICE_UNAVAILABLE"}, {218, "CUDA_ERROR_INVALID_PTX"}, {500, "CUDA_ERROR_NOT_FOUND"},
        {201, "CUDA_ERROR_INVALID_CONTEXT"}, {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"}, {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
        {719, "CUDA_ERROR_LAUNCH_FAILED"}};
    auto n = names.find(e);
    if (n == names.end()) return INVALID_VALUE;
    *s = n->second;
    return SUCCESS;
}
API cuGetErrorString(int e, const char **s) {
    ONE_AT_A_TIME;
    return cuGetErrorName(e, s);
}
API cuDeviceGetCount(int *n) {
    ONE_AT_A_TIME;
    *n = (int)control["devices"];
    return SUCCESS;
}
API cuDeviceGet(int *device, int i) {
    ONE_AT_A_TIME;
    if (i < 0 || i >= control["devices"]) return INVALID_DEVICE;
    *device = i;
    return SUCCESS;
}
API cuDeviceGetName(char *name, int n, int) {
    ONE_AT_A_TIME;
    snprintf(name, (size_t)n, "Host Stand-in");
    return SUCCESS;
}
API cuDeviceGetAttribute(int *v, int attribute, int device) {
    ONE_AT_A_TIME;
    switch (attribute) {
    case 1: *v = 1024; return SUCCESS; // threads a block
    case 16: *v = (int)(control["multiprocessors"] - (device == 1 ? control["fewer"] : 0)); return SUCCESS;
    case 95: *v = (int)control["cooperative"]; return SUCCESS; // cooperative launches
    case 97: *v = (int)control["shared"]; return SUCCESS;
    case 75: *v = (int)control["capability"] / 10; return SUCCESS;
    case 76: *v = (int)control["capability"] % 10; return SUCCESS;
    }
    return INVALID_VALUE;
}
API cuDeviceTotalMem_v2(size_t *n, int) {
    ONE_AT_A_TIME;
    *n = (size_t)1 << 40;
    return SUCCESS;
}
API cuDeviceGetPCIBusId(char *text, int n, int device) {
    ONE_AT_A_TIME;
    snprintf(text, (size_t)n, "0000:%02x:00.0", 16 * (device + 1 + (int)control["hidden"]));
    return SUCCESS;
}
API cuDevicePrimaryCtxRetain(void **c, int device) {
    ONE_AT_A_TIME;
    if (control["fail_context"]) return DEVICE_UNAVAILABLE;
    contexts++;
    *c = &dummy_context[device];
    return SUCCESS;
}
API cuDevicePrimaryCtxRelease_v2(int) {
    ONE_AT_A_TIME;
    contexts--;
    return SUCCESS;
}
API cuCtxSetCurrent(void *c) {
    ONE_AT_A_TIME;
    if (c < dummy_context || c >= dummy_context + DEVICES) return INVALID_CONTEXT;
    current = (int)((int *)c - dummy_context);
    return SUCCESS;
}
#include "streams.h"
#include "memory.h"
#include "crowd.h"
#include "nvrtc.h"
#include "others.h"

// module is code of a user's own, or nothing for the kernels of this library; sites are models that a genome defines.
struct module {
    std::string ptx, library;
    std::vector<site> sites;
};

// cuModuleLoadDataEx takes PTX that the pretended device and driver could take; the code itself is in this library.
API cuModuleLoadDataEx(module **m, const char *ptx, unsigned options, const int *names, void **values) {
    ONE_AT_A_TIME;
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
    if (control["ptx_isa"] && major * 10 + minor > control["ptx_isa"]) return UNSUPPORTED_PTX_VERSION;
    std::vector<site> sites;
    if (auto why = read_sites(ptx, &sites); !why.empty()) {
        fprintf(stderr, "stand-in for libcuda: %s\n", why.c_str());
        return INVALID_PTX;
    }
    if (const char *folder = getenv("BURST_PTX_FOLDER")) // for NVIDIA's assembler: .ci/ptxas
        std::ofstream(std::string(folder) + "/" + std::to_string(std::hash<std::string>{}(ptx)) + "_sm_" + std::to_string(target) + ".ptx") << ptx;
    modules++;
    char library[512] = "";
    if (const char *own = strstr(ptx, "// library ")) sscanf(own, "// library %511s", library);
    *m = new module{ptx, library, sites};
    return SUCCESS;
}
API cuModuleUnload(module *m) {
    ONE_AT_A_TIME;
    modules--;
    delete m;
    return fault();
}

// function is a kernel of a module.
struct function {
    const kernel *k;
    const module *m;
    void (*place)(const unsigned *); // of a user's own library
    mutable unsigned allowed = 48 << 10; // bytes of shared memory that a launch may ask for
    mutable bool wide = false;           // whether clusters may have more than 8 blocks
};

API cuModuleGetFunction(function **f, const module *m, const char *name) {
    ONE_AT_A_TIME;
    static std::map<std::pair<const module *, const kernel *>, function> found;
    if (int e = ready()) return e;
    if (m->ptx.find(".entry " + std::string(name) + "(") == std::string::npos) return NOT_FOUND;
    function g = {};
    g.m = m;
    if (m->library.empty()) {
        each_kernel([&g, name](const kernel &k) {
            if (!strcmp(k.name, name)) g.k = &k;
        });
    } else {
        for (auto k = own_table(m->library); k && k->name; k++)
            if (!strcmp(k->name, name)) g.k = k;
        g.place = (void (*)(const unsigned *))dlsym(dlopen(m->library.c_str(), RTLD_NOW), "host_place");
    }
    if (!g.k) return NOT_FOUND;
    *f = &(found[{m, g.k}] = g);
    return SUCCESS;
}

// run_own runs a user's kernel over a grid of any shape.
static void run_own(const function *f, const unsigned *grid, const unsigned *block, void **args) {
    unsigned at[12] = {grid[0], grid[1], grid[2], block[0], block[1], block[2]};
    for (at[8] = 0; at[8] < grid[2]; at[8]++)
        for (at[7] = 0; at[7] < grid[1]; at[7]++)
            for (at[6] = 0; at[6] < grid[0]; at[6]++)
                for (at[11] = 0; at[11] < block[2]; at[11]++)
                    for (at[10] = 0; at[10] < block[1]; at[10]++)
                        for (at[9] = 0; at[9] < block[0]; at[9]++) {
                            f->place(at);
                            f->k->run(args);
                        }
}

// room_for is how many multiprocessors have room for a block of a kernel.
static long long room_for(const char *name) {
    auto own = control.find(std::string("room for ") + name);
    return own == control.end() ? control["multiprocessors"] : own->second;
}

// launch_begins checks what all launches share, and says whether the kernel is to run.
static int launch_begins(const function *f, const unsigned *block, void *stream, void **args, bool *run) {
    if (int e = ready()) return e;
    unsigned threads = block[0] * block[1] * block[2];
    if (threads == 0 || threads > 1024) return refuse("a block of this size");
    if (!streams.count(stream)) return refuse("a launch into no stream");
    for (size_t i = 0; i < f->k->parameters; i++)
        if (!args[i]) return refuse("a launch with too few arguments");
    if (args[f->k->parameters]) return refuse("a launch with too many arguments");
    if (++launches == control["fail_launch"]) fault() = ILLEGAL_ADDRESS;
    *run = fault() == SUCCESS && launches != control["skip_launch"];
    launches_of[f->k->name]++;
    running_sites = &f->m->sites;
    running_entry = f->k->name;
    return SUCCESS;
}

// launch_ends says whether the threads ended, and the models of the genome's own ran as PTX has it.
static int launch_ends() {
    if (!custom_failed) return fault();
    fprintf(stderr, "stand-in for libcuda: a model's code is not there, or uses what it has not made\n");
    custom_failed = false;
    return fault() = ILLEGAL_ADDRESS;
}

static std::unique_ptr<launch> new_launch(const kernel *k, void **args, unsigned first, unsigned count, unsigned blocks, unsigned threads, unsigned cluster, size_t bytes) {
    auto l = std::make_unique<launch>();
    l->k = k, l->args = args, l->device = current, l->first = first, l->count = count, l->blocks = blocks, l->threads = threads, l->cluster = cluster, l->bytes = bytes, l->waits = false;
    return l;
}

// seed is that of a launch, none for the schedule 0.
static u64 seed() { return control["schedule"] ? (u64)control["schedule"] * 1000003 + (u64)launches : 0; }

// run_alone runs a launch whose threads wait for no other device.
static int run_alone(std::unique_ptr<launch> l) {
    crowd c;
    c.parts.push_back(std::move(l));
    c.begin(launches % 2 == 0, seed());
    if (c.run() != ENDED) fault() = LAUNCH_FAILED;
    return launch_ends();
}

// cuLaunchKernel runs the blocks forwards and backwards by turns, since no kernel may count on an order of them; where the schedule is
// drawn, some at a time.
API cuLaunchKernel(const function *f, unsigned blocks, unsigned by, unsigned bz, unsigned threads, unsigned ty, unsigned tz,
                   unsigned shared, void *stream, void **args, void **extra) {
    ONE_AT_A_TIME;
    unsigned grid[3] = {blocks, by, bz}, block[3] = {threads, ty, tz};
    bool run = false;
    if (blocks == 0 || blocks > 0x7fffffff || by == 0 || bz == 0) return refuse("a grid of this shape");
    if (shared > (f->place ? 0 : f->allowed) || extra != nullptr) return refuse("a launch of this kind");
    if (!f->place && (by != 1 || bz != 1 || ty != 1 || tz != 1)) return refuse("a grid of this shape");
    if (!f->place && threads % 32 != 0) return refuse("a block of no whole warps");
    if (int e = launch_begins(f, block, stream, args, &run)) return e;
    if (!run) return SUCCESS;
    if (f->place) {
        run_own(f, grid, block, args);
        return SUCCESS;
    }
    unsigned some = seed() ? 8 : 1;
    for (unsigned i = 0; i < blocks; i += some) {
        unsigned count = std::min(some, blocks - i);
        if (int e = run_alone(new_launch(f->k, args, launches % 2 ? i : blocks - i - count, count, blocks, threads, 1, shared))) return e;
    }
    return SUCCESS;
}

// group is a launch of many bursts on several devices, which runs once all devices of its network have launched theirs, or are told not
// to wait.
static struct group {
    crowd all;
    const u64 *stop;
    unsigned devices;
    bool running, ended;
} *waiting;

// lasting is a launch that waits for words of the host. It runs in a thread of its own, and to its end once something else is asked of a device.
struct lasting {
    crowd all;
    int device;
    bool ended = false;

    void run() {
        int was = current;
        current = device;
        outcome o = all.run();
        if (o == FAILED) fault() = LAUNCH_FAILED;
        ended = o != WAITING;
        current = was;
    }

    // hang is for one that does not end, whatever the clock says.
    void hang() {
        int was = current;
        current = device;
        fault() = LAUNCH_FAILED;
        ended = true;
        current = was;
    }
};
static std::shared_ptr<lasting> goes_on;

static void *keep_running(void *of) {
    std::unique_ptr<std::shared_ptr<lasting>> l((std::shared_ptr<lasting> *)of);
    for (;; usleep(20)) {
        ONE_AT_A_TIME;
        if (!(*l)->ended) (*l)->run();
        if (!(*l)->ended) continue;
        l.reset();
        return nullptr;
    }
}

static void end_lasting() {
    if (!goes_on) return;
    hurried = true;
    for (int i = 0; i < 100 && !goes_on->ended; i++) goes_on->run();
    hurried = false;
    if (!goes_on->ended) goes_on->hang();
    goes_on.reset();
}

static void forget_launches() {
    delete waiting;
    waiting = nullptr;
    if (goes_on) goes_on->ended = true;
    goes_on.reset();
}

static std::unique_ptr<launch> kept_launch(std::unique_ptr<launch> l, void **args) {
    for (size_t i = 0; i < l->k->parameters; i++) l->kept.emplace_back((char *)args[i], (char *)args[i] + l->k->sizes[i]);
    for (auto &one : l->kept) l->arguments.push_back(one.data());
    l->args = l->arguments.data();
    return l;
}

// run_lasting runs a launch until it waits, and lets it go on beside the caller.
static int run_lasting(std::unique_ptr<launch> l) {
    l->waits = true;
    goes_on = std::make_shared<lasting>();
    goes_on->device = current;
    goes_on->all.parts.push_back(std::move(l));
    goes_on->all.begin(launches % 2 == 0, seed());
    goes_on->run();
    if (goes_on->ended) {
        goes_on.reset();
        return fault();
    }
    sigset_t all, before; // which the program's own threads handle
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    if (pthread_create(&thread, nullptr, keep_running, new std::shared_ptr<lasting>(goes_on)) != 0) abort();
    pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return SUCCESS;
}

static int run_group() {
    group *g = waiting;
    for (auto &a : g->all.parts)
        for (auto &b : g->all.parts)
            if (a->device != b->device && !peers[a->device][b->device]) return refuse("a store into a device without peer access");
    if (!g->running) g->all.begin(launches % 2 == 0, seed());
    g->running = true;
    outcome o = g->all.run();
    if (o == WAITING) return SUCCESS;
    if (o == FAILED)
        for (auto &l : g->all.parts) faults[l->device] = LAUNCH_FAILED;
    forget_launches();
    return SUCCESS;
}

// waits_for_others reports whether the current device is in a launch that waits; one that was told to stop ends.
static bool waits_for_others() {
    bool takes_part = false;
    for (size_t i = 0; waiting && i < waiting->all.parts.size(); i++) takes_part |= waiting->all.parts[i]->device == current;
    if (!takes_part) return false;
    if (*waiting->stop == 0) return true;
    run_group();
    return waiting != nullptr;
}

// launch_bursts runs a kernel of many bursts, on the current device alone or with others.
static int launch_bursts(const kernel *k, void **args, unsigned blocks, unsigned threads, unsigned cluster, size_t bytes) {
    network_of net = k->network(args[0]);
    if (net.waits) return run_lasting(kept_launch(new_launch(k, nullptr, 0, blocks, blocks, threads, cluster, bytes), args));
    if (net.devices == 1) return run_alone(new_launch(k, args, 0, blocks, blocks, threads, cluster, bytes));
    if (!waiting) waiting = new group{{}, net.stop, net.devices, false, false};
    if (waiting->running || waiting->devices != net.devices) return refuse("a launch while others wait");
    auto l = kept_launch(new_launch(k, nullptr, 0, blocks, blocks, threads, cluster, bytes), args);
    waiting->all.parts.push_back(std::move(l));
    if (waiting->all.parts.size() < net.devices) return SUCCESS;
    return run_group();
}

API cuLaunchCooperativeKernel(const function *f, unsigned blocks, unsigned by, unsigned bz, unsigned threads, unsigned ty,
                              unsigned tz, unsigned shared, void *stream, void **args) {
    ONE_AT_A_TIME;
    unsigned block[3] = {threads, ty, tz};
    bool run = false;
    if (blocks == 0 || blocks > (unsigned)room_for(f->k->name) || !control["cooperative"] || by != 1 || bz != 1 || ty != 1 || tz != 1 || threads % 32 != 0) return refuse("a cooperative grid of this shape");
    if (int e = launch_begins(f, block, stream, args, &run)) return e;
    if (!run) return SUCCESS;
    if (!f->k->network) return run_alone(new_launch(f->k, args, 0, blocks, blocks, threads, 1, shared));
    return launch_bursts(f->k, args, blocks, threads, 1, shared);
}

// configuration is CUlaunchConfig, and attribute CUlaunchAttribute.
struct attribute {
    unsigned id, unused, value[16];
};
struct configuration {
    unsigned grid[3], block[3], shared;
    void *stream;
    const attribute *list;
    unsigned count;
};

// clusters_of is how many blocks a cluster of a launch has, 0 where the launch is not the kind that is known here.
static unsigned clusters_of(const configuration *c) {
    unsigned size = 0;
    bool cooperative = false;
    for (unsigned i = 0; i < c->count; i++) {
        if (c->list[i].id == 4 && c->list[i].value[1] == 1 && c->list[i].value[2] == 1) size = c->list[i].value[0];
        if (c->list[i].id == 2) cooperative = c->list[i].value[0] == 1;
    }
    return cooperative ? size : 0;
}
API cuLaunchKernelEx(const configuration *c, const function *f, void **args, void **extra) {
    ONE_AT_A_TIME;
    unsigned size = clusters_of(c);
    const unsigned *g = c->grid;
    bool run = false;
    if (size == 0 || g[0] == 0 || g[0] > (unsigned)room_for(f->k->name) || !control["cooperative"] || g[0] % size != 0 || g[1] != 1 || g[2] != 1 || c->block[0] % 32 != 0 || c->block[1] != 1 || c->block[2] != 1 || extra)
        return refuse("a grid of clusters of this shape");
    if (size > (f->wide ? 16 : 8)) return refuse("a cluster of so many blocks");
    if (int e = launch_begins(f, c->block, c->stream, args, &run)) return e;
    if (!run) return SUCCESS;
    return launch_bursts(f->k, args, g[0], c->block[0], size, c->shared);
}
API cuOccupancyMaxActiveClusters(int *n, const function *f, const configuration *c) {
    ONE_AT_A_TIME;
    unsigned size = clusters_of(c);
    if (size == 0) return refuse("a grid of clusters of this shape");
    *n = (int)(room_for(f->k->name) / size);
    return SUCCESS;
}
API cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n, const function *f, int, size_t) {
    ONE_AT_A_TIME;
    *n = room_for(f->k->name) < control["multiprocessors"] ? 0 : 1;
    return SUCCESS;
}
API cuFuncSetAttribute(const function *f, int attribute, int v) {
    ONE_AT_A_TIME;
    if (attribute == 8 && v > control["shared"]) return INVALID_VALUE;
    if (attribute == 8) f->allowed = (unsigned)v;
    if (attribute == 14) f->wide = v != 0;
    return SUCCESS;
}
API cuMemHostGetDevicePointer_v2(uintptr_t *p, void *host, unsigned) {
    ONE_AT_A_TIME;
    if (!inside((uintptr_t)host, 1, true)) return refuse("an address of memory that is not page-locked");
    *p = (uintptr_t)host;
    return SUCCESS;
}

#include "events.h"

API cuMemcpyDtoDAsync_v2(uintptr_t to, uintptr_t from, size_t n, void *stream) {
    ONE_AT_A_TIME;
    if (int e = ready()) return e;
    if (!streams.count(stream) || !inside(to, n, false) || !inside(from, n, false)) return refuse("a copy past the end of device memory");
    memmove((void *)to, (void *)from, n);
    return SUCCESS;
}
API cuMemcpyPeerAsync(uintptr_t to, void *, uintptr_t from, void *, size_t n, void *stream) { ONE_AT_A_TIME; return cuMemcpyDtoDAsync_v2(to, from, n, stream); }
API cuDeviceCanAccessPeer(int *can, int, int) {
    ONE_AT_A_TIME;
    *can = control["peer_access"] != 0;
    return SUCCESS;
}
API cuCtxEnablePeerAccess(void *peer, unsigned) {
    ONE_AT_A_TIME;
    if (int e = ready()) return e;
    int q = (int)((int *)peer - dummy_context);
    if (!control["peer_access"] || q == current) return INVALID_DEVICE;
    if (peers[current][q]) return PEER_ALREADY_ENABLED;
    peers[current][q] = true;
    return SUCCESS;
}
