//go:build macrules && linux && cgo && (amd64 || arm64)

package procmem_test

import (
	"testing"

	"github.com/anekit/anekit/internal/bridgedir"
	"github.com/anekit/anekit/objcbridge/bridgetest"
)

// libraries builds the stand-in and tells where it is.
func libraries(t *testing.T) { t.Setenv(bridgedir.Env, bridgetest.Build(t)) }
