//go:build cgo

package standin

// writtenErrors are dumps of errors.
var writtenErrors = map[string]writtenReplay{}
