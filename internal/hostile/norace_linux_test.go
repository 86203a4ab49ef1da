//go:build !race

package hostile

// raceDetector: this binary has the race detector.
const raceDetector = false
