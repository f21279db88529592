// A stand-in for libnccl.so.2 on machines without GPUs, beside that for libcuda: ranks are processes or threads of one, and
// gather through a shared file. Like NCCL it queues an all-gather on a stream, refuses two ranks on one device, reports a
// lost rank by the communicator's state only, and leaves what waits for it in the stream until the communicator is aborted.
// It fails on demand, see control. The macro OLD leaves ncclGetLastError out, WITHOUT_ABORT a function
// that is needed.
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <map>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

#define API extern "C" __attribute__((visibility("default")))

enum { SUCCESS = 0, CUDA_ERROR = 1, SYSTEM_ERROR = 2, INVALID_ARGUMENT = 4, INVALID_USAGE = 5, REMOTE_ERROR = 6, IN_PROGRESS = 7 };

const int RANKS = 8;                  // at most
const size_t SLOT = (size_t)16 << 20; // bytes of a rank in a turn
typedef struct {
    char path[128];
} ncclUniqueId;

// shared is what the ranks of a communicator see of each other; behind it lie two turns' slots of every rank.
struct shared {
    std::atomic<int> joined;
    struct {
        std::atomic<int> there, device, pid, gone;
        std::atomic<uint64_t> written, words[2]; // words of the newest turn and the one before
    } ranks[RANKS];
};
const size_t HEAD = 1 << 16, SIZE = HEAD + 2 * RANKS * SLOT;

struct ncclComm {
    shared *s;
    int n, rank, device;
    uint64_t turn;
    std::atomic<int> asynchronous, aborted;
    bool blocking;
    char last[256];
};

// control is what the environment tells, as HOST_NCCL_…: fail_init and fail_gather: 256 × rank + the result that the rank's
// call returns, of gathers those after the first fail_after; lose: 1 + a rank that is gone from then on, which its peers hear
// of as a remote error, or with system_error as one of the system; slow: calls end later, as with NCCL_COMM_BLOCKING=0; late: 1 + a
// rank whose gathers after the first fail_after are done 130 looks after those of others; version: what ncclGetVersion says.
static long control(const char *key) {
    const char *text = getenv((std::string("HOST_NCCL_") + key).c_str());
    return text ? atol(text) : 0;
}

template <class F> static F host(const char *name) {
    static void *library = dlopen(getenv("BURST_LIBCUDA"), RTLD_NOW | RTLD_NOLOAD);
    return library ? (F)dlsym(library, name) : nullptr;
}
static int device() {
    auto f = host<int (*)()>("hostDevice");
    return f ? f() : -1;
}

API int ncclGetVersion(int *v) {
    long version = control("version");
    *v = version ? (int)version : 22703;
    return SUCCESS;
}
API const char *ncclGetErrorString(int code) {
    static const std::map<int, const char *> texts = {{1, "unhandled cuda error"}, {2, "unhandled system error"}, {4, "invalid argument"},
                                                      {5, "invalid usage"}, {6, "remote process exited or there was a network error"}};
    auto t = texts.find(code);
    return t == texts.end() ? "unknown result code" : t->second;
}
#ifndef OLD
API const char *ncclGetLastError(ncclComm *c) { return c->last; }
#endif
API int ncclGetUniqueId(ncclUniqueId *id) {
    memset(id, 'x', sizeof *id); // all of it must reach the others
    const char *dir = getenv("TMPDIR");
    snprintf(id->path, sizeof id->path - 1, "%s/burst-nccl-XXXXXX", dir ? dir : "/tmp");
    int f = mkstemp(id->path);
    if (f < 0 || ftruncate(f, (off_t)SIZE)) return SYSTEM_ERROR;
    close(f);
    return SUCCESS;
}

static int refuse(ncclComm *c, int result, const char *why) {
    snprintf(c->last, sizeof c->last, "%s", why);
    return result;
}

// lost says whether another rank is gone, by its own word or because its process is.
static bool lost(ncclComm *c) {
    for (int i = 0; i < c->n; i++) {
        auto &r = c->s->ranks[i];
        if (i != c->rank && (r.gone || (r.there && kill(r.pid, 0) && errno == ESRCH))) return true;
    }
    return false;
}

static int join(ncclComm *c, const char *path) {
    c->device = device();
    if (c->device < 0) return refuse(c, CUDA_ERROR, "no device");
    int f = open(path, O_RDWR);
    if (f < 0) return refuse(c, SYSTEM_ERROR, "no such communicator");
    void *p = mmap(nullptr, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0);
    close(f);
    if (p == MAP_FAILED) return refuse(c, SYSTEM_ERROR, "no memory");
    c->s = (shared *)p;
    auto &own = c->s->ranks[c->rank];
    own.device = c->device, own.pid = getpid(), own.there = 1;
    if (long fail = control("fail_init"); fail >> 8 == c->rank && fail) {
        own.gone = 1;
        return refuse(c, fail & 255, "told to fail");
    }
    if (++c->s->joined == c->n) unlink(path);
    while (c->s->joined < c->n) {
        if (lost(c)) return refuse(c, SYSTEM_ERROR, "connection closed by a peer");
        usleep(100);
    }
    for (int i = 0; i < c->n; i++)
        if (i != c->rank && c->s->ranks[i].device == c->device) return refuse(c, INVALID_USAGE, "Duplicate GPU detected");
    return SUCCESS;
}

API int ncclCommInitRank(ncclComm **comm, int n, ncclUniqueId id, int rank) {
    for (size_t i = strlen(id.path) + 1; i < sizeof id.path; i++)
        if (id.path[i] != 'x') return INVALID_ARGUMENT;
    if (n < 1 || n > RANKS || rank < 0 || rank >= n || id.path[0] != '/') return INVALID_ARGUMENT;
    auto c = new ncclComm{};
    c->n = n, c->rank = rank, c->blocking = !control("slow");
    int e = join(c, id.path);
    *comm = e ? nullptr : c;
    if (e || c->blocking) return e;
    c->asynchronous = IN_PROGRESS;
    return IN_PROGRESS;
}
API int ncclCommGetAsyncError(ncclComm *c, int *result) {
    int e = c->asynchronous;
    *result = e;
    if (e == IN_PROGRESS) c->asynchronous = SUCCESS;
    return SUCCESS;
}
#ifndef WITHOUT_ABORT
API int ncclCommAbort(ncclComm *c) {
    c->s->ranks[c->rank].gone = 1;
    c->aborted = 1; // what is queued still looks
    return SUCCESS;
}
#endif
API int ncclCommDestroy(ncclComm *c) {
    munmap((void *)c->s, SIZE);
    delete c;
    return SUCCESS;
}

struct gather {
    ncclComm *c;
    const char *send;
    char *recv;
    size_t words;
    uint64_t turn;
    bool begun;
    int looks;
};

static char *slot(ncclComm *c, uint64_t turn, int rank) { return (char *)c->s + HEAD + (turn % 2 * RANKS + rank) * SLOT; }

// proceed does what it can of an all-gather, and says whether it is done.
static int proceed(void *of) {
    auto g = (gather *)of;
    auto c = g->c;
    auto &own = c->s->ranks[c->rank];
    if (c->aborted || own.gone) return c->aborted;
    if (!g->begun) {
        memcpy(slot(c, g->turn, c->rank), g->send, 4 * g->words);
        own.words[g->turn % 2] = g->words, own.written = g->turn;
        g->begun = true;
    }
    for (int i = 0; i < c->n; i++) {
        auto &r = c->s->ranks[i];
        if (r.written < g->turn) {
            if (lost(c)) c->asynchronous = control("system_error") ? SYSTEM_ERROR : REMOTE_ERROR;
            return 0;
        }
        if (r.words[g->turn % 2] != g->words) {
            fprintf(stderr, "stand-in for libnccl: rank %d gives %zu words, rank %d %zu\n", c->rank, g->words, i, (size_t)r.words[g->turn % 2]);
            abort();
        }
    }
    if (control("late") - 1 == c->rank && (long)g->turn > control("fail_after") && g->looks++ < 130) return 0;
    for (int i = 0; i < c->n; i++) memcpy(g->recv + 4 * g->words * i, slot(c, g->turn, i), 4 * g->words);
    delete g;
    return 1;
}

API int ncclAllGather(const void *send, void *recv, size_t words, int type, ncclComm *c, void *stream) {
    auto owns = host<int (*)(void *, size_t)>("hostOwns");
    if (device() != c->device) return refuse(c, INVALID_USAGE, "another device is current");
    if (type != 3 || 4 * words > SLOT || !owns || !owns(recv, 4 * words * c->n) || send != (char *)recv + 4 * words * c->rank)
        return refuse(c, INVALID_ARGUMENT, "not an all-gather in place of device memory");
    c->turn++;
    long after = control("fail_after");
    if (long fail = control("fail_gather"); fail >> 8 == c->rank && fail && (long)c->turn > after) return refuse(c, fail & 255, "told to fail");
    if (long lose = control("lose"); lose && lose - 1 == c->rank && (long)c->turn > after) c->s->ranks[c->rank].gone = 1;
    auto g = new gather{c, (const char *)send, (char *)recv, words, c->turn, false, 0};
    if (host<int (*)(void *, int (*)(void *), void *)>("hostQueue")(stream, proceed, g)) return CUDA_ERROR;
    if (c->blocking) return SUCCESS;
    c->asynchronous = IN_PROGRESS;
    return IN_PROGRESS;
}
