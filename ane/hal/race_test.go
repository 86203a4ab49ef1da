//go:build race

package hal_test

// raceEnabled reports that the race detector is in the binary, which allocates.
const raceEnabled = true
