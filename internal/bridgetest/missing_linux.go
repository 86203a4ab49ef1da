//go:build cgo && (amd64 || arm64)

package bridgetest

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// missing returns what prevents build.sh from building a library of this kind here, or "".
func missing(kind string) string {
	root, err := sources()
	if err != nil {
		return "no bridge library: " + err.Error()
	}
	out, err := exec.Command("/bin/sh", filepath.Join(root, "needs.sh"), "--list", kind).Output()
	if err != nil {
		return "no bridge library: needs.sh: " + err.Error()
	}
	if packages := strings.Fields(string(out)); len(packages) > 0 {
		return "no bridge library: packages are missing; run `make bridge`, or on Debian: " +
			"apt-get install --no-install-recommends " + strings.Join(packages, " ")
	}
	if _, err := os.UserCacheDir(); err != nil {
		return "no bridge library: " + err.Error() + "; set HOME, or after `make bridge` set ANEKIT_BRIDGE_DIR"
	}
	return ""
}

// Sanitizer returns the path of the AddressSanitizer runtime, or the reason why there is none. A
// process preloads it before it loads sanitized libraries.
func Sanitizer() (path, reason string) {
	if reason := missing("sanitize"); reason != "" {
		return "", reason
	}
	machine := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
	out, err := exec.Command("clang-14", "-print-file-name=libclang_rt.asan-"+machine+".so").Output()
	path = strings.TrimSpace(string(out))
	if err != nil {
		return "", "no AddressSanitizer: " + err.Error()
	}
	return path, ""
}
