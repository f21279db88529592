package arrowframe

import (
	"runtime"
	"testing"

	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/stretchr/testify/require"
)

// TestZstdPages: a page is unpacked into the room that its header asks for, and a frame that claims two gigabytes takes none.
func TestZstdPages(t *testing.T) {
	codec, err := compress.GetCodec(compress.Codecs.Zstd)
	require.NoError(t, err)
	page := []byte("a page of a recording")
	packed := codec.Encode(nil, page)
	got, err := compress.Decode(codec, make([]byte, len(page)), packed)
	require.NoError(t, err)
	require.Equal(t, page, got)
	_, err = compress.Decode(codec, make([]byte, len(page)-1), packed)
	require.Error(t, err)

	false2G := []byte{0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0, 0x80, 0, 0, 0, 0, 1, 0, 0} // header with its size, an empty last block
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = compress.Decode(codec, make([]byte, 100), false2G)
	require.Error(t, err)
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))
}
