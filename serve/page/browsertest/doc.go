// Package browsertest tests the page in a real browser, Chromium without a window. It is a module of its own, so that the driver of
// the browser is none of burst's libraries: `make test-page`.
package browsertest
