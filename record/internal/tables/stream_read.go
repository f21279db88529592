package tables

import (
	"bytes"
	"encoding/binary"
	"io"
	"iter"
	"runtime"

	"github.com/apache/arrow-go/v18/arrow/ipc"

	"burst/internal/regular"
	"burst/record/manifest"
)

// ReadStream reads the chunks of a stream that are on disk now; base is the path without its ending. Some goroutines read ahead.
func ReadStream(base string, t Table, m *manifest.Manifest) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		in, err := openStream(base)
		if err == nil && in != nil {
			defer in.close()
			r := chunks{opened: in, table: t, manifest: m}
			defer r.wait()
			err = r.each(yield)
		}
		if err != nil {
			yield(Chunk{}, err)
		}
	}
}

const (
	mostReaders = 4        // as many chunks are read at a time
	mostAhead   = 16 << 20 // bytes that chunks may have for another one to be read beside them
)

// chunks reads chunks, several at a time, and gives them out in order.
type chunks struct {
	*opened
	table    Table
	manifest *manifest.Manifest
	head     []byte // the message that says the schema, with which the first chunk begins
	ahead    []*ahead
	free     []*ahead // given out, for their memory
}

// ahead is a chunk that is being read.
type ahead struct {
	mark   Mark
	bytes  []byte
	chunk  Chunk
	reader *ipc.Reader   // whose memory chunk is
	done   chan struct{} // closed when it has been read, or err says why not
	err    error
}

func (r *chunks) each(yield func(Chunk, error) bool) error {
	size := 8 + int(binary.LittleEndian.Uint32(r.rest[4:])) // of a message without a body, whose frame has been checked
	r.head = bytes.Clone(r.rest[:size])
	r.begin(&ahead{mark: r.mark, bytes: r.rest[size:]})
	var end error
	for {
		for end == nil && r.room() {
			var m Mark
			if m, end = r.marks.Read(); end == nil {
				a := new(ahead)
				if n := len(r.free); n > 0 {
					a, r.free = r.free[n-1], r.free[:n-1]
				}
				a.mark = m
				r.begin(a)
			}
		}
		if len(r.ahead) == 0 {
			break
		}
		a := r.ahead[0]
		r.ahead = r.ahead[1:]
		<-a.done
		if a.err != nil {
			return a.err
		}
		if !yield(a.chunk, nil) {
			return nil
		}
		a.reader.Release()
		r.free = append(r.free, a)
	}
	if end != io.EOF {
		return AsDamage(r.path, end)
	}
	return nil
}

// room says that another chunk may be read.
func (r *chunks) room() bool {
	bytes := int64(0)
	for _, a := range r.ahead {
		bytes += a.mark.Bytes
	}
	return len(r.ahead) == 0 || len(r.ahead) < min(mostReaders, runtime.GOMAXPROCS(0)) && bytes < mostAhead
}

// begin begins to read a chunk; the first one is there.
func (r *chunks) begin(a *ahead) {
	a.done = make(chan struct{})
	r.ahead = append(r.ahead, a)
	there := a.mark.Offset == 0
	go func() {
		defer close(a.done)
		a.err = r.read(a, there)
	}()
}

func (r *chunks) read(a *ahead, there bool) (err error) {
	if !there {
		if a.bytes, err = r.fetch(a.mark, a.bytes); err != nil {
			return err
		}
	}
	rest := bytes.NewReader(a.bytes)
	in, err := ipc.NewReader(io.MultiReader(bytes.NewReader(r.head), rest), ipc.WithBodySizeLimit(0))
	if err != nil {
		return AsDamage(r.path, err)
	}
	a.reader = in
	read := a.chunk.expand
	if _, found := in.Schema().FieldsByName("area"); found {
		read = a.chunk.view // format 1: a row a spike
	}
	switch next := in.Next(); {
	case in.Err() != nil:
		return AsDamage(r.path, in.Err())
	case !next || rest.Len() > 0:
		return regular.Damaged(r.path, "the chunk at offset %d has not one batch of rows", a.mark.Offset)
	}
	err = read(in.RecordBatch())
	if err == nil {
		err = a.chunk.locate(r.table, r.manifest)
	}
	if err == nil {
		err = a.mark.fits(&a.chunk)
	}
	if err != nil {
		return regular.Damaged(r.path, "%v", err)
	}
	return nil
}

// wait waits for the goroutines that read.
func (r *chunks) wait() {
	for _, a := range r.ahead {
		<-a.done
	}
}
