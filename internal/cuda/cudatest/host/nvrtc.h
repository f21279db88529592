// A stand-in for NVRTC: it compiles a user's kernels with g++ into a library that the PTX names, and answers for the kernels
// of package kernels, which come with headers, with declarations alone. hostControl: nvrtc_isa is the PTX version it writes.
#pragma once
#include <atomic>
#include <dlfcn.h>
#include <fstream>
#include <regex>
#include <sstream>
#include <unistd.h>

struct program {
    std::string source, ptx, log;
    bool headers;
};

enum { NVRTC_SUCCESS = 0, NVRTC_ERROR_COMPILATION = 6 };

// ptx_header begins every PTX.
static std::string ptx_header(const std::string &target) {
    auto isa = std::to_string(control["nvrtc_isa"]);
    return ".version " + isa.substr(0, isa.size() - 1) + "." + isa.substr(isa.size() - 1) + "\n.target sm_" + target + "\n.address_size 64\n";
}

// own_library compiles a user's source, once for all tests: the library is kept beside the stand-in, and was made of the very
// text that its .cpp holds. The answer is its path, or nothing and the log of the compiler.
static std::string own_library(const std::string &source, std::string *log) {
    static std::atomic<int> number{0};
    std::stringstream text, had, failure;
    text << "#include \"" HOST_FOLDER "/own.h\"\n#line 1 \"default_program\"\n" << source << "\nextern const kernel own_kernels[] = {\n";
    std::regex entry("__global__\\s+void\\s+(\\w+)");
    for (std::sregex_iterator i(source.begin(), source.end(), entry), end; i != end; ++i) text << "KERNEL_ENTRY(" << (*i)[1] << ", nullptr),\n";
    text << "{nullptr, 0, nullptr, nullptr, nullptr}};\nextern \"C\" const kernel *host_kernels() { return own_kernels; }\n";
    std::string kept = std::string(HOST_FOLDER) + "/own" + std::to_string(std::hash<std::string>()(text.str()));
    had << std::ifstream(kept + ".so.cpp").rdbuf();
    if (had.str() == text.str()) return kept + ".so";
    std::string base = kept + "_" + std::to_string(getpid()) + "_" + std::to_string(number++);
    std::ofstream(base + ".cpp") << text.str();
    auto command = "g++ -std=c++17 -O1 -ffp-contract=off -shared -fPIC -o " + base + ".so " + base + ".cpp 2> " + base + ".log";
    bool compiled = system(command.c_str()) == 0;
    failure << std::ifstream(base + ".log").rdbuf();
    remove((base + ".log").c_str());
    if (compiled && rename((base + ".so").c_str(), (kept + ".so").c_str()) == 0 && rename((base + ".cpp").c_str(), (kept + ".so.cpp").c_str()) == 0)
        return kept + ".so"; // the text comes last, so that where it is the library is whole
    remove((base + ".cpp").c_str());
    *log = failure.str();
    return "";
}

static const kernel *own_table(const std::string &library) {
    void *h = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    return h ? ((const kernel *(*)())dlsym(h, "host_kernels"))() : nullptr;
}

API nvrtcVersion(int *major, int *minor) {
    ONE_AT_A_TIME;
    *major = 12, *minor = 3;
    return NVRTC_SUCCESS;
}
API nvrtcCreateProgram(program **p, const char *source, const char *, int headers, const char **, const char **) {
    ONE_AT_A_TIME;
    *p = new program{source, "", "", headers > 0};
    return NVRTC_SUCCESS;
}
API nvrtcDestroyProgram(program **p) {
    ONE_AT_A_TIME;
    delete *p;
    return NVRTC_SUCCESS;
}
API nvrtcCompileProgram(program *p, int options, const char **option) {
    ONE_AT_A_TIME;
    compilations++;
    std::string target = "75";
    for (int i = 0; i < options; i++) {
        std::string o = option[i], arch = "--gpu-architecture=compute_";
        if (o.rfind(arch, 0) == 0) target = o.substr(arch.size());
        if (o == "--no-such-option") {
            p->log = "nvrtc: error: unrecognized option --no-such-option found";
            return 5;
        }
    }
    if (control["fail_compile"]) {
        p->log = "default_program(3): error: identifier \"blockidx\" is undefined";
        return NVRTC_ERROR_COMPILATION;
    }
    p->ptx = ptx_header(target);
    if (p->headers) {
        each_kernel([p](const kernel &k) { p->ptx += k.declaration(k.name); });
        return NVRTC_SUCCESS;
    }
    auto library = own_library(p->source, &p->log);
    if (library.empty()) return NVRTC_ERROR_COMPILATION;
    p->ptx += "// library " + library + "\n";
    for (auto k = own_table(library); k->name; k++) p->ptx += k->declaration(k->name);
    return NVRTC_SUCCESS;
}
API nvrtcGetNumSupportedArchs(int *n) {
    ONE_AT_A_TIME;
    *n = 3;
    return NVRTC_SUCCESS;
}
API nvrtcGetSupportedArchs(int *list) {
    ONE_AT_A_TIME;
    list[0] = 75, list[1] = 80, list[2] = 90;
    return NVRTC_SUCCESS;
}
API nvrtcGetPTXSize(program *p, size_t *n) {
    ONE_AT_A_TIME;
    *n = p->ptx.size() + 1;
    return NVRTC_SUCCESS;
}
API nvrtcGetPTX(program *p, char *text) {
    ONE_AT_A_TIME;
    strcpy(text, p->ptx.c_str());
    return NVRTC_SUCCESS;
}
API nvrtcGetProgramLogSize(program *p, size_t *n) {
    ONE_AT_A_TIME;
    *n = p->log.size() + 1;
    return NVRTC_SUCCESS;
}
API nvrtcGetProgramLog(program *p, char *text) {
    ONE_AT_A_TIME;
    strcpy(text, p->log.c_str());
    return NVRTC_SUCCESS;
}
EXPORTED const char *nvrtcGetErrorString(int e) { return e == NVRTC_ERROR_COMPILATION ? "NVRTC_ERROR_COMPILATION" : "NVRTC_ERROR_INVALID_OPTION"; }
