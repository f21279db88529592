package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// server is a running FEAGI.
type server struct {
	cmd  *exec.Cmd
	base string
	dir  string
	log  *os.File
}

// start runs the server that install.sh put into a folder, on free ports of the loopback.
func start(folder string) (*server, error) {
	program, err := filepath.Abs(filepath.Join(folder, "server", "feagi", "bin", "linux-x86_64", "feagi"))
	if err != nil {
		return nil, err
	}
	command := []string{program}
	if libc, err := filepath.Abs(filepath.Join(folder, "libc", "usr", "lib", "x86_64-linux-gnu")); err == nil && isThere(libc) {
		command = []string{filepath.Join(libc, "ld-linux-x86-64.so.2"), "--library-path", libc + ":/usr/lib/x86_64-linux-gnu", program}
	}
	ports, err := freePorts(12)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "feagi-oracle")
	if err != nil {
		return nil, err
	}
	settings := filepath.Join(dir, "feagi.toml")
	text := fmt.Sprintf("[api]\nhost = \"127.0.0.1\"\nport = %d\n[websocket]\nhost = \"127.0.0.1\"\nvisualization_port = %d\nsensory_port = %d\nmotor_port = %d\nregistration_port = %d\n"+
		"[ports]\nzmq_req_rep_port = %d\nzmq_pub_sub_port = %d\nzmq_push_pull_port = %d\nzmq_sensory_port = %d\nzmq_motor_port = %d\nzmq_visualization_port = %d\nzmq_rest_port = %d\n"+
		"[timeouts]\nservice_startup = 3.0\n[connectome]\nneuron_space = 1000000\nsynapse_space = 10000000\n", ports...)
	log, err := os.Create(filepath.Join(dir, "log"))
	if err == nil {
		err = os.WriteFile(settings, []byte(text), 0o600)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	command = append(command, "--precision", "fp32", "--config", settings)
	s := &server{cmd: exec.Command(command[0], command[1:]...), base: fmt.Sprintf("http://127.0.0.1:%d/v1/", ports[0]), dir: dir, log: log}
	s.cmd.Dir, s.cmd.Stdout, s.cmd.Stderr = dir, log, log
	s.cmd.Env = append(os.Environ(), "HOME="+dir, "FEAGI_DATA_DIR="+dir)
	if err := s.cmd.Start(); err != nil {
		return nil, errors.Join(err, log.Close(), os.RemoveAll(dir))
	}
	for range 300 {
		if s.get("system/health_check", &struct{}{}) == nil {
			return s, nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	said, _ := os.ReadFile(log.Name())
	return nil, errors.Join(fmt.Errorf("FEAGI does not answer after 30 s; it said:\n%s", said[max(0, len(said)-2000):]), s.stop())
}

func isThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// stop ends the server and removes what it wrote.
func (s *server) stop() error {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait() // killed
	return errors.Join(s.log.Close(), os.RemoveAll(s.dir))
}

// freePorts finds ports that nobody listens on.
func freePorts(n int) ([]any, error) {
	var ports []any
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}

func (s *server) get(path string, into any) error { return s.ask(http.MethodGet, path, nil, into) }
func (s *server) post(path string, body, into any) error {
	return s.ask(http.MethodPost, path, body, into)
}

// ask makes a request; body is JSON already where it is bytes, and into may be nil.
func (s *server) ask(method, path string, body, into any) error {
	text, ready := body.([]byte)
	if body != nil && !ready {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return err
		}
	}
	request, err := http.NewRequest(method, s.base+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := (&http.Client{Timeout: 5 * time.Minute}).Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %s: %.300s", method, path, answer.Status, said)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(said, into)
}

// load replaces the brain; it does not run until it is started.
func (s *server) load(genome []byte) error {
	if err := s.post("burst_engine/stop", nil, nil); err != nil {
		return err
	}
	return s.post("genome/upload", genome, nil)
}

// names are the names of the areas by FEAGI's ids.
func (s *server) names() (map[string]string, error) {
	var m map[string]string
	return m, s.get("cortical_area/cortical_id_name_mapping", &m)
}

// neurons are the ids of an area's neurons, ascending, which is the order x, y, z, within the voxel.
func (s *server) neurons(area string) ([]uint32, error) {
	var ids []uint32
	err := s.get("connectome/cortical_area/"+url.PathEscape(area)+"/neurons", &ids)
	slices.Sort(ids)
	return ids, err
}

// properties are what the server holds of a neuron; areas differ within themselves by their thresholds alone.
type properties struct {
	Threshold    float32 `json:"threshold"`
	Limit        float32 `json:"threshold_limit"`
	Leak         float32 `json:"leak_coefficient"`
	Refractory   uint32  `json:"refractory_period"`
	FireLimit    uint32  `json:"consecutive_fire_limit"` // noLimit is none
	Snooze       uint32  `json:"snooze_period"`
	Excitability float32 `json:"excitability"`
	Accumulate   bool    `json:"mp_charge_accumulation"`
	Uniform      bool    `json:"psp_uniform_distribution"`
	Driven       bool    `json:"mp_driven_psp"`
}

// noLimit is a FireLimit that is none.
const noLimit = 65535

func (s *server) properties(neuron uint32) (properties, error) {
	var p properties
	return p, s.get(fmt.Sprintf("connectome/neuron_properties?neuron_id=%d", neuron), &p)
}

// synapse is one as the server holds it.
type synapse struct {
	Source uint32  `json:"source_neuron_id"`
	Target uint32  `json:"target_neuron_id"`
	Weight float32 `json:"weight"`
	PSP    float32 `json:"postsynaptic_potential"`
	Type   int     `json:"synapse_type"` // 1 inhibits
}

// synapses are those that leave an area.
func (s *server) synapses(area string) ([]synapse, error) {
	var list []synapse
	return list, s.get("connectome/"+url.PathEscape(area)+"/synapses", &list)
}

// stimulate makes voxels fire in the next burst.
func (s *server) stimulate(voxels map[string][][3]uint64) error {
	return s.post("agent/manual_stimulation", map[string]any{"stimulation_payload": voxels}, nil)
}

// bursts is the number of bursts since the brain was started.
func (s *server) bursts() (int, error) {
	var n int
	return n, s.get("burst_engine/burst_counter", &n)
}

// mostBursts is how far back the server remembers, and mostAreas how many areas it tells about at a time.
const mostBursts, mostAreas = 2000, 16

// fired are the voxels of each area that fired, by burst from 1 on. The first call for an area makes the server remember it.
func (s *server) fired(areas []string) (map[string]map[int][][3]uint64, error) {
	all := map[string]map[int][][3]uint64{}
	for some := range slices.Chunk(areas, mostAreas) {
		var h struct {
			Areas map[string]struct {
				Frames []struct {
					Burst  int         `json:"burst"`
					Voxels [][3]uint64 `json:"voxels"`
				} `json:"frames"`
			} `json:"areas"`
		}
		if err := s.get(fmt.Sprintf("burst_engine/fire_history?bursts=%d&areas=%s", mostBursts, url.QueryEscape(strings.Join(some, ","))), &h); err != nil {
			return nil, err
		}
		for id, a := range h.Areas {
			all[id] = map[int][][3]uint64{}
			for _, f := range a.Frames {
				all[id][f.Burst] = f.Voxels
			}
		}
	}
	return all, nil
}
