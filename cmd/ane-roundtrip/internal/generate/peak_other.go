//go:build !unix

package generate

// PeakMemory is 0: the system does not say.
func PeakMemory() int64 { return 0 }
