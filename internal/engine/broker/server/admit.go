package server

import (
	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/driverabi"
	"github.com/anekit/anekit/internal/engine/broker/driver"
	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// refuseHello tells why, and ends the session.
func (c *session) refuseHello(f *wire.Frame, err error) error {
	c.fault(f.ID, err)
	c.log.Info("client refused", "error", err)
	return errEnd
}

// hello admits the client to a tier.
func (c *session) hello(f *wire.Frame, fds wire.Descriptors) error {
	var p wire.Hello
	if err := p.Parse(f.Payload); err != nil {
		return err
	}
	if p.Version != wire.Version {
		return &ane.Error{Op: "hello", Engine: Name, Err: ane.ErrUnavailable, Detail: "another version of the protocol",
			Hint: "run broker and client of one release"}
	}
	if err := c.choose(driverabi.Tier(p.Tier)); err != nil {
		return err
	}
	if err := c.hang(fds); err != nil {
		return err
	}
	allows := func(key string) bool { return c.conf.Policy.Allows(c.id, c.tier, key) }
	dev, err := openDevice(c.driver, driver.ClientInfo{
		Privileged: true, // the broker holds the gate's entitlement, on behalf of its clients
		RealTime:   allows(driverabi.EntitlementRealTime), AllowDataChaining: allows(driverabi.EntitlementDataChaining),
		Restricted: c.tier == driverabi.Restricted, Identity: c.id.String(), Wake: c.woken,
	})
	c.dev = dev
	if err != nil {
		return err
	}
	c.greeted.Store(0)
	if c.bell != nil {
		c.ringer.Go(c.ring)
	}
	i := c.server.info
	c.log.Debug("client admitted", "tier", c.tier, "executable", p.Executable)
	return c.reply(f, &wire.HelloReply{Version: wire.Version, Session: c.number, PID: pid(), Tier: string(c.tier), Identity: c.id.String(),
		Engine: i.Name, Chip: i.Chip, OSBuild: i.OSBuild, Numerics: i.Numerics, Sharing: i.Sharing,
		Limits: wire.Limits{Surfaces: MaxSurfaces, Programs: MaxPrograms, Requests: MaxRequests, Queued: driverabi.QueueDepth, PinnedBytes: c.conf.PinBytes},
		Bell:   c.bell != nil})
}

// choose finds the tier of a client that asked for one, or for the best it may have.
func (c *session) choose(wanted driverabi.Tier) error {
	mayRestricted := c.conf.Policy.Allows(c.id, driverabi.Restricted, driverabi.EntitlementBaseline)
	switch wanted {
	case "":
		c.tier = driverabi.Unrestricted
		if mayRestricted {
			c.tier = driverabi.Restricted
		}
	case driverabi.Restricted:
		c.tier = wanted
		if !mayRestricted {
			return denied("hello", driverabi.EntitlementBaseline, wanted)
		}
	case driverabi.Unrestricted, driverabi.PerUser:
		c.tier = wanted
	default:
		return &ane.Error{Op: "hello", Engine: Name, Name: string(wanted), Err: ane.ErrName, Detail: "no such tier",
			Hint: "ask for restricted, unrestricted, per-user, or none"}
	}
	return nil
}

// allow refuses what needs an entitlement that the client lacks. Table of methods:
// Policy.
func (c *session) allow(op, entitlement string) error {
	if !c.conf.Policy.Allows(c.id, c.tier, entitlement) {
		return denied(op, entitlement, c.tier)
	}
	return nil
}

// allowArguments refuses arguments of an instance or a load that are not for the client.
func (c *session) allowArguments(op string, a wire.Arguments) error {
	if !a.Aggressive {
		return nil
	}
	return c.allowRestricted(op, driverabi.EntitlementAggressivePower)
}

// allowRestricted is allow for what the restricted tier alone serves.
func (c *session) allowRestricted(op, entitlement string) error {
	if c.tier != driverabi.Restricted {
		return denied(op, entitlement, c.tier)
	}
	return c.allow(op, entitlement)
}
