package main

import (
	"burst/record/runfolder"

	"github.com/spf13/cobra"
)

// keeping are the flags that say what a run writes, and where.
type keeping struct {
	out    string
	noOut  bool
	record []string
}

func (k *keeping) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&k.out, "out", "o", "", "write the results to this folder, which must be empty or not exist yet (default: runs/NAME-N)")
	f.BoolVar(&k.noOut, "no-out", false, "write no results")
	f.StringArrayVar(&k.record, "record", nil, "what to record: spikes=, potentials= or fcl=, then all, none, or areas such as L4E,L4I[0..9]; may be repeated;\n"+
		"state variables and inputs by name: variables=L4E.V,L4I[0..9].I_ex, or variables='L4E.V every 1ms';\n"+
		"weights of synapses that learn: weights=5%, or weights='E:I 5% every 1s'; histograms=none keeps no summary of weights\n"+
		"(default: the genome's record block; without one the spikes of all areas, of large networks a part)")
}

// check refuses a folder that is in use before anything is built.
func (k *keeping) check() error {
	if k.out == "" {
		return nil
	}
	return runfolder.Vacant(k.out)
}

// runsFolder is where runs get folders of their own.
const runsFolder = "runs"
