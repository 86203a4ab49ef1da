//go:build cgo

package standin

// leftovers is what the framework still holds at the end of a run.
func leftovers() []string {
	if process.framework == nil {
		return nil
	}
	return process.framework.Leftovers()
}
