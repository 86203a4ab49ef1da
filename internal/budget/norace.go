//go:build !race

package budget

// Race reports that the race detector is in the binary.
const Race = false
