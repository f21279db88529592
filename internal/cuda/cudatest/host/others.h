// Stand-ins for what doctor asks of cuBLAS and NVML. hostControl: blas_fails; nvml_pending is a row remapping that waits for a
// restart, nvml_generation and nvml_width are the link's present ones, nvml_errors the uncorrectable memory errors,
// nvml_energy the joules that each reading of the energy adds.
#pragma once

API cublasCreate_v2(void **h) {
    ONE_AT_A_TIME;
    *h = &dummy_module;
    return control["blas_fails"] ? 3 : 0;
}
API cublasDestroy_v2(void *) { ONE_AT_A_TIME; return 0; }
API cublasGetVersion_v2(void *, int *v) {
    ONE_AT_A_TIME;
    *v = 120304;
    return 0;
}
API cublasSetStream_v2(void *, void *s) { ONE_AT_A_TIME; return streams.count(s) ? 0 : 7; }
API cublasSgemm_v2(void *, int ta, int tb, int m, int n, int k, const float *alpha, const float *a, int lda, const float *b,
                   int ldb, const float *beta, float *c, int ldc) {
    ONE_AT_A_TIME;
    if (ta || tb || *alpha != 1 || *beta != 0) return 7;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int d = 0; d < k; d++) sum += a[i + d * lda] * b[d + j * ldb];
            c[i + j * ldc] = sum;
        }
    return 0;
}

API nvmlInit_v2() { ONE_AT_A_TIME; return 0; }
API nvmlShutdown() { ONE_AT_A_TIME; return 0; }
EXPORTED const char *nvmlErrorString(int) { return "Not Supported"; }
API nvmlSystemGetDriverVersion(char *text, unsigned n) {
    ONE_AT_A_TIME;
    snprintf(text, n, "570.11");
    return 0;
}
static std::map<std::string, unsigned long long> used; // millijoules of the device at each address
API nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **v) {
    ONE_AT_A_TIME;
    *v = &used[bus];
    return strncmp(bus, "0000:", 5) ? 6 : 0;
}
static int answer(unsigned *to, long long value) {
    *to = (unsigned)value;
    return 0;
}
API nvmlDeviceGetCurrPcieLinkGeneration(void *, unsigned *v) { ONE_AT_A_TIME; return answer(v, control["nvml_generation"]); }
API nvmlDeviceGetMaxPcieLinkGeneration(void *, unsigned *v) { ONE_AT_A_TIME; return answer(v, 5); }
API nvmlDeviceGetCurrPcieLinkWidth(void *, unsigned *v) { ONE_AT_A_TIME; return answer(v, control["nvml_width"]); }
API nvmlDeviceGetMaxPcieLinkWidth(void *, unsigned *v) { ONE_AT_A_TIME; return answer(v, 16); }
API nvmlDeviceGetEccMode(void *, unsigned *now, unsigned *pending) { ONE_AT_A_TIME; return answer(now, 1) + answer(pending, 1); }
API nvmlDeviceGetTotalEccErrors(void *, int uncorrected, int, unsigned long long *v) {
    ONE_AT_A_TIME;
    *v = uncorrected ? (unsigned long long)control["nvml_errors"] : 3;
    return 0;
}
API nvmlDeviceGetRemappedRows(void *, unsigned *corrected, unsigned *uncorrected, unsigned *pending, unsigned *failed) {
    ONE_AT_A_TIME;
    return answer(corrected, 1) + answer(uncorrected, 0) + answer(pending, control["nvml_pending"]) + answer(failed, 0);
}
API nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *millijoules) {
    ONE_AT_A_TIME;
    *millijoules = *(unsigned long long *)device += 1000 * control["nvml_energy"];
    return control["nvml_energy"] ? 0 : 3;
}
