// The kernels of a burst for callers that want every burst's fire candidate list: candidates.cuh.
#define BURST_LISTS
#define BURST_MOVING
#include "burst.cu"
