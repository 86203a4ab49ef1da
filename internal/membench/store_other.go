//go:build !amd64 && !arm64

package membench

func storeVectors([]byte, uint64) {}

func hasVectors() bool { return false }
