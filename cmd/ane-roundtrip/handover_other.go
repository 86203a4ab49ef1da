//go:build !linux || cgo

package main

// handOver does nothing: this binary can load libraries itself, or nothing here
// needs one.
func handOver([]string) {}
