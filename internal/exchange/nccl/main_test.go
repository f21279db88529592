package nccl_test

import (
	"fmt"
	"os"
	"testing"

	"burst/internal/cuda/cudatest"
)

// member is set in the processes that mpirun starts; it says what they do.
const member = "BURST_NCCL_TEST"

func TestMain(m *testing.M) {
	if what := os.Getenv(member); what != "" {
		if err := members[what](); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	cudatest.Verify(m)
}
