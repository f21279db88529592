package arrowframe

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	flatbuffers "github.com/google/flatbuffers/go"
	"github.com/stretchr/testify/require"
)

// streamOf is a stream of a schema and no batches.
func streamOf(t *testing.T, s *arrow.Schema) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, ipc.NewWriter(&b, ipc.WithSchema(s)).Close())
	return b.Bytes()
}

func check(b []byte) (int64, error) { return Stream(bytes.NewReader(b), int64(len(b)), true) }

// A stream ends at its mark, whatever follows; without a mark it ends with its bytes.
func TestEnds(t *testing.T) {
	zoned := &arrow.TimestampType{Unit: arrow.Second, TimeZone: "Europe/Zurich"}
	md := arrow.NewMetadata([]string{"unit"}, []string{"mV"})
	whole := streamOf(t, arrow.NewSchema([]arrow.Field{{Name: "a", Type: zoned}, {Name: "b", Type: arrow.ListOf(arrow.PrimitiveTypes.Int8)}}, &md))
	end, err := check(append(bytes.Clone(whole), "a footer"...))
	require.NoError(t, err)
	require.EqualValues(t, len(whole), end)
	end, err = check(whole[:len(whole)-8])
	require.NoError(t, err)
	require.EqualValues(t, len(whole)-8, end)
	for n := range len(whole) - 8 {
		if _, err = check(whole[:n]); n > 0 {
			require.Error(t, err, n)
		}
	}
}

// Columns inside each other without end would overflow the stack of Arrow's reader.
func TestDeepColumns(t *testing.T) {
	for depth, fits := range map[int]bool{60: true, 80: false, 5000: false} {
		var deep arrow.DataType = arrow.PrimitiveTypes.Int8
		for range depth {
			deep = arrow.ListOf(deep)
		}
		_, err := check(streamOf(t, arrow.NewSchema([]arrow.Field{{Name: "a", Type: deep}}, nil)))
		require.Equal(t, fits, err == nil, "%d: %v", depth, err)
	}
}

// Many entries that all point to one long text are refused: Arrow's reader copies it for each.
func TestSharedText(t *testing.T) {
	for entries, fits := range map[int]bool{10: true, 100: false} {
		b := flatbuffers.NewBuilder(0)
		text := b.CreateString(strings.Repeat("x", 100_000))
		b.StartObject(2)
		b.PrependUOffsetTSlot(pairKey, text, 0)
		pair := b.EndObject()
		b.StartVector(4, entries, 4)
		for range entries {
			b.PrependUOffsetT(pair)
		}
		pairs := b.EndVector(entries)
		b.StartObject(4)
		schema := b.EndObject()
		b.StartObject(5)
		b.PrependByteSlot(messageKind, kindSchema, 0)
		b.PrependUOffsetTSlot(messageHeader, schema, 0)
		b.PrependUOffsetTSlot(messageMetadata, pairs, 0)
		b.Finish(b.EndObject())
		meta := b.FinishedBytes()
		prefix := binary.LittleEndian.AppendUint32([]byte{0xff, 0xff, 0xff, 0xff}, uint32(len(meta)))
		_, err := check(append(prefix, meta...))
		require.Equal(t, fits, err == nil, "%d: %v", entries, err)
	}
}

// A batch that claims more buffers of a column of texts than it has is refused: the reader makes a list that long.
func TestViews(t *testing.T) {
	for views, fits := range map[uint64]bool{0: true, 1: true, 2: false, 1 << 40: false} {
		b := flatbuffers.NewBuilder(0)
		b.StartVector(8, 1, 8)
		b.PrependUint64(views)
		counts := b.EndVector(1)
		b.StartVector(16, 1, 8)
		b.PrependUint64(0)
		b.PrependUint64(0)
		buffers := b.EndVector(1)
		b.StartObject(5)
		b.PrependUOffsetTSlot(batchBuffers, buffers, 0)
		b.PrependUOffsetTSlot(batchViews, counts, 0)
		batch := b.EndObject()
		b.StartObject(5)
		b.PrependByteSlot(messageKind, kindBatch, 0)
		b.PrependUOffsetTSlot(messageHeader, batch, 0)
		b.Finish(b.EndObject())
		meta := b.FinishedBytes()
		prefix := binary.LittleEndian.AppendUint32([]byte{0xff, 0xff, 0xff, 0xff}, uint32(len(meta)))
		_, err := check(append(prefix, meta...))
		require.Equal(t, fits, err == nil, "%d: %v", views, err)
	}
}
