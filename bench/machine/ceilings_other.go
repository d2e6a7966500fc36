//go:build !amd64 || purego

package machine

func fastest() loops { return portable() }
