package genomes

import (
	"bytes"
	"compress/flate"
	"errors"
	"flag"
	"io"
	"io/fs"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write packed files")

// TestPacked: a file that the program has deflated is the one in the folder.
func TestPacked(t *testing.T) {
	const name = "c-elegans.csv"
	want, err := os.ReadFile(name)
	require.NoError(t, err)
	if *update {
		var small bytes.Buffer
		w, err := flate.NewWriter(&small, flate.BestCompression)
		require.NoError(t, err)
		_, err = w.Write(want)
		require.NoError(t, errors.Join(err, w.Close()))
		require.NoError(t, os.WriteFile(name+packedEnding, small.Bytes(), 0o666))
		return
	}
	r, err := Open(name)
	require.NoError(t, err)
	got, err := io.ReadAll(r)
	require.NoError(t, errors.Join(err, r.Close()))
	require.Equal(t, string(want), string(got), "run go generate ./genomes")
	_, err = Open("nothing.csv")
	require.ErrorIs(t, err, fs.ErrNotExist)
}
