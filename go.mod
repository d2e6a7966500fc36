module github.com/seed-45b9a24c/pare

go 1.26.0

require (
	github.com/alecthomas/kong v1.17.0
	github.com/klauspost/compress v1.20.3
	github.com/klauspost/cpuid/v2 v2.4.2
	golang.org/x/sync v0.24.0
	golang.org/x/term v0.47.0
)

require golang.org/x/sys v0.49.0 // indirect
