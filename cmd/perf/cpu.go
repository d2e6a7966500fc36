package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/seed-45b9a24c/pare/bench/machine"
)

type cpuCommand struct {
	JSON bool `name:"json" help:"One JSON object."`
}

func (c *cpuCommand) run(_ context.Context, env environment) error {
	m := machine.Describe()
	if c.JSON {
		return env.json(m)
	}
	writeMachine(env, m)
	fmt.Fprintf(env.stdout, "features    %s\n", strings.Join(m.Features, " "))
	return nil
}

// writeMachine writes the heading of every report, since a figure means nothing without the machine it was
// measured on.
func writeMachine(env environment, m machine.Machine) {
	caches := make([]string, 0, len(m.Caches))
	for _, c := range m.Caches {
		caches = append(caches, fmt.Sprintf("L%d %s", c.Level, size(c.Bytes)))
	}
	for _, line := range [][2]string{
		{"processor", fmt.Sprintf("%s, %d cores for this process", m.CPU, m.Cores)},
		{"caches", strings.Join(caches, ", ")},
		{"system", fmt.Sprintf("%s/%s, %s", m.OS, m.Arch, m.Go)},
		{"hypervisor", m.Hypervisor},
		{"governor", m.Governor},
		{"load", m.Load},
		{"revision", m.Revision},
		{"kernels", fmt.Sprintf("%s (available: %s)", m.Active, strings.Join(m.Sets, ", "))},
	} {
		if line[1] != "" {
			fmt.Fprintf(env.stdout, "%-11s %s\n", line[0], line[1])
		}
	}
}

// size formats a number of bytes.
func size(bytes int) string {
	switch {
	case bytes >= 1<<20:
		return fmt.Sprintf("%.4g MiB", float64(bytes)/(1<<20))
	case bytes >= 1<<10:
		return fmt.Sprintf("%.4g KiB", float64(bytes)/(1<<10))
	default:
		return fmt.Sprintf("%d B", bytes)
	}
}
