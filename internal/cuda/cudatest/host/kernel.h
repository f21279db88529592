// A kernel as the stand-in keeps it: its name, how PTX declares it, and how to call it with a launch's arguments.
#pragma once
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

struct kernel {
    const char *name;
    size_t parameters;
    const size_t *sizes; // of these
    void (*run)(void **);
    std::string (*declaration)(const char *name);
    struct network_of (*network)(const void *run); // of a kernel of many bursts, given its argument
};

// network_of is what such an argument says of those who share the network.
struct network_of {
    unsigned devices;
    const unsigned long long *stop; // not 0 once one has failed
    bool waits;                     // for words of the host
};

// kernel_list has the kernels of package kernels that one unit compiles; all units' lists are linked.
struct kernel_list {
    static const kernel_list *all;
    const kernel *first;
    size_t count;
    bool checked; // for races
    const kernel_list *more;
    template <size_t n> kernel_list(const kernel (&list)[n], bool checked) : first(list), count(n), checked(checked), more(all) { all = this; }
};

// each_kernel calls a function for all of them.
template <class F> static void each_kernel(F f) {
    for (auto list = kernel_list::all; list; list = list->more)
        for (size_t i = 0; i < list->count; i++) f(list->first[i]);
}

template <class P> std::string parameter(const std::string &name) {
    if constexpr (std::is_pointer_v<P>) return ".param .u64 " + name;
    else if constexpr (std::is_floating_point_v<P>) return ".param .f" + std::to_string(8 * sizeof(P)) + " " + name;
    else if constexpr (std::is_integral_v<P>) return ".param .u" + std::to_string(8 * sizeof(P)) + " " + name;
    else return ".param .align " + std::to_string(alignof(P)) + " .b8 " + name + "[" + std::to_string(sizeof(P)) + "]";
}

template <class... P, size_t... I> static void call(void (*f)(P...), void **args, std::index_sequence<I...>) {
    f(*(std::remove_reference_t<P> *)args[I]...);
}

template <auto F> struct adapter;
template <class... P, void (*F)(P...)> struct adapter<F> {
    static const size_t parameters = sizeof...(P);
    static constexpr size_t sizes[] = {sizeof(std::remove_reference_t<P>)..., 0};
    static void run(void **args) { call(F, args, std::index_sequence_for<P...>{}); }
    static std::string declaration(const char *name) {
        std::string list;
        int i = 0;
        ((list += (list.empty() ? "\n\t" : ",\n\t") + parameter<P>(std::string(name) + "_param_" + std::to_string(i++))), ...);
        return std::string(".visible .entry ") + name + "(" + list + "\n)\n{\n\tret;\n}\n";
    }
};

#define KERNEL_ENTRY(f, network) {#f, adapter<f>::parameters, adapter<f>::sizes, adapter<f>::run, adapter<f>::declaration, network}
