//go:build darwin || macrules

package main

import "golang.org/x/sys/unix"

// systemVersion returns the version of macOS, such as "27.0.1"; empty if the system does not report it.
func systemVersion() string {
	v, err := unix.Sysctl("kern.osproductversion")
	if err != nil {
		return ""
	}
	return v
}
