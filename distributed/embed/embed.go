// Package embed runs a NATS server with JetStream in this process: for one command on one
// machine, and for tests.
package embed

import (
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/seed-45b9a24c/pare/outcome"
)

// MaxPayload is the largest size of a message in bytes, the maximum that NATS allows.
const MaxPayload = 64 << 20

// Start starts a server on the given port of the loopback interface, or on a free port if port is 0.
// The server stores its data in dir. The caller must shut it down.
func Start(dir string, port int) (*server.Server, error) {
	if port == 0 {
		port = server.RANDOM_PORT
	}
	s, err := server.NewServer(&server.Options{
		ServerName: "pare", Host: "127.0.0.1", Port: port, JetStream: true, StoreDir: dir,
		MaxPayload: MaxPayload, MaxPending: 4 * MaxPayload, NoSigs: true, NoLog: true, DontListen: false,
	})
	if err == nil {
		s.Start()
		if s.ReadyForConnections(20 * time.Second) {
			return s, nil
		}
		s.Shutdown()
	}
	return nil, &outcome.Error{Kind: outcome.IO, File: dir, Message: "the embedded NATS server does not start", Err: err}
}
