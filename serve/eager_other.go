//go:build !linux

package serve

import "net"

func makeEager(conn net.Conn) net.Conn { return conn }
