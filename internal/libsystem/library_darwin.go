package libsystem

// library returns the path of libSystem. It is in the shared cache, not on disk.
func library() (string, error) { return "/usr/lib/libSystem.B.dylib", nil }
