package server

import "net"

// Listener is a socket that clients connect to, with the lock that makes its
// broker the only one.
type Listener struct {
	l    net.Listener
	path string
}

// Listen makes the socket of a shared broker.
func Listen(path string) (*Listener, error) {
	return nil, unavailable("listen")
}

// Close ends the socket and removes it.
func (l *Listener) Close() error { return l.l.Close() }

// Path is where clients find the socket.
func (l *Listener) Path() string { return l.path }
