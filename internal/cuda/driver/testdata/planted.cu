// Four mistakes, one for each tool of compute-sanitizer, to show that the tool sees such a thing on this machine.
// clang-19 -x cuda --cuda-device-only --cuda-gpu-arch=sm_75 -Xclang -target-feature -Xclang +ptx63 -nocudainc -nocudalib
//     -Wno-unknown-cuda-version -O1 -S -o planted.ptx planted.cu
#define KERNEL extern "C" __attribute__((global)) void
#define THREAD __nvvm_read_ptx_sreg_tid_x()

// memcheck: writes behind the memory.
KERNEL memcheck(int *p, unsigned n) { p[n + THREAD] = 1; }

// racecheck: two warps write the same word of shared memory.
KERNEL racecheck(int *p, unsigned n) {
    static __attribute__((shared)) volatile int s;
    s = (int)(THREAD / 32);
    p[THREAD % n] = s;
}

// initcheck: reads what nobody has written.
KERNEL initcheck(int *p, unsigned n) { p[0] = p[n - 1] + 1; }

// synccheck: half of a warp's threads wait for the others, which do not come.
KERNEL synccheck(int *p, unsigned n) {
    if (THREAD % 2 == 0) __nvvm_bar_sync(0);
    p[THREAD % n] = 1;
}
