package doctor

import (
	"errors"
	"fmt"
	"io/fs"

	"burst/internal/cuda/driver"
	"burst/internal/cuda/executor"
	"burst/kernels"
)

// enough is the free memory that proof and burst's smaller networks want, in bytes.
const enough = 256 << 20

// patient is a device under examination.
type patient struct {
	*examiner
	device *Device
	prefix string // of the names of its checks
	exec   *executor.Executor
	module *executor.Module
	stream *executor.Stream
	blas   *driver.CUBLAS // nil without cuBLAS
	sms    int
}

// examineDevice goes from what can be asked to what must be run.
func (e *examiner) examineDevice(i int) {
	p := &patient{examiner: e, device: &e.report.Devices[i], prefix: fmt.Sprintf("device %d: ", i)}
	p.health(p.prefix+"health", p.device)
	var err error
	if p.exec, err = executor.Open(executor.Options{Device: i, CacheFolder: e.folder}); err != nil {
		p.fail("context", true, err)
		return
	}
	defer func() {
		if err := errors.Join(p.closeCUBLAS(), p.exec.Close()); err != nil && !driver.Sticky(err) {
			p.fail("closing", false, err) // a lost context was reported where it was lost
		}
	}()
	if p.chooseCode() && p.checkMemory() && p.prepare() && p.prove() {
		p.measure()
	}
}

func (p *patient) fail(name string, proof bool, err error) { p.failed(p.prefix+name, proof, err) }

// chooseCode says which embedded PTX suits.
func (p *patient) chooseCode() bool {
	cudaVersion := p.exec.Driver().Version()
	image, why, err := choose(kernels.Images(), p.exec.Capability(), cudaVersion)
	if err != nil {
		p.wrong(p.prefix+"ptx", true, err.Error(), "use a GPU of Turing (2018) or newer with a driver of CUDA 11.4 or newer; burst runs on the CPU with the same results")
		return false
	}
	p.device.Choice = why
	p.found(p.prefix+"ptx", true, "%s: %s", image.Name, why)
	if p.device.SingleSteps != "" {
		p.wrong(p.prefix+"bursts", false, p.device.SingleSteps, "update the NVIDIA driver; under a virtual GPU or MPS, ask who runs it")
	} else {
		p.found(p.prefix+"bursts", false, "a launch has many bursts")
	}
	return true
}

// checkMemory needs a context, so it also shows that one works.
func (p *patient) checkMemory() bool {
	free, total, err := p.exec.MemoryInfo()
	if err != nil {
		p.fail("memory", true, err)
		return false
	}
	if free < enough {
		p.wrong(p.prefix+"memory", true, fmt.Sprintf("out of memory: %d MiB of %d MiB are free, want %d MiB", free>>20, total>>20, enough>>20),
			adviceFor(&driver.Error{Code: driver.OutOfMemory}))
		return false
	}
	p.found(p.prefix+"memory", true, "%d MiB of %d MiB free", free>>20, total>>20)
	return true
}

// prepare compiles with NVRTC where it can, loads, and makes a stream.
func (p *patient) prepare() bool {
	ptx, err := p.compile()
	if err == nil {
		p.module, err = p.exec.Load(ptx)
		if tooNew := (*executor.TooNewError)(nil); errors.As(err, &tooNew) {
			p.fail("code", false, err)
			p.module = nil
		} else if err != nil {
			p.fail("load", true, err)
			return false
		}
	}
	if p.module == nil && !p.loadEmbedded() {
		return false
	}
	p.found(p.prefix+"load", true, "%s, %d kernels", p.device.Code, len(p.module.Kernels()))
	if p.stream, err = p.exec.Stream(); err != nil {
		p.fail("stream", true, err)
		return false
	}
	p.openCUBLAS()
	if p.sms, err = p.exec.Device().Attribute(driver.MultiprocessorCount); err != nil {
		p.fail("stream", true, err)
		return false
	}
	return true
}

// errNoCompiler says that the embedded PTX is to be used; the report already says why.
var errNoCompiler = errors.New("no code from NVRTC")

// compile makes PTX of the toolbox's sources, unchanged.
func (p *patient) compile() ([]byte, error) {
	if p.report.NVRTC.Path == "" {
		return nil, errNoCompiler
	}
	files := map[string]string{}
	names, err := fs.Glob(kernels.ToolboxSources, "*")
	for _, name := range names {
		text, readErr := fs.ReadFile(kernels.ToolboxSources, name)
		files[name], err = string(text), errors.Join(err, readErr)
	}
	if err != nil {
		panic("BUG: embedded sources: " + err.Error())
	}
	code, err := p.exec.Compile(files["toolbox.cu"], executor.CompileOptions{Headers: files, Options: []string{"--std=c++17", "--fmad=false"}})
	if err != nil {
		p.fail("compile", false, err)
		return nil, errNoCompiler
	}
	p.device.Code = "NVRTC " + p.report.NVRTC.Version
	state := "compiled"
	if code.Cached {
		state = "from the cache"
	}
	p.found(p.prefix+"compile", false, "%s, %d bytes of PTX", state, len(code.PTX))
	if code.CacheErr != nil {
		p.fail("cache", false, code.CacheErr)
	} else {
		p.found(p.prefix+"cache", false, "works")
	}
	return code.PTX, nil
}

// loadEmbedded loads the toolbox's PTX that came with the program.
func (p *patient) loadEmbedded() bool {
	image, _, err := choose(kernels.Toolbox(), p.exec.Capability(), p.exec.Driver().Version())
	if err == nil {
		p.device.Code = image.Name
		p.module, err = p.exec.Load([]byte(image.PTX()))
	}
	if err != nil {
		p.fail("load", true, err)
	}
	return err == nil
}
