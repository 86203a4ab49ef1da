//go:build !macrules

package host

import (
	"os"
	"strings"
)

const linux, mac = true, false

// Release returns the release of the kernel; empty where it cannot be read.
func Release() string {
	text, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
