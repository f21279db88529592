// custom.cu for callers that want every burst's fire candidate list: candidates.cuh.
#define BURST_LISTS
#include "custom.cu"
