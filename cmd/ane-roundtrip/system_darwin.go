package main

import "golang.org/x/sys/unix"

// systemVersion is the version of macOS, such as "27.0.1", empty where it is not told.
func systemVersion() string {
	v, err := unix.Sysctl("kern.osproductversion")
	if err != nil {
		return ""
	}
	return v
}
