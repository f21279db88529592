package serve

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAnotherUser: a process of another user is refused, also one of root.
func TestAnotherUser(t *testing.T) {
	require.EqualError(t, checkUser(0, 1), "a process of user 0 came to the socket, which is for user 1 alone")
	require.NoError(t, checkUser(7, 7))
}
