package mpi

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"burst/internal/exchange"
	"burst/internal/slow"
)

// member is set in the processes that mpirun starts; it says what they do.
const member = "BURST_MPI_TEST"

func TestMain(m *testing.M) {
	if what := os.Getenv(member); what != "" {
		if err := members[what](); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

var members = map[string]func() error{"gather": gatherMember, "host": hostMember, "panic": panicMember, "abort": abortMember, "leave": leaveMember}

// run starts processes of this test by mpirun and gives what they print.
func run(t *testing.T, launcher string, processes int, what string) (string, error) {
	t.Helper()
	slow.Short(t)
	path, err := exec.LookPath(launcher)
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%v; the checks install openmpi-bin and mpich", err)
		}
		t.Skipf("%v; install openmpi-bin and mpich to run this", err)
	}
	args := []string{"-n", fmt.Sprint(processes), os.Args[0]}
	if launcher == "mpirun.openmpi" {
		args = append([]string{"--allow-run-as-root", "--oversubscribe"}, args...)
	}
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), member+"="+what)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

var launchers = []string{"mpirun.openmpi", "mpirun.mpich"}

// lengths of what a part gives in a turn: none, few, what just fits in a message and what just does not, and much, for
// which messages grow and shrink again.
func lengths(turn, part, parts int) int {
	r := rand.New(rand.NewPCG(uint64(turn), uint64(part)))
	switch {
	case turn < 20:
		return turn % 3
	case turn < 40:
		return exchange.Shortest - 2 + r.IntN(3)
	case turn < 60:
		return r.IntN(1000)
	case turn == 60:
		return part * 123_457
	case turn == 61:
		return exchange.Longest
	case turn < 300:
		return r.IntN(5)
	}
	return r.IntN(1 << r.IntN(16))
}

// gatherMember gathers words that all can foretell.
func gatherMember() error {
	x, err := Connect()
	if err != nil {
		return err
	}
	p := x.Part()
	content := func(turn, part int) []uint32 {
		words := make([]uint32, lengths(turn, part, p.Of))
		for i := range words {
			words[i] = uint32(turn)<<24 ^ uint32(part)<<20 ^ uint32(i)*2654435761
		}
		return words
	}
	for turn := range 400 {
		own := content(turn, p.Index)
		all, err := x.Allgather(own)
		clear(own) // ours again
		if err != nil {
			return err
		}
		for i := range p.Of {
			if !slices.Equal(all[i], content(turn, i)) {
				return fmt.Errorf("part %d, turn %d: %d words of part %d are not the %d it gave", p.Index, turn, len(all[i]), i, lengths(turn, i, p.Of))
			}
		}
	}
	sum, err := exchange.Sum(x, 1<<63+uint64(p.Index))
	if want := uint64(p.Of)<<63 + uint64(p.Of*(p.Of-1)/2); err != nil || sum != want {
		return fmt.Errorf("sum %x, %v, want %x", sum, err, want)
	}
	if p.Index == 0 {
		fmt.Printf("gathered by %d\n", p.Of)
	}
	return x.Close()
}

// hostMember says which parts are on its host.
func hostMember() error {
	x, err := Connect()
	if err != nil {
		return err
	}
	if _, err := x.Allgather(nil); err != nil { // the processes of all hosts still do
		return err
	}
	fmt.Printf("part %d is among %v\n", x.Part().Index, x.Host())
	return x.Close()
}

// panicMember shows that Go still sees its own faults once a library is loaded that handles signals.
func panicMember() error {
	x, err := Connect()
	if err != nil {
		return err
	}
	recovered := func() (was any) {
		defer func() { was = recover() }()
		var p *int
		return *p
	}()
	if _, ok := recovered.(error); !ok {
		return fmt.Errorf("recovered %v, want the fault of a nil pointer", recovered)
	}
	return x.Close()
}

// abortMember ends all while one waits.
func abortMember() error {
	x, err := Connect()
	if err != nil {
		return err
	}
	if x.Part().Index == 1 {
		x.Abort(errors.New("enough"))
	}
	_, err = x.Allgather(nil)
	return fmt.Errorf("gathered after the end: %v", err)
}

// leaveMember leaves part after part, two of them with a cause, while the others look; gathering goes on beside it.
func leaveMember() error {
	x, err := Connect()
	if err != nil {
		return err
	}
	p := x.Part()
	cause := map[int]error{0: errors.New("größer " + strings.Repeat("als ", 300)), 2: errors.New("")}
	for turn := range p.Of {
		if turn == p.Index {
			err = errors.Join(x.Leave(cause[turn]), x.Leave(errors.New("said twice")))
		}
		for err == nil {
			gone, _, wrong := x.Left()
			err = wrong
			if told := len(gone); told == turn+1 || told == turn && p.Index <= turn {
				break // all that have left but this part
			}
		}
		if _, wrong := x.Allgather([]uint32{uint32(turn)}); err != nil || wrong != nil {
			return errors.Join(err, wrong)
		}
	}
	gone, causes, err := x.Left()
	var wantGone []int
	var wantCauses []string
	for i, cause := range []string{cause[0].Error()[:longestText], "", "failed"}[:p.Of] {
		if i != p.Index {
			wantGone, wantCauses = append(wantGone, i), append(wantCauses, cause)
		}
	}
	if err != nil || !slices.Equal(gone, wantGone) || !slices.Equal(causes, wantCauses) {
		return fmt.Errorf("part %d: %v, %q, %v, want %v, %q", p.Index, gone, causes, err, wantGone, wantCauses)
	}
	return x.Close()
}

// Parts that leave tell all others, in whatever order they do so, and why.
func TestLeave(t *testing.T) {
	for launcher, processes := range map[string]int{"mpirun.openmpi": 3, "mpirun.mpich": 2} {
		t.Run(launcher, func(t *testing.T) {
			out, err := run(t, launcher, processes, "leave")
			require.NoError(t, err, out)
		})
	}
}

func TestAllgather(t *testing.T) {
	for _, launcher := range launchers {
		for _, processes := range []int{2, 3} {
			if processes > 2 && launcher == "mpirun.mpich" {
				continue // its processes do not give way to each other where there are fewer processors
			}
			t.Run(fmt.Sprintf("%s/%d", launcher, processes), func(t *testing.T) {
				out, err := run(t, launcher, processes, "gather")
				require.NoError(t, err, out)
				assert.Contains(t, out, fmt.Sprintf("gathered by %d\n", processes))
			})
		}
	}
}

// Parts know which others are on their host. MPICH can be told to take every second process for one of another host.
func TestHost(t *testing.T) {
	for _, c := range []struct {
		launcher  string
		processes int
		env       string
		want      []string // by part
	}{
		{"mpirun.openmpi", 3, "", []string{"[0 1 2]", "[0 1 2]", "[0 1 2]"}},
		{"mpirun.mpich", 2, "", []string{"[0 1]", "[0 1]"}},
		{"mpirun.mpich", 3, "MPIR_CVAR_ODD_EVEN_CLIQUES=1", []string{"[0 2]", "[1]", "[0 2]"}},
	} {
		t.Run(strings.TrimSpace(fmt.Sprint(c.launcher, " ", c.processes, " ", c.env)), func(t *testing.T) {
			if name, value, set := strings.Cut(c.env, "="); set {
				t.Setenv(name, value)
			}
			out, err := run(t, c.launcher, c.processes, "host")
			require.NoError(t, err, out)
			for part, host := range c.want {
				assert.Contains(t, out, fmt.Sprintf("part %d is among %s\n", part, host))
			}
		})
	}
}

func TestGoKeepsItsSignals(t *testing.T) {
	for _, launcher := range launchers {
		t.Run(launcher, func(t *testing.T) {
			out, err := run(t, launcher, 2, "panic")
			require.NoError(t, err, out)
		})
	}
}

func TestAbortEndsAll(t *testing.T) {
	for _, launcher := range launchers {
		t.Run(launcher, func(t *testing.T) {
			out, err := run(t, launcher, 2, "abort")
			var exit *exec.ExitError
			require.ErrorAs(t, err, &exit, out)
			assert.NotContains(t, out, "gathered after the end")
		})
	}
}

func TestLaunched(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want int
	}{
		{nil, 1},
		{map[string]string{"OMPI_COMM_WORLD_SIZE": "4"}, 4},
		{map[string]string{"PMI_SIZE": "3"}, 3},
		{map[string]string{"PMI_SIZE": "some"}, 1},
		{map[string]string{"SLURM_NTASKS": "8"}, 1}, // a batch script, not a step
		{map[string]string{"SLURM_NTASKS": "8", "PMIX_RANK": "2"}, 8},
		{map[string]string{"SLURM_NTASKS": "8", "SLURM_STEP_NUM_TASKS": "2", "PMIX_RANK": "0"}, 2},
	} {
		assert.Equal(t, c.want, Launched(func(name string) string { return c.env[name] }), "%v", c.env)
	}
}

func TestNoLibrary(t *testing.T) {
	t.Setenv(Library, "/nowhere/libmpi.so")
	_, err := Connect()
	require.ErrorContains(t, err, "libmpi.so")
	assert.ErrorContains(t, err, "BURST_MPI=/path/to/libmpi.so")
	t.Setenv(Library, "libc.so.6")
	_, err = Connect()
	assert.ErrorContains(t, err, "no function MPI_Init_thread")
	assert.NotContains(t, err.Error(), "nowhere")
}
