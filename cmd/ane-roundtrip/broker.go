package main

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/internal/engine/broker"
	"github.com/anekit/anekit/internal/engine/broker/server"
)

// brokerVariable names the variable with the socket of a shared broker.
const brokerVariable = broker.Environment

// brokerOptions are the flags of broker.
type brokerOptions struct {
	socket, cache, policy string
	stay                  bool
	linger                time.Duration
}

func (a *app) brokerCommand() *cobra.Command {
	var o brokerOptions
	cmd := &cobra.Command{
		Use:   "broker",
		Short: "Serve the software engine to several processes over a socket",
		Long: `broker serves the software engine to every process of this user that opens the
socket, as the system's broker serves the Neural Engine: programs stay in this
process, tensors stay in the pages of the client that made them. Clients name
the socket with --broker or in` + broker.Environment + `.

It ends some seconds after its last client, or, with --stay, when it is
interrupted.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := together(cmd, "linger", "stay", "which never ends by itself"); err != nil {
				return err
			}
			return a.broker(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.socket, "socket", cmp.Or(os.Getenv(broker.Environment), broker.DefaultPath()),
		"`path` to listen at, in a folder of this user's own")
	f.StringVar(&o.cache, "cache", "", "folder in which compiled programs are kept; none if not given")
	f.StringVar(&o.policy, "policy", "", "JSON file that says which entitlements clients have")
	f.BoolVar(&o.stay, "stay", false, "go on without clients")
	f.DurationVar(&o.linger, "linger", server.DefaultLinger, "how long to wait for the next client")
	return cmd
}

// broker serves until its last client has gone or ctx ends.
func (a *app) broker(ctx context.Context, o brokerOptions) error {
	if o.linger <= 0 {
		return badf("--linger %v; give a time above 0", o.linger)
	}
	c := server.Config{CacheDir: o.cache, Linger: o.linger, Stay: o.stay,
		Log: slog.New(slog.NewTextHandler(a.err, nil))}
	if o.policy != "" {
		p, err := server.ReadPolicy(o.policy)
		if err != nil {
			return bad(err)
		}
		c.Policy = p
	}
	l, err := server.Listen(o.socket)
	if err != nil {
		return bad(err)
	}
	a.logf("serving on %s", l.Path())
	err = server.Serve(ctx, l, c)
	if ctx.Err() != nil && (err == nil || errors.Is(err, ctx.Err())) {
		return nil // an interrupt is how one that stays is ended
	}
	return err
}
