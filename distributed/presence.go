package distributed

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// presenceSubject is where workers say that they are alive.
const presenceSubject = "pare.presence"

// beat is what they say.
type beat struct {
	Name, Version string
	Slots         int
	Leaving       bool // it takes nothing any more
	Hello         bool // it is new, and would like to know who else is there
	// Without lists jobs that it has something amiss with, for others to take.
	Without []string `json:",omitempty"`
}

// Bounds of a beat that is believed.
const (
	mostWorkers = 1 << 16
	mostSlots   = 1 << 12
	mostName    = 128
	mostWithout = 64
	mostBeat    = 1 << 13 // bytes
)

// presence is who is alive, by what was heard lately. Clocks of machines are not compared.
type presence struct {
	within time.Duration // since when somebody must have been heard
	mu     sync.Mutex
	heard  map[string]heard
	hello  func() // called when somebody new asks
}

type heard struct {
	beat
	at time.Time
}

// listen keeps track of who is alive until the subscription ends.
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

// able returns the workers of a version that have nothing amiss with a job, or all where there are none such.
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

// alive returns the workers of a version, by name, and the versions of all others.
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
