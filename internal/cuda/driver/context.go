package driver

import (
	"runtime"

	"burst/internal/clib"
)

// Context is a device's primary context, which all users of the device in this process share. Memory, modules and streams
// belong to it.
type Context struct {
	d      *Driver
	v      *Device
	handle uintptr
	enter  clib.Frame // of every Enter
}

// Retain takes hold of the device's primary context, making it if nobody else has.
func (v *Device) Retain() (*Context, error) {
	c := &Context{d: v.d, v: v}
	err := v.d.call(cuDevicePrimaryCtxRetain, clib.Ptr(&c.handle), clib.Int(v.handle))
	c.enter.Set(clib.Int(c.handle))
	return c, err
}

// Release lets go of the context, which ends with its last holder. It needs no Enter.
func (c *Context) Release() error {
	return c.d.call(cuDevicePrimaryCtxRelease, clib.Int(c.v.handle))
}

// Enter ties the goroutine to its thread and makes the context current there. After an error, do not Leave.
func (c *Context) Enter() error {
	runtime.LockOSThread()
	if err := c.d.callFrame(cuCtxSetCurrent, &c.enter); err != nil {
		runtime.UnlockOSThread()
		return err
	}
	return nil
}

// Leave undoes Enter. The context stays current on the thread. That does no harm, because all users enter before they call.
func (c *Context) Leave() { runtime.UnlockOSThread() }

// Device is the device of the context.
func (c *Context) Device() *Device { return c.v }

// EnablePeer lets kernels of c use memory of peer; enabling it again is no error.
func (c *Context) EnablePeer(peer *Context) error {
	err := c.d.call(cuCtxEnablePeerAccess, clib.Int(peer.handle), clib.Int(0))
	if e, ok := err.(*Error); ok && e.Code == PeerAlreadyEnabled {
		return nil
	}
	return err
}
