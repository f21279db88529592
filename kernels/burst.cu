// All kernels of a burst in one translation unit, so that the driver compiles and loads them once.
#include "inject.cu"
#include "fired_rows.cu"
#include "synaptic_propagation_fcl.cu"
#include "deliver_places.cu"
#include "neural_dynamics_fcl.cu"
#include "list_sums.cu"
#include "list_ids.cu"
#include "run_bursts.cu"
#if !defined(BURST_CUSTOM) && (!defined(BURST_LARGE) || defined(BURST_ONE_UNIT))
#include "resident_bursts.cu"
#ifndef BURST_LISTS
#include "cluster_bursts.cu"
#endif
#endif
