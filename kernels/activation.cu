#include "transcendental.cuh"

// Element by element, any number of blocks and threads:
//
//	for i := range out { out[i] = f(x[i]) }
#define ACTIVATION(name, type, value)                                                  \
    KERNEL name(const type *x, type *out, u64 n) {                                     \
        for (u64 i = thread_index(); i < n; i += thread_count()) {                     \
            type a = x[i];                                                             \
            out[i] = value;                                                            \
        }                                                                              \
    }

ACTIVATION(relu_f32, f32, a < 0 ? 0 : a)
ACTIVATION(sigmoid_f32, f32, logistic(a))
ACTIVATION(tanh_f32, f32, hyperbolic_tangent(a))

ACTIVATION(relu_f64, f64, a < 0 ? 0 : a)
ACTIVATION(sigmoid_f64, f64, logistic(a))
ACTIVATION(tanh_f64, f64, hyperbolic_tangent(a))
