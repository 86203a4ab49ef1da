//go:build race

package metal

// racing: the race detector is on.
const racing = true
