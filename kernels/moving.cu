// The kernels of a burst for networks in which drives or sources have factors (instant_of of network.cuh), or delays are above 255 bursts.
#define BURST_MOVING
#include "burst.cu"
