package serve

import (
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// checkPeers says whether the system tells who is at the other end of a Unix socket.
func checkPeers() error { return nil }

// checkPeer refuses a process of another user.
func checkPeer(conn *net.UnixConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var who *unix.Ucred
	var failed error
	if err := raw.Control(func(fd uintptr) { who, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); err != nil {
		return err
	}
	if failed != nil {
		return fmt.Errorf("who is at the other end of the socket: %w", failed)
	}
	return checkUser(int(who.Uid), os.Getuid())
}

// checkUser refuses one who is not us.
func checkUser(them, us int) error {
	if them != us {
		return fmt.Errorf("a process of user %d came to the socket, which is for user %d alone", them, us)
	}
	return nil
}
