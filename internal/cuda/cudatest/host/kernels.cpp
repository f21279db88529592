// The kernels of package kernels, for fibers. With RACES they are those of single bursts, compiled so that races are found; checked.cpp has
// those of many.
#include "burst.cu"
#include "lasting_bursts.cu"
#include "event_bursts.cu"
#include "late_bursts.cu"
#include "sum_bursts.cu"
#ifndef RACES
#include "learn.cu"
#include "local_bursts.cu"
#include "driven.cu"
#include "build.cu"
#include "near.cu"
#include "toolbox.cu"
#endif
#include "bursts.h"

#define BURST_ENTRIES                                                                                                       \
    ENTRY(catch_up), ENTRY(queue_rows), ENTRY(cut_rows), ENTRY(inject), ENTRY(fired_rows), ENTRY(synaptic_propagation_fcl), \
        ENTRY(deliver_places), ENTRY(neural_dynamics_fcl), ENTRY(list_sums), ENTRY(list_ids)

#ifdef RACES
static const kernel list_of_kernels[] = {BURST_ENTRIES};
static const kernel_list kernels(list_of_kernels, true);
#else
static const kernel list_of_kernels[] = {
    BURSTS(run_bursts), BURSTS(run_bursts_feagi), BURSTS(run_bursts_lif), BURSTS(run_bursts_psc_exp), BURSTS(run_bursts_custom),
    BURSTS(resident_bursts), BURSTS(resident_bursts_feagi), BURSTS(resident_bursts_lif), BURSTS(resident_bursts_psc_exp),
    LASTING(lasting_bursts), LASTING(lasting_bursts_feagi), LASTING(lasting_bursts_lif), LASTING(lasting_bursts_psc_exp),
    BURSTS(event_bursts), BURSTS(late_bursts_lif), BURSTS(sum_bursts_lif), BURSTS(cluster_bursts), BURSTS(cluster_bursts_feagi), BURSTS(cluster_bursts_lif), BURSTS(cluster_bursts_psc_exp),
    BURST_ENTRIES,
    LEARN_ENTRIES, BURSTS(learn_bursts), BURSTS(learn_bursts_all), BURSTS(learn_bursts_ranges), BURSTS(local_bursts), LASTING(lasting_local),
    ENTRY(driven_deliver), ENTRY(driven_potentials), ENTRY(driven_fired),
    ENTRY(count_synapses), ENTRY(place_synapses), ENTRY(make_narrow_rows), ENTRY(make_wide_rows), ENTRY(make_long_rows), ENTRY(exact_values),
    ENTRY(collect_weights), ENTRY(pack_rows), ENTRY(narrow_delays), ENTRY(find_wide), ENTRY(join_delays), ENTRY(count_soon),
    ENTRY(count_stretches), ENTRY(code_rows),
    ENTRY(cut_trees), ENTRY(count_near), ENTRY(place_near), ENTRY(place_by_formula), ENTRY(formula_values),
    ENTRY(add_f32), ENTRY(sub_f32), ENTRY(mul_f32), ENTRY(div_f32), ENTRY(neg_f32), ENTRY(abs_f32),
    ENTRY(add_f64), ENTRY(sub_f64), ENTRY(mul_f64), ENTRY(div_f64), ENTRY(neg_f64), ENTRY(abs_f64),
    ENTRY(add_c128), ENTRY(sub_c128), ENTRY(mul_c128), ENTRY(div_c128), ENTRY(neg_c128), ENTRY(abs_c128),
    ENTRY(relu_f32), ENTRY(sigmoid_f32), ENTRY(tanh_f32), ENTRY(relu_f64), ENTRY(sigmoid_f64), ENTRY(tanh_f64),
    ENTRY(softmax_f32), ENTRY(softmax_f64), ENTRY(batch_norm_f32), ENTRY(batch_norm_f64),
    ENTRY(matrix_product_32), ENTRY(matrix_product_64), ENTRY(matrix_product_128),
    ENTRY(idle), ENTRY(atomic_adds), ENTRY(grid_barriers)};
static const kernel_list kernels(list_of_kernels, false);
#endif
