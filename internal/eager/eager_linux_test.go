package eager

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// eagerPair is an eager socket and its other end.
func eagerPair(t *testing.T, network string) (*socket, net.Conn) {
	t.Helper()
	address := map[string]string{"tcp": "127.0.0.1:0", "unix": filepath.Join(t.TempDir(), "s")}[network]
	l, err := net.Listen(network, address)
	require.NoError(t, err)
	defer l.Close()
	other, err := net.Dial(network, l.Addr().String())
	require.NoError(t, err)
	conn, err := l.Accept()
	require.NoError(t, err)
	t.Cleanup(func() {
		conn.Close()
		other.Close()
	})
	e, ok := Conn(conn).(*socket)
	if !ok {
		t.Skip("one processor")
	}
	return e, other
}

// TestEager: an eager socket gives what comes at once and what comes late, and ends as others do.
func TestEager(t *testing.T) {
	e, other := eagerPair(t, "tcp")
	b := make([]byte, 3)
	send := func(text string) {
		_, err := io.WriteString(other, text)
		require.NoError(t, err)
	}
	take := func(want string) {
		t.Helper()
		_, err := io.ReadFull(e, b[:len(want)])
		require.NoError(t, err)
		require.Equal(t, want, string(b[:len(want)]))
	}
	send("abcde")
	take("abc")
	take("de")
	late := time.AfterFunc(5*time.Millisecond, func() { send("fgh") })
	defer late.Stop()
	take("fgh")

	require.NoError(t, e.SetReadDeadline(time.Now().Add(5*time.Millisecond)))
	_, err := e.Read(b)
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	require.NoError(t, e.SetReadDeadline(time.Time{}))
	send("i")
	take("i")
	require.NoError(t, other.Close())
	_, err = e.Read(b)
	require.ErrorIs(t, err, io.EOF)

	e, other = eagerPair(t, "tcp")
	closing := time.AfterFunc(5*time.Millisecond, func() { e.Close() })
	defer closing.Stop()
	_, err = e.Read(b)
	require.ErrorIs(t, err, net.ErrClosed)

	e, other = eagerPair(t, "tcp")
	require.NoError(t, other.(*net.TCPConn).SetLinger(0)) // its end is a reset
	require.NoError(t, other.Close())
	_, err = e.Read(b)
	var network net.Error
	require.ErrorAs(t, err, &network, "a reset is known as the end of a connection")
}

// TestEagerLooksSeldomInVain: for whom steps rarely, few Reads look, until one has something to take.
func TestEagerLooksSeldomInVain(t *testing.T) {
	e, other := eagerPair(t, "unix")
	b := make([]byte, 1)
	for _, asleep := range []int{1, 3, 7, 15, 31, 63, 127, 255, 511, mostAsleep, mostAsleep} {
		require.NoError(t, e.raw.Control(func(fd uintptr) {
			e.into, e.look = b, true
			require.False(t, e.read(fd))
			require.False(t, e.look, "once awake again it does not look")
		}))
		require.Equal(t, asleep, e.asleep)
	}
	for left := mostAsleep; left > 0; left-- {
		_, err := other.Write(b)
		require.NoError(t, err)
		_, err = e.Read(b)
		require.NoError(t, err)
		require.Equal(t, left-1, e.asleep)
		require.Equal(t, mostAsleep, e.last)
	}
	_, err := other.Write(b)
	require.NoError(t, err)
	_, err = e.Read(b) // looks
	require.NoError(t, err)
	require.Zero(t, e.last)
}
