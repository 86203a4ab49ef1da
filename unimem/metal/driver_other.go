//go:build !(darwin && cgo)

package metal

// system returns ErrUnavailable.
func system() (*driver, error) { return nil, ErrUnavailable }
