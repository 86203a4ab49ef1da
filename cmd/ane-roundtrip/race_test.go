//go:build race

package main

// raceDetector reports whether the race detector is on, under which a test takes several times as long.
const raceDetector = true
