//go:build !linux && !darwin

package wire

// PeerOf answers ErrUnsupported.
func PeerOf(fd int) (Credentials, error) { return Credentials{}, unsupported("peer") }
