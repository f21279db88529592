package main

import (
	"fmt"
	"os"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// TestTerminal: of a terminal the width is known, and follows it; one that says dumb is none.
func TestTerminal(t *testing.T) {
	control, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	require.NoError(t, err)
	defer control.Close()
	ask := func(what uintptr, about unsafe.Pointer) {
		_, _, e := syscall.Syscall(syscall.SYS_IOCTL, control.Fd(), what, uintptr(about))
		require.Zero(t, e)
	}
	var locked, number uint32
	ask(syscall.TIOCSPTLCK, unsafe.Pointer(&locked))
	ask(syscall.TIOCGPTN, unsafe.Pointer(&number))
	other, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	defer other.Close()

	t.Setenv("TERM", "xterm")
	columns := terminal(&output{Writer: other}) // as results go there
	for _, want := range []uint16{40, 132} {
		size := [4]uint16{24, want}
		ask(syscall.TIOCSWINSZ, unsafe.Pointer(&size))
		require.EqualValues(t, want, columns())
	}
	size := [4]uint16{}
	ask(syscall.TIOCSWINSZ, unsafe.Pointer(&size))
	require.Equal(t, 80, columns(), "of one that does not tell")
	t.Setenv("TERM", "dumb")
	require.Nil(t, terminal(other))
}
