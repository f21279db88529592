package arrowframe

import (
	"sync"

	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/klauspost/compress/zstd"
)

// boundedZstd unpacks no more than the page's header says. The library's own codec believes the frame in the page, which may claim
// gigabytes.
type boundedZstd struct {
	compress.Codec
	compress.StreamingCodec
	decoder func() *zstd.Decoder // made by the first page
}

func (z boundedZstd) DecodeWithError(dst, src []byte) ([]byte, error) {
	return z.decoder().DecodeAll(src, dst[:0])
}

func (z boundedZstd) Decode(dst, src []byte) []byte {
	dst, err := z.DecodeWithError(dst, src)
	if err != nil {
		panic(err) // as the library's own does
	}
	return dst
}

// init is where the library wants codecs to be registered.
func init() {
	own, err := compress.GetCodec(compress.Codecs.Zstd)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	decoder := sync.OnceValue(func() *zstd.Decoder {
		d, err := zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			panic("BUG: " + err.Error())
		}
		return d
	})
	compress.RegisterCodec(compress.Codecs.Zstd, boundedZstd{own, own.(compress.StreamingCodec), decoder})
}
