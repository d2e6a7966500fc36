//go:build !unix

package machine

import "time"

// ProcessorTime reports that the time is not known: only Unix systems state it.
func ProcessorTime() (taken time.Duration, ok bool) { return 0, false }
