//go:build !race

package hal_test

const raceEnabled = false
