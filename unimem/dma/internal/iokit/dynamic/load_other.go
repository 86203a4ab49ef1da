//go:build !((darwin || (linux && cgo)) && (amd64 || arm64))

package dynamic

import "github.com/anekit/anekit/unimem/dma/internal/iokit"

// Load returns ErrNoLoader.
func Load(path string) (*iokit.Table, error) { return nil, ErrNoLoader }
