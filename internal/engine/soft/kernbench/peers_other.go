//go:build !linux && !darwin

package main

// openBLAS needs a library that is loaded at run time.
func openBLAS() (p peer, skipped string) { return peer{name: "OpenBLAS"}, "not on this system" }
