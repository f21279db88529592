// Events: work is done when it is queued, so an event has passed when it is recorded.
struct event {
    std::chrono::steady_clock::time_point when;
    bool recorded;
};
API cuEventCreate(event **e, unsigned) {
    ONE_AT_A_TIME;
    if (int x = ready()) return x;
    *e = new event{};
    marks++;
    return SUCCESS;
}
API cuEventDestroy_v2(event *e) {
    ONE_AT_A_TIME;
    delete e;
    marks--;
    return fault();
}
API cuEventRecord(event *e, void *stream) {
    ONE_AT_A_TIME;
    if (int x = ready()) return x;
    if (!streams.count(stream)) return refuse("an event in no stream");
    e->when = std::chrono::steady_clock::now();
    e->recorded = true;
    return SUCCESS;
}
API cuEventSynchronize(event *e) {
    ONE_AT_A_TIME;
    if (int x = ready()) return x;
    waits++;
    return e->recorded ? SUCCESS : refuse("waiting for an event that was not recorded");
}
API cuStreamWaitEvent(void *stream, event *e, unsigned) {
    ONE_AT_A_TIME;
    if (int x = ready()) return x;
    return streams.count(stream) && e->recorded ? SUCCESS : refuse("a wait for no event");
}
API cuEventElapsedTime(float *ms, event *start, event *end) {
    ONE_AT_A_TIME;
    if (int x = ready()) return x;
    *ms = std::chrono::duration<float, std::milli>(end->when - start->when).count();
    return SUCCESS;
}
