//go:build !linux || !cgo

package standin

// leftovers returns nil: this build has no framework.
func leftovers() []string { return nil }
