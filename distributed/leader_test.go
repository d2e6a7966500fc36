package distributed

import (
	"errors"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
)

// TestServersWithoutALeaderAreAskedAgain checks that a request is repeated if the servers have
// no leader, and not after other errors.
func TestServersWithoutALeaderAreAskedAgain(t *testing.T) {
	for code, want := range map[jetstream.ErrorCode]bool{10008: true, jetstream.JSErrCodeJetStreamNotEnabledForAccount: false} {
		if err := unreachable(&jetstream.APIError{Code: 503, ErrorCode: code}); leaderless(err) != want {
			t.Errorf("%v: asked again %v, want %v", err, !want, want)
		}
	}
	if leaderless(unreachable(errors.New("no route"))) {
		t.Error("an error that is not of JetStream")
	}
}
