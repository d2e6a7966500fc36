# Day-to-day targets. The steps themselves are in .ci/run.

.DEFAULT_GOAL := help
PACKAGES ?= ./...
FUZZTIME ?= 60s

.PHONY: help
help: ## this list
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "%-12s %s\n", $$1, $$2 }'

.PHONY: check
check: ## what to run before a commit: mod, vet, lint, test
	.ci/run mod vet lint
	go test ./...

.PHONY: test
test: ## the tests
	go test $(PACKAGES)

.PHONY: lint vet test-purego test-race test-arm64 cross fused same-bits
lint: ## golangci-lint for amd64 and arm64
	CI_VERBOSE=1 .ci/run lint
vet: ## go vet for amd64, arm64 and without assembly
	.ci/run vet
test-purego: ## the tests without assembly
	.ci/run purego
test-race: ## the tests under the race detector
	.ci/run race
test-arm64: ## the tests on arm64 under qemu
	.ci/run arm64
cross: ## compile everything for the other systems
	.ci/run cross
fused: ## no multiply-add the source does not ask for
	.ci/run fused
same-bits: ## same results on every kernel set, thread count and architecture
	CI_VERBOSE=1 .ci/run bits

.PHONY: fuzz
fuzz: ## every fuzz target for FUZZTIME (60s)
	CI_VERBOSE=1 FUZZTIME=$(FUZZTIME) .ci/run fuzz

.PHONY: fmt
fmt: ## format with gofumpt and gci
	golangci-lint fmt

.PHONY: bench
bench: ## benchmarks of PACKAGES, six runs, for benchstat
	go test -run '^$$' -bench . -count 6 $(PACKAGES)

# Interrupted, each goes on where it was. QUICK=1: minutes instead of hours.
QUICK ?=
quick = $(if $(QUICK),--quick)
.PHONY: figures peers goals results
figures: ## the figures of docs and README (QUICK=1: minutes, not hours)
	go build -o bin/perf ./cmd/perf
	bin/perf figures $(quick) --state bin/figures.json
	go run ./cmd/pare select --quiet --plot=docs/figures/select-diabetes.svg
peers: ## our solvers beside those installed, kept in bin/peers.json
	go build -o bin/perf ./cmd/perf
	bin/perf peers $(quick) --rows lasso,enet,wlasso,svm,deep,check --state bin/peers.json --csv docs/goals/peers.csv
	bin/perf peers $(quick) --rows logreg --state bin/peers.json --csv docs/goals/logreg.csv
	bin/perf peers $(quick) --rows families --state bin/peers.json --csv docs/goals/families.csv

goals: ## what the project has set itself, measured, into docs/goals
	go build -o bin/perf ./cmd/perf
	bin/perf goals $(quick) --state bin/goals.json

results: ## the tables of docs/results.md anew, from what the three above left
	go run ./cmd/perf page

.PHONY: site
site: ## README and docs as web pages in bin/site, their links checked
	go -C tools/site run . -root ../.. -o ../../bin/site

.PHONY: cover
cover: ## coverage of PACKAGES by all tests, in cover.out
	go test -short -coverpkg=./... -coverprofile=cover.out $(PACKAGES)
	go tool cover -func=cover.out | tail -n 1

.PHONY: ci
ci: ## everything the continuous integration runs
	.ci/run
