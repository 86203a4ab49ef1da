//go:build race

package effort

// Race reports that the race detector is in the binary, which then is slower and allocates more.
const Race = true
