//go:build !linux

package eager

import "net"

// Conn is conn itself: elsewhere than on Linux nothing looks.
func Conn(conn net.Conn) net.Conn { return conn }
