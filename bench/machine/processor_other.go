//go:build !unix

package machine

import "time"

// ProcessorTime returns no processor time here.
func ProcessorTime() (taken time.Duration, ok bool) { return 0, false }
