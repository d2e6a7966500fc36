// Package machine describes the machine of a measurement, and measures the best rates of its processor:
// arithmetic from registers, and reads and triads from each cache and from memory, in loops that do nothing
// else. These ceilings give a kernel's rate a meaning on an unknown machine.
package machine

import (
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/klauspost/cpuid/v2"

	"github.com/seed-45b9a24c/pare/kernels"
)

// Machine describes where a measurement was made.
type Machine struct {
	CPU        string   `json:"cpu"`
	OS         string   `json:"os"`
	Arch       string   `json:"arch"`
	Cores      int      `json:"cores"` // number that this process may use at once
	Hypervisor string   `json:"hypervisor,omitempty"`
	Governor   string   `json:"governor,omitempty"`
	Load       string   `json:"load,omitempty"` // averages over 1, 5 and 15 minutes
	Go         string   `json:"go"`
	Revision   string   `json:"revision,omitempty"` // of this module, if the build records it
	Caches     []Cache  `json:"caches"`
	Features   []string `json:"features"`
	Sets       []string `json:"kernels"` // available, slowest first
	Active     string   `json:"active"`  // the default set
}

// Cache is one level of the data caches, as one core sees it.
type Cache struct {
	Level int `json:"level"`
	Bytes int `json:"bytes"`
}

// Describe queries the processor and the operating system.
func Describe() Machine {
	c := cpuid.CPU
	m := Machine{
		CPU: strings.TrimSpace(c.BrandName), OS: runtime.GOOS, Arch: runtime.GOARCH, Cores: runtime.GOMAXPROCS(0),
		Hypervisor: strings.TrimSpace(c.HypervisorVendorString), Go: runtime.Version(), Features: c.FeatureSet(),
		Governor: firstLine("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"), Load: Load(), Caches: caches(),
	}
	for _, k := range kernels.Available() {
		m.Sets = append(m.Sets, k.Name)
	}
	if k, err := kernels.Active(); err == nil {
		m.Active = k.Name
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				m.Revision = s.Value
			case s.Key == "vcs.modified" && s.Value == "true":
				m.Revision += " (modified)"
			}
		}
	}
	return m
}

// Load returns the load averages, "" if they are not available.
func Load() string {
	fields := strings.Fields(firstLine("/proc/loadavg"))
	return strings.Join(fields[:min(3, len(fields))], " ")
}

func caches() []Cache {
	var found []Cache
	for i, bytes := range []int{cpuid.CPU.Cache.L1D, cpuid.CPU.Cache.L2, cpuid.CPU.Cache.L3} {
		if bytes > 0 {
			found = append(found, Cache{i + 1, bytes})
		}
	}
	return found
}

func firstLine(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimSpace(line)
}
