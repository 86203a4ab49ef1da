//go:build !race

package kv

// slow divides the work of tests.
const slow = 1
