package nccl_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"burst/internal/exchange"
	"burst/internal/exchange/mpi"
	"burst/internal/exchange/nccl"
)

// benchmark is set for the members of a benchmark: the exchange, the words that each part gives, and how many gathers.
const benchmark = "BURST_NCCL_BENCHMARK"

const rounds = 2000

// benchMember times gathers after some that nobody counts.
func benchMember() error {
	var name string
	var words int
	if _, err := fmt.Sscan(os.Getenv(benchmark), &name, &words); err != nil {
		return err
	}
	var x exchange.Exchange
	w, err := mpi.Connect()
	if x = w; err == nil && name == "nccl" {
		x, err = nccl.Connect(w, w.Part().Index)
	}
	if err != nil {
		return err
	}
	took, err := timed(x, words)
	if x.Part().Index == 0 {
		fmt.Printf("each took %d ns\n", took.Nanoseconds()/rounds)
	}
	return errors.Join(err, x.Close())
}

// timed is how long rounds take.
func timed(x exchange.Exchange, words int) (time.Duration, error) {
	own := make([]uint32, words)
	var began time.Time
	for i := range rounds + 200 {
		if i == 200 {
			began = time.Now()
		}
		if _, err := x.Allgather(own); err != nil {
			return 0, err
		}
	}
	return time.Since(began), nil
}

// BenchmarkAllgather times gathers of what each part gives, among the machine's GPUs: through NCCL between goroutines, and
// through NCCL and MPI between processes, where there is an mpirun.
func BenchmarkAllgather(b *testing.B) {
	parts := realDevices(b)
	for _, bytes := range []int{64, 40 << 10, 160 << 10, 1 << 20} {
		b.Run(fmt.Sprintf("nccl-goroutines/%d", bytes), func(b *testing.B) {
			for b.Loop() {
				var took time.Duration
				faults := onParts(parts, func(x *nccl.Exchange) error {
					own, err := timed(x, bytes/4)
					if x.Part().Index == 0 {
						took = own
					}
					return errors.Join(err, x.Close())
				})
				require.NoError(b, errors.Join(faults...))
				b.ReportMetric(float64(took.Nanoseconds())/rounds, "ns/gather")
			}
		})
		for _, name := range []string{"nccl", "mpi"} {
			b.Run(fmt.Sprintf("%s/%d", name, bytes), func(b *testing.B) {
				for b.Loop() {
					b.Setenv(benchmark, fmt.Sprintf("%s %d", name, bytes/4))
					out, err := run(b, parts, "bench", "--bind-to", "none")
					require.NoError(b, err, out)
					_, text, _ := strings.Cut(out, "each took ")
					var ns float64
					_, err = fmt.Sscan(text, &ns)
					require.NoError(b, err, out)
					b.ReportMetric(ns, "ns/gather")
				}
			})
		}
	}
}
