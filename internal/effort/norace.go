//go:build !race

package effort

// Race reports that the race detector is in the binary.
const Race = false
