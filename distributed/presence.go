package distributed

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// presenceSubject is the subject of presence messages.
const presenceSubject = "pare.presence"

// beat is a presence message: a worker announces that it is alive.
type beat struct {
	Name, Version string
	Slots         int
	Leaving       bool // the worker leaves and takes no more groups
	Hello         bool // the worker is new, and asks the other workers to announce themselves
	// Without lists jobs that the worker leaves to others because of a fault.
	Without []string `json:",omitempty"`
}

// Bounds on presence messages; messages beyond them are ignored.
const (
	mostWorkers = 1 << 16
	mostSlots   = 1 << 12
	mostName    = 128
	mostWithout = 64
	mostBeat    = 1 << 13 // bytes
)

// presence keeps track of the workers that are alive, by their recent presence messages. It uses the times at
// which messages arrive here; clocks of machines are not compared.
type presence struct {
	within time.Duration // how recent the last message of a live worker must be
	mu     sync.Mutex
	heard  map[string]heard // the last message of each worker, by name
	hello  func()           // called when a new worker asks for announcements; nil: none
}

// heard is a presence message with the time of its arrival.
type heard struct {
	beat
	at time.Time
}

// listen subscribes to presence messages and records them until the subscription ends.
func (p *presence) listen(nc *nats.Conn) (*nats.Subscription, error) {
	p.heard = map[string]heard{}
	return nc.Subscribe(presenceSubject, func(m *nats.Msg) {
		var b beat
		if len(m.Data) > mostBeat || json.Unmarshal(m.Data, &b) != nil || b.Name == "" || len(b.Name) > mostName || b.Slots < 1 || b.Slots > mostSlots {
			return
		}
		p.mu.Lock()
		if len(p.heard) < mostWorkers || !p.heard[b.Name].at.IsZero() {
			p.heard[b.Name] = heard{b, time.Now()}
		}
		p.mu.Unlock()
		if b.Hello && p.hello != nil {
			p.hello()
		}
	})
}

// able returns the live workers of a version that do not leave the job to others, or all if there are none.
func (p *presence) able(version, job string) []Member {
	workers, _ := p.alive(version)
	p.mu.Lock()
	defer p.mu.Unlock()
	able := slices.DeleteFunc(slices.Clone(workers), func(m Member) bool { return slices.Contains(p.heard[m.Name].Without, job) })
	if len(able) == 0 {
		return workers
	}
	return able
}

// alive returns the live workers of a version, sorted by name, and descriptions of the live workers of other versions.
func (p *presence) alive(version string) (workers []Member, others []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for name, h := range p.heard {
		switch {
		case h.Leaving || time.Since(h.at) > p.within:
			if time.Since(h.at) > 10*p.within {
				delete(p.heard, name)
			}
		case h.Version == version:
			workers = append(workers, Member{h.Name, h.Slots})
		default:
			others = append(others, h.Name+" is of "+h.Version)
		}
	}
	slices.SortFunc(workers, func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
	slices.Sort(others)
	return workers, others
}
