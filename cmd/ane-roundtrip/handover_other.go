//go:build !linux || cgo

package main

// handOver does nothing: a binary with cgo loads the bridge library itself, and systems other
// than Linux have no stand-in.
func handOver([]string) {}
