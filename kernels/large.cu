// The kernels of a burst for networks that are too large for the second cache: large.cuh. They are on path run.
#define BURST_MANY
#define BURST_MOVING
#define BURST_LARGE
#include "run_bursts.cu"
