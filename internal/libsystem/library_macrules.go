//go:build macrules && linux && cgo && (amd64 || arm64)

package libsystem

import (
	"fmt"

	"github.com/anekit/anekit/internal/bridgedir"
)

// library returns the path of the stand-in.
func library() (string, error) {
	path, err := bridgedir.Host().Find(bridgedir.Surface)
	if err != nil {
		return "", fmt.Errorf("no stand-in for libSystem: %w; %s", err, bridgedir.Remedy)
	}
	return path, nil
}
