//go:build !unix

package cli

import "os"

// mayBeClosed reports nothing here: a write to a closed standard output fails.
func mayBeClosed(*os.File) bool { return false }
