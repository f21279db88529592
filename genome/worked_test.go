package genome

import "testing"

// worked is the example from which the format was designed.
const worked = `burst: v1                      # format version, required
name: two areas
seed: 42
timestep: 0.1 ms               # what one burst stands for; only models with time constants and rates in Hz use it
scale: 1000                    # quanta per unit, or auto
areas:
  - name: power                # FEAGI's always-on source
    size: [1, 1, 1]            # x, y, z voxels; or neurons: 800
    model: feagi
    drive: {constant: 1}       # injected every burst
  - name: retina
    size: [16, 16, 1]
    neurons_per_voxel: 1
    position: [0, 0, 0]        # for pictures only
    model: feagi
    threshold: 1.0
    leak: 0.1
    refractory: 2              # bursts
    excitability: 1.0
    fire_limit: 3
    snooze: 1
    accumulate: true
  - {name: V1, size: [16, 16, 1]}
  - {name: motor, size: [16, 16, 1]}
projections:
  - {from: power, to: retina, rule: all_to_all, weight: 1}
  - {from: retina, to: V1, rule: projector, weight: 1}                 # FEAGI morphologies keep the voxel map
  - {from: V1, to: V1, rule: vectors, vectors: [[1,0,0],[-1,0,0]], weight: 2}
  - {from: V1, to: motor, rule: patterns, patterns: [[["*","?",0],["?","*",0]]], weight: 3}
stimuli:
  - {area: retina, at: 10, neurons: [3, 17], amount: 5}
  - {area: retina, every: 100, image: digits.png}                       # files are opened inside the genome's folder only
record: {spikes: [retina, motor], potentials: [{area: motor, neurons: [0, 1]}], fcl: false}
`

func TestWorkedExample(t *testing.T) {
	g, err := Parse("worked.yaml", []byte(worked), square)
	if err != nil {
		t.Fatal(err)
	}
	if len(g.Areas) != 4 || len(g.Projections) != 4 || len(g.Stimuli) != 2 || g.Areas[0].Drives[0].Value != 1 {
		t.Errorf("got %+v", g)
	}
	if err := validate(t, compiled(t), worked); err != nil {
		t.Error(err)
	}
}
