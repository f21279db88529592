// Kernels of many bursts, of networks whose neurons are all lif or of the genome's own models, compiled so that races are found: those that CHECKED lists, so that a test
// which plants a mistake compiles no others.
#include "burst.cu"
#include "lasting_bursts.cu"
#include "event_bursts.cu"
#include "late_bursts.cu"
#include "sum_bursts.cu"
#include "learn.cu"
#include "local_bursts.cu"
#include "bursts.h"

static const kernel list_of_kernels[] = {CHECKED};
static const kernel_list kernels(list_of_kernels, true);
