# burst: bare `make` lists the targets.
GO          ?= go
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
BENCHSTAT   := golang.org/x/perf/cmd/benchstat@latest
GREMLINS    := github.com/go-gremlins/gremlins/cmd/gremlins@v0.6.0
export CGO_ENABLED ?= 0

.PHONY: help build test test-long race race-long lint fuzz fuzz-feagi feagi-table arm64 cross kernels test-gpu sanitize mutants bench bench-compare bench-peers science digests man pictures reliability soak sbom clean

help: ## list the targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

build: ## build bin/burst
	$(GO) build -trimpath -o bin/burst ./cmd/burst

test: ## run all tests but the long ones
	$(GO) test ./...

THREADS ?= 1,2,3,8
test-long: ## run the example networks in full on the reference and, with THREADS, the cpu backend; long round trips; 50 kills
	$(GO) test -timeout 60m -parallel 2 ./genomes -long -threads $(THREADS)
	$(GO) test ./record ./cmd/burst -run '^(TestRoundTrip|TestKilledRuns)$$' -long

# The packages of the module that start goroutines, and those that run them with many threads: elsewhere no race can be found.
RACED = $(shell grep -rlP --include='*.go' '\bgo (func|[a-z][A-Za-z.]*)\x28|\.Go\x28' . | xargs -n1 dirname | sort -u) ./backend ./engine ./genomes
# These count bytes, or refuse what is too large: no other processor and no race detector changes that.
COUNTING = TestMemoryIsCheckedFirst|TestMemoryIsRefusedBeforeItIsTaken|TestMemoryIsWhatOpenTakes|TestMemoryOfTheMachine|TestPeakWhileBuilding|TestPredictedBytesAreTheRealOnes|TestStepDoesNotAllocate|TestAbsurdGenomesAreRefusedBeforeAnythingIsAllocated|TestR12DeviceMemory|TestR12FullDevice|TestPartsFitWhereTheWholeDoesNot
# These do one thing after the other, for long, the first three with one thread, or every command once; what they run beside each other other tests do.
PLAIN = TestSubsetsAreUniform|TestSumsThatLeaveInt32AreRefused|TestR17NoSumWraps|TestSilenceIsSkipped|TestSegmentsHoldEveryWeight|TestTheProofNamesNeuronBoundAndLargestScale|TestDenseTexts|TestAttacks|TestLongBatch|TestR2PowerLoss|TestR3FullDisk|TestR4Damage|TestExitStatus|TestJSONOfEveryCommand
# These run kernels for long, which the detector does not see; the goroutines around those the conformance suite has, with one device and with several.
KERNELS = TestPaths|TestClustersOfGroups|TestSchedules
# These start many processes and look at what they leave on disk; their goroutines other tests have in one process.
STARTING = TestR1Kills|TestKilledRuns|TestR28Signals|TestR10KilledParts|TestTogetherRefuses|TestTogetherByNCCL|TestExchangeChosen|TestOneGPUEach|TestR13NoDevice|TestScripts|TestProcesses|TestProcessesWithoutNCCL
race: ## run the short tests of the packages that start goroutines under the race detector (needs gcc)
	CGO_ENABLED=1 $(GO) test -race -vet=off -short -timeout 40m -skip '^($(COUNTING)|$(PLAIN)|$(KERNELS)|$(STARTING))$$' $(RACED)

race-long: ## run all tests of all packages under the race detector (an hour)
	CGO_ENABLED=1 $(GO) test -race -timeout 180m ./...

lint: ## gofmt, vet and staticcheck
	@test -z "$$(gofmt -l .)" || { echo "gofmt these:"; gofmt -l .; exit 1; }
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...

# Readers leave much garbage and keep little: collected less often, they take a fifth less time an input.
fuzz fuzz-feagi: export GOGC = 400
FUZZTIME ?= 60s
fuzz: ## fuzz the readers of genomes, edge lists, checkpoints and recordings (10^6 inputs and a minute in CI's budget)
	$(GO) test ./genome -run '^$$' -fuzz FuzzParse -fuzztime $(FUZZTIME) -fuzzminimizetime 1x
	$(GO) test ./edgelist -run '^$$' -fuzz FuzzCSV -fuzztime 15s -fuzzminimizetime 1x
	$(GO) test ./checkpoint -run '^$$' -fuzz FuzzR22Read -fuzztime 15s -fuzzminimizetime 1x
	$(GO) test ./record -run '^$$' -fuzz FuzzR22Stream -fuzztime 15s -fuzzminimizetime 1x
	$(GO) test ./record -run '^$$' -fuzz FuzzR22Parquet -fuzztime 15s -fuzzminimizetime 1x

FEAGI_FUZZTIME ?= 60s
fuzz-feagi: ## fuzz the importer of FEAGI genomes for FEAGI_FUZZTIME
	$(GO) test ./genome/feagi -run '^$$' -fuzz FuzzImport -fuzztime $(FEAGI_FUZZTIME) -fuzzminimizetime 1x

arm64: ## run the exact functions and the conformance suite as linux/arm64 (needs Debian's qemu-user)
	bash .ci/arm64 -skip '^($(COUNTING))$$'

cross: ## build for the other systems
	GOOS=linux GOARCH=arm64 $(GO) build -o /dev/null ./cmd/burst
	GOOS=darwin GOARCH=arm64 $(GO) build -o /dev/null ./cmd/burst
	GOOS=windows GOARCH=amd64 $(GO) build -o /dev/null ./cmd/burst

kernels: ## rebuild the kernels' PTX and SHA256SUMS (needs Debian's clang-19)
	bash kernels/build.sh

test-gpu: ## run the conformance suite, and restarts and faults, on the real GPU; none is a failure
	BURST_REQUIRE_CUDA=1 $(GO) test -count=1 ./backend/cuda/...
	BURST_REQUIRE_CUDA=1 $(GO) test -count=1 ./checkpoint ./cmd/burst -run 'TestR6|TestR11'

sanitize: ## run the GPU backend's tests under compute-sanitizer's four tools (needs a GPU and the CUDA toolkit)
	@command -v compute-sanitizer >/dev/null || { echo "sanitize: no compute-sanitizer on PATH; it comes with the CUDA toolkit"; exit 1; }
	$(GO) test -c -o bin/driver.test ./backend/cuda/driver
	$(GO) test -c -o bin/cuda.test ./backend/cuda
	bash backend/cuda/sanitize.sh bin/driver.test bin/cuda.test

PACKAGES ?= engine connectome genome genome/feagi record checkpoint edgelist backend/reference backend/cpu backend/split
SAMPLE   ?= 60
SEED     ?= 1
WORKERS  ?= $(shell nproc)
mutants: ## plant SAMPLE small mistakes in each of PACKAGES, drawn by SEED, WORKERS at a time, and see whether the package's tests notice (hours)
	$(GO) run ./bench/mutants -gremlins "$(GO) run $(GREMLINS)" -sample $(SAMPLE) -seed $(SEED) -workers $(WORKERS) $(PACKAGES)

bench: ## Go benchmarks of the named workloads
	$(GO) test -run '^$$' -bench . -timeout 60m ./bench

BASE ?= HEAD~1
bench-compare: ## benchmark BASE against the working tree with benchstat
	bash bench/compare.sh $(BASE) "$(GO) run $(BENCHSTAT)"

bench-peers: ## burst-100k on burst, a plain loop and Brian2 (needs Debian's python3-brian)
	@$(GO) run ./bench/peers

science: ## run the published networks and write docs/validation.md
	$(GO) run ./bench/science > docs/validation.md.new && mv docs/validation.md.new docs/validation.md

GENOMES ?= ../shared/data/feagi-genomes
feagi-table: ## run the FEAGI genomes in GENOMES and write their table into docs/feagi.md
	$(GO) test -count=1 ./genome/feagi -run TestTable -update -genomes $(abspath $(GENOMES))

digests: ## rewrite genomes/*.digest from the reference backend
	$(GO) test -timeout 60m ./genomes -run TestDigest -long -write

reliability: ## run the tests behind docs/reliability.md and write it
	bash .ci/reliability > docs/reliability.md.new && mv docs/reliability.md.new docs/reliability.md

soak: ## the same with the long versions: 200 kills, 100 signals, every bit flipped, a state of 1 GB; writes nothing
	BURST_SOAK=1 bash .ci/reliability -long

sbom: build ## list the program's modules, with licences, in bin/burst.cdx.json, and hold them to the program
	$(GO) test -count=1 . -run TestR30Modules -sbom $(CURDIR)/bin/burst.cdx.json

man: ## write the man pages into bin/man
	$(GO) run ./cmd/burst man bin/man

PICTURES := quickstart brunel-d potjans-diesmann-10
DRAWN    := --backend cpu --quiet
pictures: build ## draw the pictures of README and docs
	@rm -rf bin/pictures && mkdir -p docs/pictures
	@set -e; for n in $(PICTURES); do \
		bin/burst run $$n $(DRAWN) --out bin/pictures/$$n; \
		for p in raster rates; do cp bin/pictures/$$n/$$p.png docs/pictures/$$n-$$p.png; done; done
	bin/burst plot bin/pictures/potjans-diesmann-10 --isi --matrix
	@for p in isi matrix; do cp bin/pictures/potjans-diesmann-10/$$p.png docs/pictures/potjans-diesmann-10-$$p.png; done

clean: ## remove what was built
	rm -rf bin
