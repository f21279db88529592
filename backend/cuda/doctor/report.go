// Package doctor examines the GPUs of a machine and proves that they compute: it finds driver, devices and libraries, runs
// kernels whose results it knows, and measures. What it finds wrong is no error of a function: it is a line
// of the report, with cause and advice.
package doctor

import (
	"fmt"

	"burst/backend/cuda"
)

// Report is what Examine found.
type Report struct {
	Passed  bool     `json:"passed"` // every GPU that is there has passed its proof; true also when there is none
	Driver  Library  `json:"driver"`
	NVRTC   Library  `json:"nvrtc"`
	CUBLAS  Library  `json:"cublas"`
	NVML    Library  `json:"nvml"`
	Devices []Device `json:"devices"`
	Checks  []Check  `json:"checks"`
}

// Library is a shared library, empty when there is none.
type Library struct {
	Path    string `json:"path"`
	Version string `json:"version"`
}

// Device is one GPU.
type Device struct {
	cuda.DeviceInfo
	Choice   string    `json:"ptx_why"` // why that embedded PTX
	Code     string    `json:"code"`    // what the proof ran: NVRTC's code or the embedded PTX
	Health   *Health   `json:"health"`  // nil without NVML
	Measures []Measure `json:"measures"`
}

// Health is what NVML reports of a device; nil where the device does not support it.
type Health struct {
	LinkGeneration    *int    `json:"pcie_generation"` // now; an idle link may rest at a lower one
	LinkGenerationMax *int    `json:"pcie_generation_max"`
	LinkWidth         *int    `json:"pcie_width"` // lanes
	LinkWidthMax      *int    `json:"pcie_width_max"`
	ECC               *bool   `json:"ecc"`
	Corrected         *uint64 `json:"ecc_corrected"` // memory errors since the counters were last cleared
	Uncorrected       *uint64 `json:"ecc_uncorrected"`
	RemappedRows      *int    `json:"remapped_rows"` // of memory, for corrected and uncorrected errors
	RemapPending      *bool   `json:"remap_pending"` // a remapping waits for a reset of the device
	RemapFailed       *bool   `json:"remap_failed"`
}

// Measure is one measured number.
type Measure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
}

// Check is one question and its answer.
type Check struct {
	Name   string `json:"name"`   // "device 0: …" for those of one device
	OK     bool   `json:"ok"`     //
	Proof  bool   `json:"proof"`  // a GPU that fails it must not be used
	Found  string `json:"found"`  // what is the case, when ok
	Cause  string `json:"cause"`  // what is wrong, when not
	Advice string `json:"advice"` // what to do about it
}

// Right is what a check of a kernel has found when all its results are right.
const Right = "right"

// examiner collects a report.
type examiner struct {
	report Report
	effort effort
	folder string // of the executor's cache; empty: the usual one
}

// Options of Examine; the zero value does everything.
type Options struct {
	Quick bool // no measurements
}

// Examine finds out what there is. It takes some 20 seconds a GPU, one when Quick.
func Examine(o Options) *Report {
	e := &examiner{effort: full}
	if o.Quick {
		e.effort = effort{}
	}
	e.examine()
	return &e.report
}

// examine fills in the report, from what everything needs to what only measurements need.
func (e *examiner) examine() {
	e.report.Devices = []Device{}
	e.libraries()
	if e.driver() {
		for i := range e.report.Devices {
			e.examineDevice(i)
		}
	}
	e.report.Passed = true
	for _, c := range e.report.Checks {
		e.report.Passed = e.report.Passed && (c.OK || !c.Proof)
	}
}

// found notes that something is well.
func (e *examiner) found(name string, proof bool, format string, args ...any) {
	e.report.Checks = append(e.report.Checks, Check{Name: name, OK: true, Proof: proof, Found: fmt.Sprintf(format, args...)})
}

// wrong notes that something is not.
func (e *examiner) wrong(name string, proof bool, cause, advice string) {
	e.report.Checks = append(e.report.Checks, Check{Name: name, Proof: proof, Cause: cause, Advice: advice})
}

// failed is wrong with the cause and the advice of an error.
func (e *examiner) failed(name string, proof bool, err error) {
	cause, advice := explain(err)
	e.wrong(name, proof, cause, advice)
}

// versionText is a CUDA version as people write it.
func versionText(v int) string { return fmt.Sprintf("%d.%d", v/1000, v%1000/10) }
