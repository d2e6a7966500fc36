//go:build !unix

package distributed_test

import (
	"os"
	"testing"
	"time"
)

func standStill(t *testing.T, _ *os.Process, _ time.Duration) {
	t.Skip("processes of this system cannot be stopped and go on")
}

func (s *stage) stacks() {}
