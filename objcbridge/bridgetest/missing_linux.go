//go:build cgo && (amd64 || arm64)

package bridgetest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// What build.sh needs: programs by name, files by path, and the Debian packages that bring them.
var needed = []struct{ what, pack string }{
	{"clang-14", "clang-14"},
	{"gcc", "gobjc"},
	{"gnustep-config", "libgnustep-base-dev"},
	{"/usr/include/Block.h", "libblocksruntime-dev"},
}

// missing looks for these and for a folder to build in.
func missing() string {
	var what, packages []string
	for _, n := range needed {
		_, err := exec.LookPath(n.what)
		if filepath.IsAbs(n.what) {
			_, err = os.Stat(n.what)
		}
		if err != nil {
			what, packages = append(what, n.what), append(packages, n.pack)
		}
	}
	if len(what) > 0 {
		return fmt.Sprintf("no bridge library: no %s here; `make bridge`, or on Debian: apt-get install --no-install-recommends %s",
			strings.Join(what, ", no "), strings.Join(packages, " "))
	}
	if _, err := os.UserCacheDir(); err != nil {
		return fmt.Sprintf("no bridge library: %v; set HOME, or after `make bridge` set ANEKIT_BRIDGE_DIR", err)
	}
	return ""
}

// Sanitizer returns the path of the AddressSanitizer runtime that a process preloads before it loads
// sanitized libraries, or the reason why there is none.
func Sanitizer() (path, reason string) {
	if reason := missing(); reason != "" {
		return "", reason
	}
	machine := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
	out, err := exec.Command("clang-14", "-print-file-name=libclang_rt.asan-"+machine+".so").Output()
	path = strings.TrimSpace(string(out))
	if err != nil || !filepath.IsAbs(path) {
		return "", "no AddressSanitizer for clang-14; on Debian: apt-get install --no-install-recommends libclang-rt-14-dev"
	}
	return path, ""
}
