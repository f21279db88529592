package nccl_test

import (
	"os"
	"testing"

	"burst/backend/cuda/cudatest"
)

func TestMain(m *testing.M) { os.Exit(cudatest.Main(m)) }
