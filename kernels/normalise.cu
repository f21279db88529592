#include "transcendental.cuh"

// block_sum and block_max combine the values of a block's BLOCK threads; all of them must call it and all get the result.
template <class T> DEVICE T block_sum(T v, T *part) {
    u32 t = thread_in_block();
    part[t] = v;
    block_barrier();
    for (u32 w = BLOCK / 2; w > 0; w /= 2) {
        if (t < w) part[t] += part[t + w];
        block_barrier();
    }
    T sum = part[0];
    block_barrier(); // part is free again
    return sum;
}
template <class T> DEVICE T block_max(T v, T *part) {
    u32 t = thread_in_block();
    part[t] = v;
    block_barrier();
    for (u32 w = BLOCK / 2; w > 0; w /= 2) {
        if (t < w && part[t] < part[t + w]) part[t] = part[t + w];
        block_barrier();
    }
    T highest = part[0];
    block_barrier();
    return highest;
}

// softmax_row is one row, by one block; the greatest element is taken off first, so that no exp overflows.
template <class T> DEVICE void softmax_row(const T *x, T *out, u64 columns, T *part) {
    T highest = x[0];
    for (u64 c = thread_in_block(); c < columns; c += BLOCK)
        if (highest < x[c]) highest = x[c];
    highest = block_max(highest, part);
    T sum = 0;
    for (u64 c = thread_in_block(); c < columns; c += BLOCK) {
        T e = exponential(x[c] - highest);
        out[c] = e;
        sum += e;
    }
    sum = block_sum(sum, part);
    for (u64 c = thread_in_block(); c < columns; c += BLOCK) out[c] /= sum;
}

// softmax, a block a row, any number of blocks of BLOCK threads; columns > 0:
//
//	for r := range rows { m := max(x[r]...); for c := range columns { out[r][c] = exp(x[r][c]-m) / sum(exp(x[r]-m)) } }
#define SOFTMAX(name, type)                                                            \
    KERNEL name(const type *x, type *out, u64 rows, u64 columns) {                     \
        typedef type values[BLOCK];                                                    \
        SHARED(values, part);                                                          \
        for (u64 r = block_index(); r < rows; r += block_count())                      \
            softmax_row(x + r * columns, out + r * columns, columns, part);            \
    }

SOFTMAX(softmax_f32, f32)
SOFTMAX(softmax_f64, f64)

// column_sum adds what the 8 threads of each of a block's 32 columns hold; all threads get their column's sum.
template <class T> DEVICE T column_sum(T v, T *part) {
    u32 t = thread_in_block();
    part[t] = v;
    block_barrier();
    T sum = 0;
    for (u32 i = t % 32; i < BLOCK; i += 32) sum += part[i];
    block_barrier();
    return sum;
}

// normalise_columns is 32 columns, by one block: the mean first, then the deviations from it.
template <class T> DEVICE void normalise_columns(const T *x, const T *gain, const T *shift, T *out, u64 rows, u64 columns, u64 c, T epsilon, T *part) {
    u64 first = thread_in_block() / 32;
    bool inside = c < columns;
    T sum = 0;
    for (u64 r = first; inside && r < rows; r += BLOCK / 32) sum += x[r * columns + c];
    T mean = column_sum(sum, part) / (T)rows;
    sum = 0;
    for (u64 r = first; inside && r < rows; r += BLOCK / 32) {
        T d = x[r * columns + c] - mean;
        sum = fused(d, d, sum);
    }
    T deviation = root(column_sum(sum, part) / (T)rows + epsilon);
    if (!inside) return;
    for (u64 r = first; r < rows; r += BLOCK / 32)
        out[r * columns + c] = fused((x[r * columns + c] - mean) / deviation, gain[c], shift[c]);
}

// batch_norm normalises each column (a channel) over the rows (the batch), 32 columns a block of BLOCK threads; rows > 0:
//
//	for c := range columns { m, v := meanAndVariance(x[:][c]); for r := range rows {
//		out[r][c] = (x[r][c]-m)/sqrt(v+epsilon)*gain[c] + shift[c] } }
#define BATCH_NORM(name, type)                                                         \
    KERNEL name(const type *x, const type *gain, const type *shift, type *out, u64 rows, u64 columns, type epsilon) { \
        typedef type values[BLOCK];                                                    \
        SHARED(values, part);                                                          \
        for (u64 b = block_index(); b * 32 < columns; b += block_count())              \
            normalise_columns(x, gain, shift, out, rows, columns, b * 32 + thread_in_block() % 32, epsilon, part); \
    }

BATCH_NORM(batch_norm_f32, f32)
BATCH_NORM(batch_norm_f64, f64)
