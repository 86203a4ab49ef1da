//go:build cgo

package standin

import "github.com/anekit/anekit/internal/await"

// leftovers returns what the framework still holds at the end of a run. Its
// threads release a result shortly after they have returned it.
func leftovers() []string {
	if process.framework == nil {
		return nil
	}
	return await.Left(process.framework.Leftovers)
}
