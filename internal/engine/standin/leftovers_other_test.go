//go:build !linux || !cgo

package standin

// leftovers is nothing: this build has no framework.
func leftovers() []string { return nil }
