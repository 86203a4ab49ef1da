//go:build race

package mactypes

// racing: the race detector is on.
const racing = true
