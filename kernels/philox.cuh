// The law's random draws (engine/doc.go, Randomness); the same as internal/exact's Draw.
#pragma once
#include "burst.cuh"

enum purpose { WIRING = 1, WEIGHT_DRAW, DELAY_DRAW, POISSON_DRIVE = 5, EXCITABILITY, ATTRACTIVITY, NOISE_DRIVE, SOURCE };

struct words {
    u32 w[4];
};

// philox_round is one of Philox4x32, with its keys.
DEVICE void philox_round(words *c, u32 k0, u32 k1) {
    u32 h0 = high_product(0xD2511F53u, c->w[0]), l0 = 0xD2511F53u * c->w[0];
    u32 h1 = high_product(0xCD9E8D57u, c->w[2]), l1 = 0xCD9E8D57u * c->w[2];
    c->w[0] = h1 ^ c->w[1] ^ k0;
    c->w[1] = l1;
    c->w[2] = h0 ^ c->w[3] ^ k1;
    c->w[3] = l0;
}

const int PHILOX_ROUNDS = 10;

// philox is Philox4x32-10 (Salmon et al. 2011).
DEVICE words philox(u64 key, u32 c0, u32 c1, u32 c2, u32 c3) {
    u32 k0 = (u32)key, k1 = (u32)(key >> 32);
    words c = {{c0, c1, c2, c3}};
    for (int round = 0; round < PHILOX_ROUNDS; round++) {
        philox_round(&c, k0, k1);
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return c;
}

// draw is the draw for an index of 64 bits in burst t.
DEVICE words draw(u64 seed, purpose p, u32 index_low, u32 index_high, u64 t) {
    return philox(seed, index_low, index_high, (u32)t, (u32)p << 24 | ((u32)(t >> 32) & 0xffffffu));
}

// word_of is neuron n's part of the draw that it shares with three others.
DEVICE u32 word_of(words x, u32 n) { return n % 4 < 2 ? (n % 4 == 0 ? x.w[0] : x.w[1]) : (n % 4 == 2 ? x.w[2] : x.w[3]); }

// draw_of is the draw that neuron n shares with three others.
DEVICE u32 draw_of(u64 seed, purpose p, u32 n, u32 index_high, u64 t) {
    return word_of(draw(seed, p, n / 4, index_high, t), n);
}

// pcg is FEAGI's hash of 32 bits.
DEVICE u32 pcg(u32 x) {
    u32 s = x * 747796405u + 2891336453u;
    u32 w = ((s >> ((s >> 28) + 4)) ^ s) * 277803737u;
    return (w >> 22) ^ w;
}
