package live_test

import (
	"testing"

	"burst/checkpoint"
	"burst/record/runfolder"

	"github.com/stretchr/testify/require"
)

func diskOf() checkpoint.Disk { return checkpoint.OS{} }

func openFolder(t testing.TB, dir string) *runfolder.Folder {
	t.Helper()
	f, err := runfolder.Open(dir)
	require.NoError(t, err)
	return f
}
