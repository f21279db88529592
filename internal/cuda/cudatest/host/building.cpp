// The kernels that build networks, for fibers, compiled so that races are found; a unit of its own, which compiles in seconds, for tests that plant mistakes in them.
#include "build.cu"
#include "near.cu"
#include "kernel.h"

#define ENTRY(f) KERNEL_ENTRY(f, nullptr)
static const kernel list_of_kernels[] = {ENTRY(count_synapses), ENTRY(place_synapses), ENTRY(make_narrow_rows), ENTRY(make_wide_rows), ENTRY(make_long_rows), ENTRY(collect_weights),
                                         ENTRY(pack_rows), ENTRY(narrow_delays), ENTRY(find_wide), ENTRY(join_delays), ENTRY(count_soon), ENTRY(count_stretches), ENTRY(code_rows), ENTRY(exact_values),
                                         ENTRY(cut_trees), ENTRY(count_near), ENTRY(place_near), ENTRY(place_by_formula), ENTRY(formula_values)};
static const kernel_list kernels(list_of_kernels, true);
