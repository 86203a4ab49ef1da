//go:build race

package kv

// slow divides the work of tests, because the race detector takes ten times as long.
const slow = 10
