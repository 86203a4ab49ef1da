//go:build !linux && !darwin

package unimem

func (s *surface) twice() ([]byte, func() error, error) { return s.base.twice() }
