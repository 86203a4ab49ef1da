// Package bridgetest finds or builds the libraries for tests of the bridge. They are the bridge, the
// stand-in for AppleNeuralEngine, and the stand-in for CoreFoundation and IOSurface. On a machine that
// cannot have them it skips such tests with one line: the reason and the fix.
package bridgetest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/anekit/anekit/internal/bridgedir"
)

// The libraries, named as in objcbridge/build.sh.
const (
	Bridge    = "libanebridge.so"         // Options.Library of objcbridge
	Framework = "libAppleNeuralEngine.so" // Options.Framework of objcbridge
	Surface   = bridgedir.Surface         // CoreFoundation and IOSurface in one
)

// variant is a way of compiling the libraries.
type variant string

const (
	plain     variant = ""
	sanitized variant = "asan"
)

// folders find or build the folder of each variant; a process builds once or fails once.
var folders = map[variant]func() (string, error){
	plain:     sync.OnceValues(func() (string, error) { return find(plain) }),
	sanitized: sync.OnceValues(func() (string, error) { return find(sanitized) }),
}

// bridgeMissing asks needs.sh once for a process: it starts some fifty programs.
var bridgeMissing = sync.OnceValue(func() string { return missing("bridge") })

// Build returns the folder with the libraries: ANEKIT_BRIDGE_DIR if set, or a folder in the user's
// cache. objcbridge/build.sh builds that once for the same sources. Build skips the test if Missing
// returns a reason. It fails the test if the build fails, or if the folder that ANEKIT_BRIDGE_DIR
// names lacks a library.
func Build(tb testing.TB) string {
	tb.Helper()
	return folder(tb, plain, Missing())
}

// BuildSanitized is Build with AddressSanitizer in the libraries; it ignores ANEKIT_BRIDGE_DIR. A
// process can load them only if Sanitizer is preloaded, so a test runs itself again with LD_PRELOAD.
func BuildSanitized(tb testing.TB) string {
	tb.Helper()
	_, reason := Sanitizer()
	return folder(tb, sanitized, reason)
}

func folder(tb testing.TB, v variant, reason string) string {
	tb.Helper()
	if reason != "" {
		tb.Skip(reason)
	}
	dir, err := folders[v]()
	if err != nil {
		tb.Fatalf("bridgetest: %v", err)
	}
	return dir
}

// Missing returns, on one line, why the libraries are unavailable here and how to get them; it is
// empty if Build returns a folder.
func Missing() string {
	if os.Getenv(bridgedir.Env) != "" {
		return ""
	}
	return bridgeMissing()
}

// Folder is Build for a process that runs no test yet. The error says how to get the libraries.
func Folder() (string, error) {
	if reason := Missing(); reason != "" {
		return "", errors.New(reason)
	}
	return find(plain)
}

// find returns the named folder or the one built from the present sources, with all libraries.
func find(v variant) (dir string, err error) {
	if dir = os.Getenv(bridgedir.Env); dir != "" && v == plain {
		dir, err = filepath.Abs(dir)
	} else if dir, err = sources(); err == nil {
		dir, err = cached(dir, v)
	}
	if err != nil {
		return "", err
	}
	return dir, complete(dir)
}

// complete checks that a folder has all three libraries.
func complete(dir string) error {
	for _, name := range []string{Bridge, Framework, Surface} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("%w; `make bridge` builds it", err)
		}
	}
	return nil
}
