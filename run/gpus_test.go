package run

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSeeFirst: of several GPUs the driver is to start the first that the user leaves it; of one it starts what it would.
func TestSeeFirst(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	for _, name := range []string{filepath.Join(one, "0000:01:00.0"), filepath.Join(two, "0000:01:00.0"), filepath.Join(two, "0000:02:00.0")} {
		require.NoError(t, os.Mkdir(name, 0o755))
	}
	for _, c := range []struct{ folder, before, after string }{
		{two, "-", "0"}, {two, "3,1", "3"}, {two, "1", "1"}, {two, "", ""}, {two, "GPU-5a,GPU-7", "GPU-5a"},
		{one, "-", "-"}, {one, "1,0", "1,0"}, {filepath.Join(one, "none"), "-", "-"},
	} {
		const visible = "CUDA_VISIBLE_DEVICES"
		t.Setenv(visible, c.before) // is put back
		if c.before == "-" {
			require.NoError(t, os.Unsetenv(visible))
		}
		seeFirst(c.folder)
		after, set := os.LookupEnv(visible)
		if !set {
			after = "-"
		}
		require.Equal(t, c.after, after, "%+v", c)
	}
}
