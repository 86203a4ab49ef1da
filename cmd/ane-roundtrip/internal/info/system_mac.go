//go:build darwin || macrules

package info

import "github.com/anekit/anekit/internal/libsystem"

// systemVersion returns the version of macOS, such as "27.0.1"; empty if the system does not report it.
func systemVersion() string {
	v, err := libsystem.SysctlString("kern.osproductversion")
	if err != nil {
		return ""
	}
	return v
}
