package safetensors

import "os"

// openSource opens a file for reading past the page cache if direct is set and the file system
// permits it, and reports whether it does.
func openSource(path string, direct bool) (source, bool, error) {
	if direct {
		if f, err := openDirect(path); err == nil {
			return f, true, nil
		}
	}
	f, err := os.Open(path)
	return f, false, err
}
