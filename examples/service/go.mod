module example.org/service

go 1.26.0

require (
	github.com/prometheus/client_golang v1.25.0
	github.com/seed-45b9a24c/pare v0.0.0
	github.com/seed-45b9a24c/pare/observe/prom v0.0.0
)

require (
	github.com/beorn7/perks v1.0.1 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/klauspost/cpuid/v2 v2.4.2 // indirect
	github.com/munnerz/goautoneg v0.0.0-20191010083416-a7dc8b61c822 // indirect
	github.com/prometheus/client_model v0.6.3 // indirect
	github.com/prometheus/common v0.72.0 // indirect
	github.com/prometheus/procfs v0.22.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
)

replace github.com/seed-45b9a24c/pare => ../..

replace github.com/seed-45b9a24c/pare/observe/prom => ../../observe/prom
