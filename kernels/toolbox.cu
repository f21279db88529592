// The kernels of general use in one translation unit: burst's own bursts need none of them. Unlike the law's kernels they
// may fuse a product and a sum, where fused() says so.
#include "elementwise.cu"
#include "activation.cu"
#include "normalise.cu"
#include "matrix_product.cu"
#include "measure.cu"
