//go:build !linux

package serve

import (
	"errors"
	"net"
)

// checkPeers says whether the system tells who is at the other end of a Unix socket.
func checkPeers() error {
	return errors.New("on this system burst cannot tell who is at the other end of a Unix socket, want --listen")
}

// checkPeer refuses a process of another user.
func checkPeer(*net.UnixConn) error { return checkPeers() }
