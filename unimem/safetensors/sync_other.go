//go:build !unix

package safetensors

// syncFolder does nothing: these systems open no folders.
func syncFolder(string) error { return nil }
