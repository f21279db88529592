#include "toolbox.cuh"

const u32 DEPTH = 16; // of the slices of x and y that a block holds in shared memory

// wide is what one access to shared memory fetches. The pointer must come as a parameter for clang to believe in its
// alignment.
template <u32 N> struct alignas(4 * N) wide {
    f32 v[N];
};
template <u32 N> DEVICE wide<N> read_wide(const f32 *p) { return *(const wide<N> *)p; }

DEVICE u32 least(u32 a, u32 b) { return a < b ? a : b; }

// fetch_slice reads this thread's part of the next slices of x (rows by DEPTH) and y (DEPTH by columns). Beyond the depth is
// zero; beyond the last row or column it is anything, for nobody stores what comes of it. It reads within bounds rather
// than branch, so that all loads are under way at once.
template <u32 TILE> DEVICE void fetch_slice(const f32 *x, const f32 *y, u32 m, u32 n, u32 k, u32 row, u32 column, u32 depth, f32 *xs, f32 *ys) {
    u32 t = thread_in_block();
#pragma unroll
    for (u32 i = 0; i < TILE * DEPTH / BLOCK; i++) {
        u32 e = t + i * BLOCK, xk = depth + e % DEPTH, yk = depth + e / TILE;
        f32 xv = x[(u64)least(row + e / DEPTH, m - 1) * k + least(xk, k - 1)];
        f32 yv = y[(u64)least(yk, k - 1) * n + least(column + e % TILE, n - 1)];
        xs[i] = xk < k ? xv : 0;
        ys[i] = yk < k ? yv : 0;
    }
}

// tile_product is one tile of TILE by TILE elements of x·y, by a block of BLOCK threads. A thread holds (TILE/16)^2 sums, in
// groups that lie side by side so that shared memory is read in wide pieces; the next slices are fetched while the sums of
// the current ones are formed.
template <u32 TILE> DEVICE void tile_product(const f32 *x, const f32 *y, f32 *out, u32 m, u32 n, u32 k) {
    const u32 EACH = TILE / 16, GROUP = EACH < 4 ? EACH : 4, GROUPS = EACH / GROUP, LOADS = TILE * DEPTH / BLOCK;
    struct alignas(16) slice {
        f32 at[DEPTH][TILE + 4];
    };
    SHARED(slice, xt);
    SHARED(slice, yt);
    u32 t = thread_in_block(), ty = t / 16, tx = t % 16;
    u32 across = (n + TILE - 1) / TILE;
    u32 row = block_index() / across * TILE, column = block_index() % across * TILE;
    f32 sum[EACH][EACH] = {}, xs[LOADS], ys[LOADS];
    fetch_slice<TILE>(x, y, m, n, k, row, column, 0, xs, ys);
    for (u32 depth = 0; depth < k; depth += DEPTH) {
#pragma unroll
        for (u32 i = 0; i < LOADS; i++) {
            u32 e = t + i * BLOCK;
            xt.at[e % DEPTH][e / DEPTH] = xs[i];
            yt.at[e / TILE][e % TILE] = ys[i];
        }
        block_barrier();
        if (depth + DEPTH < k) fetch_slice<TILE>(x, y, m, n, k, row, column, depth + DEPTH, xs, ys);
#pragma unroll
        for (u32 d = 0; d < DEPTH; d++) {
            wide<GROUP> a[GROUPS], b[GROUPS];
#pragma unroll
            for (u32 g = 0; g < GROUPS; g++) {
                a[g] = read_wide<GROUP>(&xt.at[d][(g * 16 + ty) * GROUP]);
                b[g] = read_wide<GROUP>(&yt.at[d][(g * 16 + tx) * GROUP]);
            }
#pragma unroll
            for (u32 i = 0; i < EACH; i++)
#pragma unroll
                for (u32 j = 0; j < EACH; j++) sum[i][j] = fused(a[i / GROUP].v[i % GROUP], b[j / GROUP].v[j % GROUP], sum[i][j]);
        }
        block_barrier();
    }
#pragma unroll
    for (u32 i = 0; i < EACH; i++) {
        u32 r = row + (i / GROUP * 16 + ty) * GROUP + i % GROUP;
#pragma unroll
        for (u32 j = 0; j < EACH; j++) {
            u32 c = column + (j / GROUP * 16 + tx) * GROUP + j % GROUP;
            if (r < m && c < n) out[(u64)r * n + c] = sum[i][j];
        }
    }
}

// matrix_product_TILE is out (m by n) = x (m by k) · y (k by n), all row by row, a block a tile of TILE by TILE elements,
// which lie row by row; blocks of BLOCK threads; m, n, k > 0. Large tiles read less, small ones keep more multiprocessors busy.
//
//	for r := range m { for c := range n { for d := range k { out[r][c] += x[r][d] * y[d][c] } } }
#define MATRIX_PRODUCT(name, tile)                                                     \
    KERNEL AT_LEAST(2) name(const f32 *x, const f32 *y, f32 *out, u32 m, u32 n, u32 k) { tile_product<tile>(x, y, out, m, n, k); }

MATRIX_PRODUCT(matrix_product_32, 32)
MATRIX_PRODUCT(matrix_product_64, 64)
MATRIX_PRODUCT(matrix_product_128, 128)
