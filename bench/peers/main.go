// Command peers runs one network, burst-100k unless an argument names another lif benchmark, on burst's cpu backend, on a
// plain Go loop in one thread (not of networks that learn, such as learning-100k) and on Brian2's cpp_standalone; round by
// round in one run, so that all see the same machine. It prints JSON. Spikes a burst must agree within noise: all run the
// same wiring from the same state, but Brian2 computes in double precision, without delay.
package main

import (
	"bytes"
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"burst/backend"
	"burst/bench"
	"burst/connectome"
	"burst/engine"
)

//go:embed brian.py
var brian []byte

// result is one peer's best round.
type result struct {
	Peer    string  `json:"peer"`
	Threads int     `json:"threads"`
	Micros  float64 `json:"us"` // a burst, the mean of a round
	Spikes  float64 `json:"spikes"`
}

// run measures bursts after warm ones.
type run func(c *connectome.Connectome, warm, bursts int) (result, error)

func main() {
	rounds := flag.Int("rounds", 10, "rounds; each peer's best counts")
	bursts := flag.Int("bursts", 300, "bursts of a round")
	python := flag.String("python", "/usr/bin/python3", "interpreter that has brian2")
	flag.Parse()
	name := "burst-100k"
	if flag.NArg() > 0 {
		name = flag.Arg(0)
	}
	if err := compare(name, *python, *rounds, *bursts); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func compare(name, python string, rounds, bursts int) error {
	c, err := bench.Build(bench.Workload{Name: name}, 0)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "peers")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := export(c, dir); err != nil {
		return err
	}
	peers := []run{ours(1), ours(2), inBrian(python, dir, 1), inBrian(python, dir, 2)}
	if len(c.Plastic) == 0 {
		peers = append(peers, naive)
	}
	best := make([]result, len(peers))
	for range rounds {
		for i, peer := range peers {
			r, err := peer(c, 200, bursts)
			if err != nil {
				return err
			}
			if best[i].Peer == "" || r.Micros < best[i].Micros {
				best[i] = r
			}
		}
	}
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", "  ")
	return out.Encode(map[string]any{"network": name, "rounds": rounds, "bursts": bursts, "peers": best})
}

// group is a run of the exported synapses that Brian2 takes as one: all static ones, or plastic ones of the same bounds.
type group struct {
	First    int     `json:"first"`
	Synapses int     `json:"synapses"`
	Plastic  bool    `json:"plastic"`
	Low      float32 `json:"low"` // mV
	High     float32 `json:"high"`
}

// export writes the wiring and the state before burst 0 as little-endian arrays.
func export(c *connectome.Connectome, dir string) error {
	var source, target []uint32
	var weight []float32
	rows := func(first uint32, row []uint64, to []uint32, quanta func(k uint64) int32) {
		for n := range len(row) - 1 {
			for k := row[n]; k < row[n+1]; k++ {
				source, target, weight = append(source, first+uint32(n)), append(target, to[k]), append(weight, float32(quanta(k))/float32(c.Scale))
			}
		}
	}
	rows(0, c.Row, c.Target, func(k uint64) int32 { return c.Weight[k] })
	groups := []group{{Synapses: len(source)}}
	for i := range c.Plastic {
		p := &c.Plastic[i]
		if g := groups[len(groups)-1]; !g.Plastic || g.Low != p.Lo || g.High != p.Hi {
			groups = append(groups, group{First: len(source), Plastic: true, Low: p.Lo, High: p.Hi})
		}
		rows(p.From.First, p.Row, p.Target, p.First)
		g := &groups[len(groups)-1]
		g.Synapses = len(source) - g.First
	}
	if groups[0].Synapses == 0 {
		groups = groups[1:]
	}
	for name, data := range map[string]any{"source": source, "target": target, "weight": weight, "v": engine.NewState(c).V} {
		var b bytes.Buffer
		if err := binary.Write(&b, binary.LittleEndian, data); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o600); err != nil {
			return err
		}
	}
	list, err := json.Marshal(groups)
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(filepath.Join(dir, "groups"), list, 0o600), os.WriteFile(filepath.Join(dir, "brian.py"), brian, 0o600))
}

func ours(threads int) run {
	return func(c *connectome.Connectome, warm, bursts int) (result, error) {
		b, err := backend.Open("cpu", c, backend.Options{Threads: threads})
		if err != nil {
			return result{}, err
		}
		defer b.Close()
		var out engine.Burst
		var start time.Time
		spikes := 0
		for t := range warm + bursts {
			if t == warm {
				start, spikes = time.Now(), 0
			}
			if err := b.Step(nil, &out); err != nil {
				return result{}, err
			}
			spikes += len(out.Fired)
		}
		return mean("burst", threads, start, spikes, bursts), nil
	}
}

func mean(peer string, threads int, start time.Time, spikes, bursts int) result {
	return result{peer, threads, float64(time.Since(start).Nanoseconds()) / 1e3 / float64(bursts), float64(spikes) / float64(bursts)}
}

// naive is what one would write first: lif neurons in floats, a list of targets a neuron.
func naive(c *connectome.Connectome, warm, bursts int) (result, error) {
	v, input, left := engine.NewState(c).V, make([]float32, c.Neurons), make([]int, c.Neurons)
	weight := make([]float32, len(c.Weight))
	for k, w := range c.Weight {
		weight[k] = float32(w) / float32(c.Scale)
	}
	k, drive := make([]float32, len(c.Areas[0].Constants)), c.Areas[0].Term(0)
	c.Areas[0].Load(0, k)
	em1, threshold, reset, refractory := k[0], k[1], k[2], int(k[3])
	var fired []uint32
	var start time.Time
	spikes := 0
	for t := range warm + bursts {
		if t == warm {
			start, spikes = time.Now(), 0
		}
		for _, n := range fired {
			for s := c.Row[n]; s < c.Row[n+1]; s++ {
				input[c.Target[s]] += weight[s]
			}
		}
		fired = fired[:0]
		for n := range v {
			if left[n] > 0 {
				left[n]--
			} else if v[n] += em1*v[n] + drive + input[n]; v[n] >= threshold {
				v[n], left[n] = reset, refractory
				fired = append(fired, uint32(n))
			}
			input[n] = 0
		}
		spikes += len(fired)
	}
	return mean("naive Go loop", 1, start, spikes, bursts), nil
}

// inBrian runs the exported wiring; Brian2 is Debian's python3-brian. The first round compiles it.
func inBrian(python, dir string, threads int) run {
	r := result{Peer: "Brian2 cpp_standalone", Threads: threads}
	project := filepath.Join(dir, fmt.Sprint("brian", threads))
	compiled := false
	return func(c *connectome.Connectome, warm, bursts int) (result, error) {
		cmd := exec.Command("./main")
		cmd.Dir = project
		if !compiled {
			cmd = exec.Command(python, filepath.Join(dir, "brian.py"), project)
			for _, n := range []int{int(c.Neurons), threads, warm, bursts} {
				cmd.Args = append(cmd.Args, strconv.Itoa(n))
			}
		}
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			return result{}, fmt.Errorf("Brian2 (Debian's python3-brian): %w", err)
		}
		if !compiled {
			compiled = true
			if err := json.Unmarshal(out[bytes.LastIndexByte(out, '{'):], &r); err != nil {
				return result{}, err
			}
		}
		took, err := os.ReadFile(filepath.Join(project, "results", "last_run_info.txt"))
		if err != nil {
			return result{}, err
		}
		seconds, err := strconv.ParseFloat(strings.Fields(string(took))[0], 64) // of the last run only, that without warm steps
		r.Micros = seconds * 1e6 / float64(bursts)
		return r, err
	}
}
