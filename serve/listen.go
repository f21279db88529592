package serve

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"burst/internal/eager"
)

// AddressError is an address that is not of this machine alone.
type AddressError struct{ Address, Port string }

func (e *AddressError) Error() string {
	return fmt.Sprintf("%s would be open to other machines, want a loopback address such as 127.0.0.1:%[2]s; to reach it from another machine, type there: ssh -L %[2]s:127.0.0.1:%[2]s THIS-MACHINE", e.Address, e.Port)
}

// CheckListen refuses an address that is not a loopback address with a port.
func CheckListen(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("%q, want a loopback address with a port, such as 127.0.0.1:8080: %w", address, err)
	}
	ip := net.ParseIP(host)
	if ip != nil && ip.IsLoopback() {
		if _, err := strconv.ParseUint(port, 10, 16); err != nil {
			return fmt.Errorf("%s: port %q, want a number from 0, for any that is free, to 65535", address, port)
		}
		return nil
	}
	if host == "localhost" {
		return fmt.Errorf("%s is a name, which may mean any address, want 127.0.0.1:%s", address, port)
	}
	if port == "" || port == "0" {
		port = "8080"
	}
	return &AddressError{address, port}
}

// listen opens the sockets.
func (s *Server) listen() (err error) {
	if s.o.Listen == "" && s.o.Socket == "" && s.o.Inherited == nil && s.o.Beside == nil {
		s.o.Listen = "127.0.0.1:0"
	}
	if s.o.Listen != "" {
		if err := CheckListen(s.o.Listen); err != nil {
			return err
		}
		if s.listener, err = net.Listen("tcp", s.o.Listen); err != nil {
			return err
		}
	}
	if s.o.Socket != "" {
		s.unix, err = listenUnix(s.o.Socket)
	}
	return err
}

// unlisten closes those that are still open.
func (s *Server) unlisten() error {
	var errs []error
	if s.listener != nil {
		errs = append(errs, unlessClosed(s.listener.Close()))
	}
	if s.unix != nil {
		errs = append(errs, unlessClosed(s.unix.Close()))
	}
	return errors.Join(errs...)
}

// unlessClosed is err, or nil where it says that a socket was closed already.
func unlessClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// unixListener is a Unix socket in a folder of the user.
type unixListener struct{ *net.UnixListener }

// listenUnix makes a socket that the user alone can use, in a folder that is the user's alone. Of its path only the last folder is made.
func listenUnix(path string) (*unixListener, error) {
	if most := len(syscall.RawSockaddrUnix{}.Path) - 1; len(path) > most {
		return nil, fmt.Errorf("the path of the socket has %d bytes, want at most %d, such as a relative one: %s", len(path), most, path)
	}
	dir := filepath.Dir(path)
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s is open to others (%v), want a folder that is yours alone: chmod 700 %[1]s, or name one that does not exist", dir, info.Mode().Perm())
	}
	if err := checkPeers(); err != nil {
		return nil, err
	}
	if err := removeStale(path); err != nil {
		return nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return &unixListener{l}, nil
}

// removeStale removes a socket that nobody listens to any more.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("%s is there and is no socket, want another path", path)
	}
	if conn, err := net.Dial("unix", path); err == nil {
		conn.Close()
		return fmt.Errorf("another process listens on %s, want another path", path)
	}
	return os.Remove(path)
}

// acceptUnix serves whoever comes over the Unix socket and is of the user.
func (s *Server) acceptUnix() {
	for {
		conn, err := s.unix.AcceptUnix()
		if err != nil {
			return
		}
		if err := checkPeer(conn); err != nil {
			s.o.Tell(err.Error())
			conn.Close()
			continue
		}
		s.served.Go(func() { s.serve(&client{conn: eager.Conn(conn), trusted: true}) })
	}
}

// inherit serves the process that has started this one. With its end the server ends.
func (s *Server) inherit() error {
	conn, err := net.FileConn(s.o.Inherited)
	if err != nil {
		return fmt.Errorf("the inherited file is no connected socket: %w", err)
	}
	s.o.Inherited.Close() // conn has its own
	s.served.Go(func() {
		s.serve(&client{conn: eager.Conn(conn), trusted: true, parent: true})
		s.stop(errStopped)
	})
	return nil
}
