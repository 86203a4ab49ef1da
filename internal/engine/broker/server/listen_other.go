//go:build !linux || macrules

package server

// Listener is a socket that clients connect to; this system has none.
type Listener struct{ path string }

// Listen answers ane.ErrUnavailable: memory is passed between processes on Linux
// only.
func Listen(string) (*Listener, error) { return nil, unavailable("listen") }

// Inherit returns nil: no process passes a socket here.
func Inherit() (*Listener, error) { return nil, nil }

// Close does nothing.
func (l *Listener) Close() error { return nil }

// Path is where clients would find the socket.
func (l *Listener) Path() string { return l.path }

func (l *Listener) accept() (int, error) { return -1, unavailable("accept") }

func (l *Listener) lost() (detail, hint string) { return "", "" }

func (l *Listener) ended() bool { return false }
