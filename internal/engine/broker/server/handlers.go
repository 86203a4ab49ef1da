package server

import (
	"github.com/anekit/anekit/internal/engine/broker/server/resources"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// Name is what errors of this package give as the engine.
const Name = resources.Name

// to parses a frame and has do answer it.
func to[Q, A any](f *wire.Frame, do func(*Q) (A, error)) (wire.Payload, error) {
	var q Q
	if err := wire.Parse(f.Payload, &q); err != nil {
		return nil, err
	}
	return do(&q)
}

// answer is route for an admitted client and everything but evaluations. Without an error, a nil payload means that a
// goroutine answers.
func (c *session) answer(f *wire.Frame, fds wire.Descriptors) (wire.Payload, error) {
	switch f.Kind {
	case wire.KindChain:
		return nil, c.chain(f)
	case wire.KindCancel:
		return to(f, c.calls.Cancel)
	case wire.KindSurface:
		return to(f, func(q *wire.Surface) (*wire.Empty, error) { return c.has.Surfaces.Add(q, fds) })
	case wire.KindDrop:
		return to(f, c.has.Surfaces.Drop)
	case wire.KindCompile:
		own := *f // outlives this call; if f did, every frame would cost memory
		return nil, c.compile(&own, fds)
	case wire.KindInstance:
		own := *f
		return nil, c.instance(&own, fds)
	case wire.KindLoad:
		return to(f, c.load)
	case wire.KindUnload:
		return to(f, c.has.Programs.Unload)
	case wire.KindRelease:
		return to(f, c.has.Programs.Release)
	case wire.KindBind:
		return to(f, c.has.Requests.Bind)
	case wire.KindUnbind:
		return to(f, c.has.Requests.Unbind)
	case wire.KindPurge:
		return to(f, c.purge)
	case wire.KindStats:
		return c.stats(f.Payload)
	case wire.KindPing: // a broker that is busy answers, and one that hangs does not
		return to(f, func(q *wire.Empty) (*wire.Empty, error) { return q, nil })
	}
	return nil, &wire.Error{Op: "receive", Kind: f.Kind, Err: wire.ErrKind, Detail: f.Kind.String() + " is no request",
		Hint: "send what a client sends"}
}

// chain starts a chain.
func (c *session) chain(f *wire.Frame) error {
	var q wire.Chain
	if err := wire.Parse(f.Payload, &q); err != nil {
		return err
	}
	if err := c.grant.Allow("chain", driverabi.EntitlementDataChaining); err != nil {
		return err
	}
	return c.calls.Chain(f.ID, &q)
}

// load makes a program ready to run.
func (c *session) load(q *wire.Load) (*wire.Loaded, error) {
	if err := c.grant.AllowBaseline("load"); err != nil {
		return nil, err
	}
	if q.QoS == driverabi.QoSRealTime {
		if err := c.grant.AllowRestricted("load", driverabi.EntitlementRealTime); err != nil {
			return nil, err
		}
	}
	if err := c.grant.allowArguments("load", q.Args); err != nil {
		return nil, err
	}
	// A client that asks for no depth has the limit of one alone; others get no more than their part.
	depth := driverabi.QueueDepth
	if wanted := int(q.Args.QueueDepth); wanted > 0 {
		depth = max(1, min(wanted, depth/max(1, int(c.active.Load()))))
	}
	return c.has.Programs.Load(q, depth)
}

// PurgeEverybody is the key by which a client with the entitlement for it purges the
// programs of all identities.
const PurgeEverybody = "*"

// purge removes programs from the cache, and hides those in memory from later
// compiles. Clients that run one go on: a purge never ends a run.
func (c *session) purge(q *wire.Purge) (*wire.Purged, error) {
	identity, one := c.grant.ID.String(), (*resources.Key)(nil)
	switch q.Key {
	case "":
	case PurgeEverybody:
		if err := c.grant.Allow("purge", driverabi.EntitlementPurgeAllPartitions); err != nil {
			return nil, err
		}
		identity = ""
	default:
		key, err := resources.ParseKey(q.Key)
		if err != nil {
			return nil, err
		}
		one = &key
	}
	c.live.Purge(identity, one)
	files, bytes := c.cache.Purge(identity, one)
	return &wire.Purged{Programs: files, Bytes: bytes}, nil
}
