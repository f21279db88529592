package engine

// OnTimers makes an engine sleep by Go's timers, which a test's clock drives.
func OnTimers(e *Engine) *Engine {
	e.pace.nap = byTimer
	return e
}
