// cluster_bursts for networks whose state stays in global memory, because blocks have no room for it. Only GPUs that have clusters of several
// blocks have so much shared memory that sums alone fit.
#define BURST_MANY
#define BURST_OUTSIDE
#include "run_bursts.cu"
#ifdef BURST_CLUSTERS
#include "cluster_bursts.cu"
#endif
