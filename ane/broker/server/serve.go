package server

import "context"

// Serve answers the clients of l until ctx ends, or, unless Config.Stay, until
// there was none for Config.Linger. It closes l and everything else it had.
func Serve(ctx context.Context, l *Listener, c Config) error {
	_, _, _ = ctx, l, c.settled(SharedPolicy())
	return unavailable("serve")
}
