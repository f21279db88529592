package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"burst/backend"
	"burst/connectome"
	"burst/engine"
	"burst/genome/feagi"
)

// sheets is a network to time: two areas of width × height voxels. Power reaches all of the first, whose neurons fire with a chance; each
// reaches wide × high voxels around its place in the second, which gathers and never fires, and has as many synapses back.
type sheets struct {
	name          string
	width, height int
	wide, high    int
	chance        float64
}

// networks are those of the guide's table.
func networks() []sheets {
	return []sheets{
		{"sheets-20k", 100, 100, 8, 4, 0.03},
		{"sheets-200k", 313, 320, 9, 5, 0.038},
		{"sheets-200k-busy", 313, 320, 9, 5, 0.35},
		{"sheets-200k-dense", 313, 320, 15, 12, 0.037},
	}
}

// text is the genome as FEAGI writes it.
func (n *sheets) text() ([]byte, error) {
	blueprint := map[string]any{}
	area := func(id, name string, width, height int, to map[string]any, genes map[string]any) {
		all := map[string]any{"cx-__name-t": name, "cx-_group-t": "CUSTOM", "cx-___bbx-i": width, "cx-___bby-i": height, "cx-___bbz-i": 1, "cx-_n_cnt-i": 1, "cx-rcordx-i": 0, "cx-dstmap-d": to}
		for _, genes := range []map[string]any{usual, all, genes} {
			for key, v := range genes {
				blueprint["_____10c-"+id+"-"+key] = v
			}
		}
	}
	rule := func(morphology string) []any { return []any{[]any{morphology, []int{1, 1, 1}, 1, false, 1, 1, 1}} }
	area("___pwr", "power", 1, 1, map[string]any{"cfires": rule("all")}, map[string]any{"cx-_group-t": "CORE"})
	area("cfires", "fires", n.width, n.height, map[string]any{"cgathr": rule("around")}, map[string]any{"nx-mp_acc-b": false, "nx-excite-f": n.chance})
	area("cgathr", "gathers", n.width, n.height, map[string]any{"cfires": rule("around")}, map[string]any{"nx-leak_c-f": 0.1, "nx-fire_t-f": 1e6})
	var around [][3]int
	for x := range n.wide {
		for y := range n.high {
			around = append(around, [3]int{x - n.wide/2, y - n.high/2, 0})
		}
	}
	return json.Marshal(map[string]any{
		"genome_id": n.name, "genome_title": n.name, "genome_description": "", "version": "3.0", "blueprint": blueprint,
		"neuron_morphologies": map[string]any{
			"all": shapes["all"], "around": map[string]any{"type": "vectors", "parameters": map[string]any{"vectors": around}},
		},
		"physiology": map[string]any{"simulation_timestep": 0.025},
		"stats":      map[string]any{"innate_cortical_area_count": 3, "innate_neuron_count": 1 + 2*n.width*n.height, "innate_synapse_count": 0},
	})
}

// writeNetworks writes the networks' genomes into a folder.
func writeNetworks(folder string) error {
	for _, n := range networks() {
		text, err := n.text()
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, n.name+".json"), append(text, '\n'), 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

const speedHeading = "\n| network | neurons | synapses | fire: FEAGI | burst | a burst: FEAGI | (CPU time) | burst | (CPU time) | ratio | GPU |\n" +
	"| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"

// took is how long a burst took: on the clock, and of all processors together, which other programs lengthen less.
type took struct{ clock, cpu time.Duration }

// middle is the median of an odd number of times, by the clock.
func middle(list []took) took {
	slices.SortFunc(list, func(a, b took) int { return cmp.Compare(a.clock, b.clock) })
	return list[len(list)/2]
}

// used is the processor time of a process so far.
func used(pid int) (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	const userTime, tick = 11, 10 * time.Millisecond // behind the name; what Linux counts in
	var user, system int64
	if _, err := fmt.Sscan(fields[userTime]+" "+fields[userTime+1], &user, &system); err != nil {
		return 0, err
	}
	return time.Duration(user+system) * tick, nil
}

// speed times FEAGI and burst on the given genomes and the networks, and writes the table.
func (o *options) speed(paths []string) error {
	gpu, err := o.gpuTimes()
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "feagi-speed")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	if err := writeNetworks(folder); err != nil {
		return err
	}
	for _, n := range networks() {
		paths = append(paths, filepath.Join(folder, n.name+".json"))
	}
	var table strings.Builder
	table.WriteString(speedHeading)
	for _, path := range paths {
		row, err := o.timed(path, gpu)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		fmt.Print(row)
		table.WriteString(row)
	}
	if o.guide == "" {
		return nil
	}
	return o.write("speed", table.String()+"\n")
}

// gpuTimes reads what run.sh has printed on another machine: lines of a network's name and microseconds a burst.
func (o *options) gpuTimes() (map[string]time.Duration, error) {
	times := map[string]time.Duration{}
	if o.gpu == "" {
		return times, nil
	}
	f, err := os.Open(o.gpu)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		var name string
		var micros float64
		if n, _ := fmt.Sscan(s.Text(), &name, &micros); n == 2 {
			times[name] = time.Duration(micros * 1000)
		}
	}
	return times, nil
}

// timed is the row of one genome; each of its times is the median of three rounds.
func (o *options) timed(path string, gpu map[string]time.Duration) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	g, r, err := feagi.Import(path, text, feagi.Options{Dialect: feagi.Dialect(o.dialect)})
	if err != nil {
		return "", err
	}
	theirs, fires, synapses, err := o.timeFEAGI(text, r)
	if err != nil {
		return "", err
	}
	c, err := connectome.Build(g, connectome.Options{})
	if err != nil {
		return "", err
	}
	if uint64(synapses) != c.Synapses() {
		return "", fmt.Errorf("%d synapses in FEAGI, %d in burst", synapses, c.Synapses())
	}
	ours, spikes, err := timeBurst(c, cmp.Or(o.threads, runtime.NumCPU()))
	if err != nil {
		return "", err
	}
	name, device := strings.TrimSuffix(filepath.Base(path), ".json"), "–"
	if d := gpu[name]; d > 0 {
		device = plainTime(d)
	}
	return fmt.Sprintf("| %s | %d | %d | %.0f | %.0f | %s | %s | %s | %s | %.0f | %s |\n",
		name, c.Neurons, c.Synapses(), fires, spikes, plainTime(theirs.clock), plainTime(theirs.cpu), plainTime(ours.clock), plainTime(ours.cpu),
		float64(theirs.clock)/float64(ours.clock), device), nil
}

// plainTime is a time of a burst with three digits.
func plainTime(d time.Duration) string {
	if d < time.Millisecond {
		return fmt.Sprintf("%.3g µs", float64(d)/1e3)
	}
	return fmt.Sprintf("%.3g ms", float64(d)/1e6)
}

// timeFEAGI lets a server of its own run as fast as it can, and then slowly, to see how many neurons fire in a burst.
func (o *options) timeFEAGI(text []byte, r *feagi.Report) (median took, fires float64, synapses int, err error) {
	s, err := start(o.folder)
	if err != nil {
		return took{}, 0, 0, err
	}
	defer s.stop()
	var health struct {
		Synapses int `json:"synapse_count"`
	}
	if err := errors.Join(s.load(text), s.get("system/health_check", &health), s.pace(1e-5), s.post("burst_engine/start", nil, nil)); err != nil {
		return took{}, 0, 0, err
	}
	time.Sleep(time.Second)
	var rounds []took
	for range 3 {
		first, err := s.bursts()
		began := time.Now()
		before, wrong := used(s.cmd.Process.Pid)
		time.Sleep(5 * time.Second)
		last, failed := s.bursts()
		after, worse := used(s.cmd.Process.Pid)
		if err = errors.Join(err, failed, wrong, worse); err != nil {
			return took{}, 0, 0, err
		}
		n := time.Duration(max(1, last-first))
		rounds = append(rounds, took{time.Since(began) / n, (after - before) / n})
	}
	names, err := s.names()
	if err != nil {
		return took{}, 0, 0, err
	}
	var ids []string
	for id, name := range names {
		if slices.ContainsFunc(r.Areas, func(a feagi.AreaReport) bool { return clean(a.Name) == clean(name) }) {
			ids = append(ids, id)
		}
	}
	if err := s.pace(0.2); err != nil {
		return took{}, 0, 0, err
	}
	_, err = s.fired(ids) // from now on the server remembers
	from, failed := s.bursts()
	if err = errors.Join(err, failed); err != nil {
		return took{}, 0, 0, err
	}
	time.Sleep(3 * time.Second)
	fired, err := s.fired(ids)
	if err != nil {
		return took{}, 0, 0, err
	}
	total, bursts := 0, map[int]bool{}
	for _, frames := range fired {
		for burst, voxels := range frames {
			if burst > from+1 {
				total += len(voxels)
				bursts[burst] = true
			}
		}
	}
	return middle(rounds), float64(total) / float64(max(1, len(bursts))), health.Synapses, nil
}

// pace sets the seconds of a burst.
func (s *server) pace(seconds float64) error {
	return s.post("burst_engine/simulation_timestep", map[string]float64{"simulation_timestep": seconds}, nil)
}

// timeBurst runs the cpu backend for about a second a round, without recorders, as FEAGI is timed without visitors.
func timeBurst(c *connectome.Connectome, threads int) (median took, spikes float64, err error) {
	b, err := backend.Open("cpu", c, backend.Options{Threads: threads})
	if err != nil {
		return took{}, 0, err
	}
	defer b.Close()
	e := engine.New(c, b, engine.Options{})
	const warm = 100
	began := time.Now()
	if err := e.Run(context.Background(), warm); err != nil {
		return took{}, 0, err
	}
	n := uint64(max(warm, int64(warm*time.Second/max(1, time.Since(began)))))
	var rounds []took
	for range 3 {
		before, wrong := used(os.Getpid())
		began := time.Now()
		err := e.Run(context.Background(), n)
		clock := time.Since(began)
		after, worse := used(os.Getpid())
		if err := errors.Join(err, wrong, worse); err != nil {
			return took{}, 0, err
		}
		rounds = append(rounds, took{clock / time.Duration(n), (after - before) / time.Duration(n)})
	}
	return middle(rounds), float64(e.Spikes()) / float64(warm+3*n), nil
}
