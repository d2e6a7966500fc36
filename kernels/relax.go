package kernels

// Relax waits for some ten to fifty nanoseconds without giving the processor away. It is for loops that look again and
// again at what another thread does: they leave more of the core to its other thread.
func Relax() { relax() }
