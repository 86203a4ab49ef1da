//go:build !(((darwin && !ios) || (linux && cgo && !android)) && (amd64 || arm64))

package objcbridge

import (
	"github.com/anekit/anekit/internal/host"
)

// This build cannot load libraries, so load fails before it calls the functions
// below.
const (
	cannotLoad = "this " + host.Platform + " binary cannot load libraries"
	howToLoad  = "on Linux for amd64 and arm64 build it with CGO_ENABLED=1 and run `make bridge`; on macOS any build " +
		"can; other systems have no bridge"
)

func openLibrary(string) (uintptr, error) {
	return 0, &unavailable{why: cannotLoad, fix: howToLoad}
}

func findSymbol(uintptr, string) uintptr { return 0 }

func call(uintptr, ...uintptr) int32 { return int32(KindMissing) }
