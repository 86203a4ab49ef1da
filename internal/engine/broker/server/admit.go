package server

import (
	"os"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/driver"
	"github.com/anekit/anekit/internal/engine/broker/server/resources"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/engine/driverabi"
	"github.com/anekit/anekit/internal/numerics"
)

// refuseHello tells why, and ends the session.
func (c *session) refuseHello(f *wire.Frame, err error) error {
	c.Fault(f.ID, err)
	c.log.Info("client refused", "error", err)
	return errEnd
}

// hello admits the client to a tier.
func (c *session) hello(payload []byte, fds wire.Descriptors) (wire.Payload, error) {
	var p wire.Hello
	if err := wire.Parse(payload, &p); err != nil {
		return nil, err
	}
	if p.Version != wire.Version {
		return nil, &ane.Error{Op: "hello", Engine: Name, Err: ane.ErrUnavailable,
			Detail: "another version of the protocol",
			Hint:   "run broker and client of one release"}
	}
	if err := c.grant.Open(driverabi.Tier(p.Tier)); err != nil {
		return nil, err
	}
	c.grant.mode = numerics.Mode(p.Numerics)
	if err := c.canImitate(c.grant.mode); err != nil {
		return nil, err
	}
	if err := c.place(c); err != nil {
		return nil, err
	}
	if err := c.openBell(fds); err != nil {
		return nil, err
	}
	dev, err := resources.OpenDevice(c.driver, c.stamp())
	if dev != nil {
		c.open(dev)
	}
	if err != nil {
		return nil, err
	}
	c.admitted.Store(true)
	if c.Bell != nil {
		c.listen()
	}
	i := resources.InfoOf(c.info, c.grant.mode)
	c.log.Debug("client admitted", "tier", c.grant.Tier, "executable", p.Executable)
	return &wire.HelloReply{Version: wire.Version, PID: uint32(os.Getpid()), Tier: string(c.grant.Tier),
		Identity: c.grant.ID.String(), Chip: i.Chip, OSBuild: i.OSBuild, Numerics: i.Numerics,
		Queued: driverabi.QueueDepth, Bell: c.Bell != nil}, nil
}

// stamp is what the driver notes of the client when it attaches, for its own checks.
func (c *session) stamp() driver.ClientInfo {
	return driver.ClientInfo{
		Privileged:        true, // the broker holds the gate's entitlement, on behalf of its clients
		RealTime:          c.grant.Has(driverabi.EntitlementRealTime),
		AllowDataChaining: c.grant.Has(driverabi.EntitlementDataChaining),
		Restricted:        c.grant.Tier == driverabi.Restricted, Identity: c.grant.ID.String(), Wake: c.calls.Woken,
	}
}

// place gives a client that has introduced itself one of the places, until it leaves.
func (s *server) place(one *session) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.active.Load() >= int64(s.conf.clients) {
		return resources.Exhausted("admit", "", "clients", s.conf.clients, "wait until another client has gone")
	}
	one.placed = true
	if s.idle != nil {
		s.idle.Stop()
	}
	s.active.Add(1)
	s.counts.clients.Add(1)
	return nil
}

// allowArguments refuses arguments of an instance or a load that are not for the client.
func (g *grant) allowArguments(op string, a wire.Arguments) error {
	if !a.Aggressive {
		return nil
	}
	return g.AllowRestricted(op, driverabi.EntitlementAggressivePower)
}
