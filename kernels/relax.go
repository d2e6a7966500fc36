package kernels

// Relax waits for some ten to fifty nanoseconds without yielding the processor. It is for loops that poll for what
// another thread does: with it they leave more of the core to the core's other hardware thread.
func Relax() { relax() }
