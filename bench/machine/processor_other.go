//go:build !unix

package machine

import "time"

// ProcessorTime is not implemented on this system.
func ProcessorTime() (taken time.Duration, ok bool) { return 0, false }
