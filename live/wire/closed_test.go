package wire_test

import (
	"net"
	"path/filepath"
	"testing"

	"burst/live/wire"

	"github.com/stretchr/testify/require"
)

// TestClosed: a client that asks after the server has gone still hears what the server said before.
func TestClosed(t *testing.T) {
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	require.NoError(t, err)
	defer l.Close()
	closed := make(chan error)
	go func() {
		closed <- func() error {
			conn, err := l.Accept()
			if err != nil {
				return err
			}
			defer conn.Close()
			in := wire.Reader{From: conn}
			if _, _, err := in.Next(); err != nil {
				return err
			}
			b, err := wire.AppendJSON(nil, wire.TypeHello, 0, wire.Welcome{})
			if err != nil {
				return err
			}
			if b, err = wire.AppendJSON(b, wire.TypeNotice, 0, wire.Notice{Code: wire.Closing}); err != nil {
				return err
			}
			_, err = conn.Write(b)
			return err
		}()
	}()
	c, err := wire.Dial(l.Addr().String(), wire.Hello{Role: wire.RoleDrive})
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, <-closed)
	var told []string
	c.Notice = func(n wire.Notice) { told = append(told, n.Code) }
	_, err = c.Step(1)
	require.Error(t, err)
	require.Equal(t, []string{wire.Closing}, told)
}
