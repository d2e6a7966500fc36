module example.org/service

go 1.26.0

require github.com/seed-45b9a24c/pare v0.0.0

require (
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/klauspost/cpuid/v2 v2.4.2 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
)

replace github.com/seed-45b9a24c/pare => ../..
