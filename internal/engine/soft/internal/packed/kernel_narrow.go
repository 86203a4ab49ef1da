//go:build !amd64

package packed

// No kernel is AVX2 or wider, and so none of these is called.

func split(int, *parts) (wrong, inexact bool)          { return false, false }
func fixGroups(int, *fixing) (most uint32, steep bool) { return 0, false }
func fixedRows(int, int, int, *fixes)                  {}
func expand(int, int, *dots)                           {}
func multiply(int, int, *dots)                         {}
func words(*wording) (most uint32, steep bool)         { return 0, false }
func panel(int, *paneling)                             {}
func tile(int, int, *tiling)                           {}
func wordRows(int, *wordy)                             {}
