# burst: bare `make` lists the targets.
GO          ?= go
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
BENCHSTAT   := golang.org/x/perf/cmd/benchstat@latest
GREMLINS    := github.com/go-gremlins/gremlins/cmd/gremlins@v0.6.0
export CGO_ENABLED ?= 0

.PHONY: help build test test-short test-slow test-kills test-planted test-repeats test-kernels test-supply test-science test-float32 test-examples test-long race race-long lint fuzz fuzz-feagi feagi-table feagi-oracle feagi-speed exact arm64 cross vet-others kernels test-gpu sanitize mutants bench bench-compare bench-peers bench-whole bench-threads bench-microcircuit science test-python test-page wheel digests man pictures reliability soak nightly sbom clean

help: ## list the targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

build: ## build bin/burst
	$(GO) build -trimpath -ldflags=-s -o bin/burst ./cmd/burst

test: ## run all tests but the slow and the long ones
	$(GO) test ./...

test-short: ## run the tests of the inner loop: nothing that takes seconds, or starts processes or many devices
	$(GO) test -short ./...

# Tests of package internal/slow, which `make test` leaves out or runs a few times only; slow_test.go holds these lines to them.
SLOWLY := BURST_SLOW=1 $(GO) test -timeout 30m
test-slow: test-kernels test-kills test-planted test-repeats test-supply test-science ## run the tests that take too long for make test; -j2 runs two targets at a time

test-kills: ## kill and signal runs, alone and in several processes
	$(SLOWLY) ./live -run '^TestR8Replay$$'
	$(SLOWLY) ./cmd/burst -run '^(TestR1Kills|TestKilledRuns|TestR28Signals|TestR10KilledParts|TestMPI|TestMPIRefuses|TestPlasticProcesses|TestMPIByNCCL|TestExchangeChosen|TestOneGPUEach|TestR11DeviceFault|TestR3FullDisk)$$'

test-planted: ## plant bugs, and a model, in the backends, and in a package of its own for bench/mutants
	$(SLOWLY) ./engine/enginetest -run '^(TestPlantedBugsAreCaught|TestToyModel)$$'
	$(SLOWLY) ./bench/mutants -run '^TestSample$$'

test-repeats: ## with many seeds, sizes and faults, what make test runs with few
	$(SLOWLY) ./checkpoint -run '^(TestR2PowerLoss|TestR3Faults|TestR4Damage|TestR6Restart|TestLargeState)$$'
	$(SLOWLY) ./engine -run '^TestWrongComparatorsAreCaught$$'
	$(SLOWLY) ./bench -run '^(TestProve|TestLearningNetworks|TestBalancedNetworks|TestScalingOfEight)$$'
	$(SLOWLY) ./backend/reference -run '^TestConformance$$'
	$(SLOWLY) ./backend/cpu -run '^(TestConformance|TestCoursesAreBursts|TestPairing|TestPendingEvents|TestPlasticParts|TestLongTurns|TestRowsAreThoseOfEachWorker)$$'
	$(SLOWLY) ./internal/split -run '^(TestConformance|TestMemoryAreas)$$'
	$(SLOWLY) . -run '^(TestWorkIsLinearInProjections|TestNewRuleTakesFourFiles)$$'
	$(SLOWLY) ./connectome -run '^(TestDistancesFollowTheKernel|TestSubsetsAreUniform|TestAbsurdGenomesAreRefusedBeforeAnythingIsAllocated|TestR17NoSumWraps|TestProofAgainstBigIntegers|TestAutoScaleOfWeightsThatLearn|TestPartsOfEveryRule|TestSharesAddUpToTheWhole|TestMorphologiesAgainstTheirDefinition|TestPeakWhileBuilding|TestBinsAreRows|TestGapsAreExact)$$'
	$(SLOWLY) ./genome -run '^(TestMutations|TestDenseTexts)$$'
	$(SLOWLY) ./internal/formula -run '^TestPowerShortcut$$'
	$(SLOWLY) ./genome/feagi -run '^TestTable$$'
	$(SLOWLY) ./genomes -run '^TestR7OneDigest$$'
	$(SLOWLY) ./record -run '^(TestR22StreamLengths|TestR22Parquet)$$'
	$(SLOWLY) ./record/picture -run '^TestPictures$$'
	$(SLOWLY) ./internal/exchange/nccl -run '^TestProcesses$$'

test-supply: ## build the program and the kernels anew: the same bytes, and no more than the budget
	$(SLOWLY) . -run '^(TestR30Reproducible|TestProgramSize)$$'
	$(SLOWLY) ./kernels -run '^TestRebuild$$'

test-kernels: ## run all paths, schedules and groups of devices by the kernels compiled for the host, and plant mistakes in these
	$(SLOWLY) ./backend/cuda -run '^(TestConformanceOnHost|TestConformanceOfPlainKernels|TestPendingEvents|TestLearningBatches|TestPairs|TestRanges|TestSharedRecords|TestLearningMoves|TestMemoryAreas|TestMemoryMoves|TestDrivenMoves|TestPaths|TestWaits|TestWaitsOfGroups|TestLastingPaths|TestLastingLearning|TestConformanceOfLastingLaunches|TestBatchesOfProcesses|TestClusters|TestClustersOfGroups|TestSumsOfMany|TestConformanceOfGroups|TestGroupsOfExamples|TestDelayed|TestPorts|TestWithoutDelays|TestUnevenRows|TestSchedules|TestPlantedMistakes|TestExamples|TestGuide|TestMaker|TestMakerNear|TestMakerOfExamples|TestMakerMistakes|TestNearMistakes|TestRowsStay|TestMistakesInRowsThatStay|TestMistakesInRowsOfPlaces|TestExactOnDevice)$$'
	$(SLOWLY) ./cmd/burst -run '^(TestDeviceLostAmongOthers|TestDevicesEverywhere|TestResumeOnOtherDevices|TestPartsFitWhereTheWholeDoesNot)$$'

test-science: ## hold the networks of the literature to their published numbers
	$(SLOWLY) ./bench/science -run '^(TestPublished|TestModelPictures|TestModelsAgainstNEST|TestAdaptiveAgainstNEST)$$'

THREADS ?= reference,1,2,3,8
test-examples: ## run the example networks in full on the THREADS: the reference, numbers of threads
	$(GO) test -timeout 60m -parallel 2 ./genomes -run '^TestDigest$$' -long -threads $(THREADS)

test-long: test-examples ## run also long round trips, and 50 kills
	BURST_SLOW=1 $(GO) test ./record ./cmd/burst -run '^(TestRoundTrip|TestKilledRuns)$$' -long

# The packages of the module that start goroutines, and those that run them with many threads: elsewhere no race can be found.
RACED = $(shell grep -rlP --include='*.go' '\bgo (func|[a-z][A-Za-z.]*)\x28|\.Go\x28' . | xargs -n1 dirname | sort -u) ./backend ./engine ./genomes
# These count bytes, or refuse what is too large: no other processor and no race detector changes that.
COUNTING = TestMemoryOfViewers|TestReferenceTakesItsFootprint|TestMemoryIsCheckedFirst|TestMemoryIsRefusedBeforeItIsTaken|TestMemoryIsWhatOpenTakes|TestMemoryOfTheMachine|TestPeakWhileBuilding|TestPredictedBytesAreTheRealOnes|TestStepDoesNotAllocate|TestAbsurdGenomesAreRefusedBeforeAnythingIsAllocated|TestR12DeviceMemory|TestR12FullDevice|TestPeakMemoryOnDevice|TestPartsFitWhereTheWholeDoesNot|TestGroupHoldsOnePartAtATime
# These are long and do one thing after the other, most with one thread. Shorter tests run the same goroutines.
PLAIN = TestPendingEvents|TestRowsAreThoseOfEachWorker|TestLearningNetworks|TestBalancedNetworks|TestWrongComparatorsAreCaught|TestSubsetsAreUniform|TestSumsThatLeaveInt32AreRefused|TestR17NoSumWraps|TestSilenceIsSkipped|TestSegmentsHoldEveryWeight|TestTheProofNamesNeuronBoundAndLargestScale|TestDenseTexts|TestAttacks|TestLongBatch|TestR2PowerLoss|TestR3FullDisk|TestR4Damage|TestExitStatus|TestJSONOfEveryCommand|TestLongTurns|TestSharesAddUpToTheWhole|TestSuggestionsDiffer|TestDamagedCheckpoints|TestDamageOfRunFolders|TestLearningGuide|TestRowsTakeOnePass|TestPictures|TestR3Faults
# These have one goroutine, or look at what others hold too.
ALONE = TestProofAgainstBigIntegers|TestGapsAreExact|TestPredicted|TestPredictedCost|TestWindows
# These run kernels for long, which the detector does not see. The conformance suite runs the goroutines around them, on one device and on three.
KERNELS = TestLateDelays|TestWaits|TestWaitsOfGroups|TestSharedRecords|TestConformanceOfPlainKernels|TestMemoryMoves|TestDrivenMoves|TestPaths|TestClusters|TestClustersOfGroups|TestGroupsOfExamples|TestSchedules|TestDelayed|TestWithoutDelays|TestLearningBatches|TestLearningMoves|TestExamples|TestGuide|TestMakerOfExamples|TestMakerMistakes|TestNearMistakes|TestMistakesInRowsThatStay|TestMistakesInRowsOfPlaces|TestExactOnDevice|TestFormulasOnDevice|TestTuning|TestMaker|TestMakerNear|TestMakerNearOfParts|TestMakerOfColumns|TestMakerOfParts|TestMakerSortsLongRows|TestListsCost|TestListsOfExamples|TestLittleSharedMemory|TestClusterSizes|TestClustersAreCountedOnTheirKernel|TestTeamsOfModels|TestPorts|TestLastingPaths|TestDrivenGenomeOnDevices
# These start many processes and look at what they leave on disk. Other tests run their goroutines in one process.
STARTING = TestR1Kills|TestKilledRuns|TestR28Signals|TestR10KilledParts|TestR11DeviceFault|TestMPIRefuses|TestPlasticProcesses|TestMPIByNCCL|TestExchangeChosen|TestOneGPUEach|TestR8Replay|TestR13NoDevice|TestScripts|TestProcesses|TestProcessesWithoutNCCL
# Of the suite's runs on the CPU the one with 2 workers that always share the work stays; package split has the one with parts. There, and on
# devices, the networks stay that differ in how bursts are run, and those that learn: models and drives are computed by one goroutine for each worker or device.
FEWER = ^TestConformance$$/^(all_processors|[1238]_workers|plain_loops|3_parts_.*|Cases|Edges|Written|Columns|Event|Delays)$$|^TestConformance(OnHost|OfGroups|OfLastingLaunches)$$/^(Cases|Edges|Memory|Written|Columns|Event|Delays|Driven)$$
# These hold what is drawn to its distribution: what is drawn has tests of its own.
STATISTICS = TestDistancesFollowTheKernel|TestDrivenBound
race: ## run the short tests of the packages that start goroutines under the race detector (needs gcc)
	BURST_SLOW=1 CGO_ENABLED=1 $(GO) test -race -vet=off -short -timeout 40m -skip '^($(COUNTING)|$(PLAIN)|$(ALONE)|$(KERNELS)|$(STARTING))$$|$(FEWER)' $(RACED)

race-long: ## run all tests of all packages under the race detector (an hour)
	BURST_SLOW=1 CGO_ENABLED=1 $(GO) test -race -timeout 180m ./...

lint: ## gofmt, vet and staticcheck
	@test -z "$$(gofmt -l .)" || { echo "gofmt these:"; gofmt -l .; exit 1; }
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...

# Readers leave much garbage and keep little: collected less often, they take a fifth less time an input.
fuzz fuzz-feagi: export GOGC = 400
# Inputs are counted, not timed: when its time is up, go test can fail with "context deadline exceeded" and no input.
FUZZ ?= 1
FUZZING = $(GO) test -run '^$$' -fuzzminimizetime 1x
test-float32: ## hold the functions of formulas to float64's for every float32, in an hour or two
	BURST_EVERY_FLOAT32=1 $(GO) test -timeout 5h ./internal/formula -run '^TestTrigonometry$$' -v

fuzz: ## fuzz the readers of genomes, edge lists, checkpoints, recordings, frames, messages and logs of input; FUZZ=10 tries ten times as many inputs
	$(FUZZING) ./genome -fuzz FuzzParse -fuzztime $$((45000 * $(FUZZ)))x
	$(FUZZING) ./internal/tabular -fuzz FuzzCSV -fuzztime $$((15000 * $(FUZZ)))x
	$(FUZZING) ./checkpoint -fuzz FuzzR22Read -fuzztime $$((20000 * $(FUZZ)))x
	$(FUZZING) ./record -fuzz FuzzR22Stream -fuzztime $$((5000 * $(FUZZ)))x
	$(FUZZING) ./record -fuzz FuzzR22Parquet -fuzztime $$((7500 * $(FUZZ)))x
	$(FUZZING) ./live/internal/inputlog -fuzz FuzzR22Inputs -fuzztime $$((2500 * $(FUZZ)))x
	$(FUZZING) ./live/wire -fuzz FuzzFrames -fuzztime $$((100000 * $(FUZZ)))x
	$(FUZZING) ./serve -fuzz FuzzMessages -fuzztime $$((1500 * $(FUZZ)))x

fuzz-feagi: ## fuzz the importer of FEAGI genomes; FUZZ=10 tries ten times as many inputs
	$(FUZZING) ./genome/feagi -fuzz FuzzImport -fuzztime $$((25000 * $(FUZZ)))x

# The packages whose bits another instruction set could change, the longest first, and what is left out there. SHORT= runs more networks.
SHORT ?= -short
EXACTLY = $(SHORT) -count=1 -skip '^($(COUNTING)|$(PLAIN)|$(STATISTICS))$$' ./backend/cpu ./connectome ./backend/reference ./internal/exact ./live/internal/amounts
exact: ## run the exact functions and the conformance suite with instructions of newer processors, and without fused ones
	GOAMD64=v3 $(GO) test $(EXACTLY)
	GODEBUG=cpu.fma=off $(GO) test $(EXACTLY)

arm64: ## run the exact functions and the conformance suite as linux/arm64 (needs Debian's qemu-user)
	bash .ci/arm64 -vet=off -timeout 20m $(EXACTLY)

OTHERS ?= linux/arm64 darwin/arm64 windows/amd64
cross: ## build for the OTHERS, systems and processors
	@set -e; for x in $(OTHERS); do echo $$x; GOOS=$${x%/*} GOARCH=$${x#*/} $(GO) build -o /dev/null ./cmd/burst; done

vet-others: ## check the code for the other systems with its tests, which takes minutes the first time
	GOOS=darwin GOARCH=arm64 $(GO) vet ./...
	GOOS=windows GOARCH=amd64 $(GO) vet ./...

kernels: ## rebuild the kernels' PTX and SHA256SUMS (needs Debian's clang-19)
	bash kernels/build.sh

test-gpu: ## run the conformance suite, and restarts and faults, on the real GPU; none is a failure
	BURST_REQUIRE_CUDA=1 BURST_SLOW=1 $(GO) test -count=1 ./backend/cuda/... ./internal/cuda/...
	BURST_REQUIRE_CUDA=1 BURST_SLOW=1 $(GO) test -count=1 ./checkpoint ./cmd/burst -run 'TestR6|TestR11'

sanitize: ## launch every kernel under compute-sanitizer's four tools (needs a GPU and the CUDA toolkit)
	@command -v compute-sanitizer >/dev/null || { echo "sanitize: no compute-sanitizer on PATH; it comes with the CUDA toolkit"; exit 1; }
	$(GO) test -c -o bin/driver.test ./internal/cuda/driver
	$(GO) test -c -o bin/cuda.test ./backend/cuda
	bash backend/cuda/sanitize.sh bin/driver.test bin/cuda.test

PACKAGES ?= engine connectome genome genome/feagi record record/manifest=record record/runfolder=record \
            record/internal/tables=record checkpoint internal/edgelist internal/tabular backend/reference backend/cpu internal/split
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

PEERS := .peers
.PHONY: $(PEERS)
$(PEERS):
	test -x $(PEERS)/bin/python || python3 -m venv $(PEERS)
	$(PEERS)/bin/pip install -q nest-simulator==3.10 pyyaml

bench-whole: build $(PEERS) ## whole runs beside NEST 3.10 from PyPI, which it installs into .peers; needs 10 GB of memory
	$(PEERS)/bin/python python/bench/peers/whole.py bin/burst genomes

bench-threads: build $(PEERS) ## bursts beside steps of NEST 3.10, with 1 to 16 threads of each; needs 10 GB of memory
	$(PEERS)/bin/python python/bench/peers/threads.py bin/burst genomes

SCALE ?=
COMPARED := python/bench/peers/microcircuit.py
CIRCUIT  := genomes/potjans-diesmann$(SCALE:%=-%).yaml
bench-microcircuit: build $(PEERS) ## the microcircuit beside NEST 3.10: distances of rates, CVs and correlations; 14 GB of memory and an hour; SCALE=10: a tenth of it, on any machine
	THREADS=$$(nproc) $(PEERS)/bin/python $(COMPARED) bin/burst $(CIRCUIT) $(PEERS)/microcircuit$(SCALE)/burst 1..10 --quiet
	THREADS=$$(nproc) $(PEERS)/bin/python $(COMPARED) nest $(CIRCUIT) $(PEERS)/microcircuit$(SCALE)/nest 1..4
	$(PEERS)/bin/python $(COMPARED) compare $(PEERS)/microcircuit$(SCALE)/burst $(PEERS)/microcircuit$(SCALE)/nest

science: ## run the published networks and write docs/validation.md
	$(GO) run ./bench/science > docs/validation.md.new && mv docs/validation.md.new docs/validation.md

GENOMES ?= ../shared/data/feagi-genomes
feagi-table: ## run the FEAGI genomes in GENOMES and write their table into docs/feagi.md
	BURST_SLOW=1 $(GO) test -count=1 ./genome/feagi -run TestTable -update -genomes $(abspath $(GENOMES))

FEAGI ?= 2.6.10
feagi-oracle: ## install FEAGI's released server into bin, run it and burst on the genomes in GENOMES, and write their table into docs/feagi.md
	bash bench/feagi-oracle/install.sh bin/feagi-$(FEAGI) $(FEAGI)
	$(GO) run ./bench/feagi-oracle -server bin/feagi-$(FEAGI) -guide docs/feagi.md $(GENOMES) genome/feagi/testdata/release genome/feagi/testdata/driven-learning.json
FEAGI_GPU ?=
FEAGI_THREADS ?= 0
feagi-speed: ## time FEAGI's released server and burst with FEAGI_THREADS threads, and write their table into docs/feagi.md; FEAGI_GPU: a file of times on a GPU
	bash bench/feagi-oracle/install.sh bin/feagi-$(FEAGI) $(FEAGI)
	$(GO) run ./bench/feagi-oracle -server bin/feagi-$(FEAGI) -speed -threads $(FEAGI_THREADS) -gpu "$(FEAGI_GPU)" -guide docs/feagi.md $(GENOMES)/core-essential.json

# Python's tools lie in an environment of their own; PYTHON makes it.
PYTHON ?= python3
TOOLS  := .venv/bin
$(TOOLS)/ready: python/requirements.txt
	$(PYTHON) -m venv .venv
	$(TOOLS)/python -m pip install -q --disable-pip-version-check -r python/requirements.txt
	touch $@

test-python: build $(TOOLS)/ready ## check and test the Python module, and build and install its wheel (needs python3-venv and a package index)
	cd python && ../$(TOOLS)/ruff check . && ../$(TOOLS)/ruff format --check . && ../$(TOOLS)/mypy
	cd python && BURST_PROGRAM=$(CURDIR)/bin/burst PYTHONPATH=$(CURDIR)/python/src ../$(TOOLS)/python -m pytest
	cd python && BURST_PROGRAM=$(CURDIR)/bin/burst PYTHONPATH=$(CURDIR)/python/src ../$(TOOLS)/python -m pytest -m wheel

AXE := .npm/node_modules/axe-core/axe.min.js
$(AXE):
	npm install --silent --no-save --prefix .npm axe-core@4.14.1

PAGE ?= .
MINUTES ?=
test-page: build $(AXE) ## test the page in Debian's Chromium, without a window, and with axe-core from npm; PAGE=REGEXP names tests, MINUTES is how long a page stays open
	cd serve/page/browsertest && $(GO) vet . && BURST_PROGRAM=$(CURDIR)/bin/burst BURST_MINUTES=$(MINUTES) $(GO) test -count=1 -v -timeout 2h -run '$(PAGE)' .

# Where each wheel runs: the tag, Go's names of system and processor, and a tag of Go's: musl has no loader that finds CUDA. Those for
# macOS and Windows are built and checked, but were never run.
WHEELS := manylinux_2_17_x86_64/linux/amd64 manylinux_2_17_aarch64/linux/arm64 musllinux_1_2_x86_64/linux/amd64/nocuda \
	musllinux_1_2_aarch64/linux/arm64/nocuda macosx_12_0_x86_64/darwin/amd64 macosx_12_0_arm64/darwin/arm64 win_amd64/windows/amd64
WITHOUT ?=
wheel: $(TOOLS)/ready ## build the Python wheels for Linux, with glibc or musl, and macOS on x86-64 and ARM, and Windows into bin/wheels; WITHOUT leaves some out
	@rm -rf bin/wheels
	@set -e; for x in $(filter-out $(WITHOUT)/%,$(WHEELS)); do \
		program=bin/wheels/one/burst; case $$x in win*) program=$$program.exe;; esac; \
		GOOS=$$(echo $$x | cut -d/ -f2) GOARCH=$$(echo $$x | cut -d/ -f3) CGO_ENABLED=0 \
			$(GO) build -trimpath -ldflags=-s -tags "$$(echo $$x | cut -d/ -f4)" -o $$program ./cmd/burst; \
		(cd python && BURST_PROGRAM=$(CURDIR)/$$program BURST_PLATFORM=$${x%%/*} \
			../$(TOOLS)/python -m hatchling build -t wheel -d ../bin/wheels); rm -r bin/wheels/one; done
	@$(TOOLS)/twine check --strict bin/wheels/*.whl

digests: ## rewrite genomes/*.digest from the reference backend
	$(GO) test -timeout 60m ./genomes -run TestDigest -long -write

reliability: ## run the tests behind docs/reliability.md and write it
	bash .ci/reliability > docs/reliability.md.new && mv docs/reliability.md.new docs/reliability.md

soak: ## the same with the long versions: 200 kills, 100 signals, every bit flipped, a state of 1 GB; writes nothing
	BURST_SOAK=1 bash .ci/reliability -long

STEPS ?=
nightly: ## run what is too long for CI (.ci/nightly.steps; STEPS names some), and write a dated result, to be committed
	bash .ci/nightly .ci/nightly.steps bench/results/$(shell date -u +%F)-nightly.txt $(STEPS)

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
	bin/burst run stdp-song --quiet --out bin/pictures/stdp-song
	bin/burst plot bin/pictures/stdp-song --weights -o docs/pictures/stdp-song-weights.png
	bin/burst run adex --quiet --record 'variables=E[0].v,E[0].w,E[0].i every 2' --out bin/pictures/adex
	bin/burst plot bin/pictures/adex --variables -o docs/pictures/adex-variables.png
	bin/burst run wave --quiet --out bin/pictures/wave
	bin/burst plot bin/pictures/wave --map --areas strip -o docs/pictures/wave-map.png
	$(GO) run ./bench/science -models docs/pictures
	BURST_PICTURES=$(CURDIR)/docs/pictures $(MAKE) test-page PAGE=TestNetworks

clean: ## remove what was built
	rm -rf bin
