package nccl_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"burst/internal/clib"
	"burst/internal/cuda/driver"
	"burst/internal/exchange"
	"burst/internal/exchange/mpi"
	"burst/internal/exchange/nccl"
	"burst/internal/exchange/nccl/nccltest"
	"burst/internal/slow"
)

var members = map[string]func() error{"gather": gatherMember, "fallback": fallbackMember, "killed": killedMember, "bench": benchMember}

// run starts processes of this test by mpirun and gives what they print.
func run(t testing.TB, processes int, what string, options ...string) (string, error) {
	t.Helper()
	slow.Short(t)
	path, err := exec.LookPath("mpirun.openmpi")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%v; the checks install openmpi-bin", err)
		}
		t.Skipf("SKIPPED: %v; install openmpi-bin to run this", err)
	}
	args := append([]string{"--allow-run-as-root", "--oversubscribe"}, options...)
	cmd := exec.Command(path, append(args, "-n", fmt.Sprint(processes), os.Args[0])...)
	cmd.Env = append(os.Environ(), member+"="+what)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// connect joins this process with those that mpirun has started; device by rank.
func connect() (*nccl.Exchange, *mpi.World, error) {
	w, err := mpi.Connect()
	if err != nil {
		return nil, nil, err
	}
	if err := devices(w.Part().Of); err != nil {
		return nil, nil, err
	}
	x, err := nccl.Connect(w, w.Part().Index)
	return x, w, err
}

// gatherMember gathers words that all can foretell.
func gatherMember() error {
	x, _, err := connect()
	if err != nil {
		return err
	}
	if err := closes(x, 700); err != nil {
		return err
	}
	fmt.Printf("gathered as part %d of %d\n", x.Part().Index, x.Part().Of)
	return nil
}

// fallbackMember cannot have NCCL and goes on with MPI.
func fallbackMember() error {
	_, w, err := connect()
	if !errors.Is(err, nccl.ErrUnavailable) {
		return fmt.Errorf("%v, want nccl.ErrUnavailable", err)
	}
	fmt.Println(err)
	return closes(w, 80)
}

// devices sets how many devices a process has on the stand-in.
func devices(n int) error {
	if os.Getenv(driver.LibraryVariable) == "" {
		return nil // real ones
	}
	d, err := driver.Open("")
	if err != nil {
		return err
	}
	key := []byte("devices\x00")
	return d.Call("hostControl", clib.Ptr(&key[0]), clib.Int(n))
}

const victim = 1

// killedMember kills one of the processes in the middle; the others say what they hear of it.
func killedMember() error {
	x, _, err := connect()
	if err != nil {
		return err
	}
	for turn := 0; ; turn++ {
		if turn == 100 && x.Part().Index == victim {
			self, err := os.FindProcess(os.Getpid())
			if err != nil {
				return err
			}
			return self.Signal(os.Kill)
		}
		began := time.Now()
		if _, err := x.Allgather(make([]uint32, turn)); err != nil {
			var p *exchange.PartError
			fmt.Printf("turn %d: another part's failure: %v\nheard after %v\n", turn, errors.As(err, &p), time.Since(began).Round(time.Millisecond))
			os.Exit(0) // MPI would wait for the dead
		}
	}
}

func TestProcesses(t *testing.T) {
	for _, processes := range []int{3, 2}[:slow.Times(1, 2)] {
		nccltest.Host(t, 1) // each process sets its own
		out, err := run(t, processes, "gather")
		require.NoError(t, err, out)
		for i := range processes {
			require.Contains(t, out, fmt.Sprintf("gathered as part %d of %d\n", i, processes))
		}
	}
}

func TestProcessesWithoutNCCL(t *testing.T) {
	nccltest.Host(t, 1)
	t.Setenv("HOST_NCCL_fail_init", fmt.Sprint(1<<8|2))
	out, err := run(t, 3, "fallback")
	require.NoError(t, err, out)
	require.Equal(t, 3, strings.Count(out, "NCCL is not available: "), out)
}

// TestKilledProcess kills one of three processes: mpirun ends the others; told to let them live, they hear of it by NCCL.
func TestKilledProcess(t *testing.T) {
	nccltest.Host(t, 1)
	out, err := run(t, 3, "killed")
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit, out)
	require.Equal(t, 128+int(syscall.SIGKILL), exit.ExitCode(), out)
	out, _ = run(t, 3, "killed", "--enable-recovery")
	require.Equal(t, 2, strings.Count(out, "turn 100: another part's failure: true\n"), out)
	t.Log(strings.ReplaceAll(out, "\n", "; "))
}
