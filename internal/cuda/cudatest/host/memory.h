// Device memory and page-locked memory, and copies between them in a stream's order.
#pragma once

API cuMemGetInfo_v2(size_t *free, size_t *total) {
    ONE_AT_A_TIME;
    if (int e = ready()) return e;
    *free = (size_t)control["free"];
    *total = (size_t)1 << 40;
    return SUCCESS;
}
API cuMemAlloc_v2(uintptr_t *p, size_t bytes) { ONE_AT_A_TIME; return allocate(p, bytes, false); }
API cuMemFree_v2(uintptr_t p) { ONE_AT_A_TIME; return release(p, false); }
API cuMemHostAlloc(uintptr_t *p, size_t bytes, unsigned) { ONE_AT_A_TIME; return allocate(p, bytes, true); }
API cuMemFreeHost(uintptr_t p) { ONE_AT_A_TIME; return release(p, true); }

API cuMemcpyHtoDAsync_v2(uintptr_t to, const void *from, size_t n, void *stream) {
    ONE_AT_A_TIME;
    if (int e = ready()) return e;
    if (!streams.count(stream) || !inside(to, n, false)) return refuse("an upload past the end of device memory");
    if (!deferred(stream, (void *)to, from, n)) memcpy((void *)to, from, n);
    return SUCCESS;
}
API cuMemcpyDtoHAsync_v2(void *to, uintptr_t from, size_t n, void *stream) {
    ONE_AT_A_TIME;
    if (int e = ready()) return e;
    if (!streams.count(stream) || !inside(from, n, false)) return refuse("a download past the end of device memory");
    downloads++;
    downloaded += (long long)n;
    if (!deferred(stream, to, (void *)from, n)) memcpy(to, (void *)from, n);
    return SUCCESS;
}
API cuMemsetD8Async(uintptr_t p, unsigned char b, size_t n, void *stream) {
    ONE_AT_A_TIME;
    if (int e = ready()) return e;
    if (!streams.count(stream) || !inside(p, n, false)) return refuse("a fill past the end of device memory");
    memset((void *)p, b, n);
    return SUCCESS;
}
