//go:build !(darwin && cgo)

package metal

// system answers ErrUnavailable.
func system() (*driver, error) { return nil, ErrUnavailable }
