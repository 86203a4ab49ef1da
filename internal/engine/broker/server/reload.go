package server

import (
	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/driver"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// reload reads the policy again for each signal, until the broker ends. A policy that cannot be read changes nothing.
func (s *server) reload() {
	for {
		select {
		case <-s.watching:
			return
		case <-s.conf.Reload:
			if err := s.readPolicy(); err != nil {
				s.counts.policiesRefused.Add(1)
				s.conf.Log.Error("policy not read, the one before stays in force", "error", err)
				continue
			}
			s.counts.policies.Add(1)
			s.conf.Log.Info("policy read", "grants", len(s.policy.Load().Grants))
		}
	}
}

// readPolicy puts another policy in force.
func (s *server) readPolicy() error {
	if s.conf.ReadPolicy == nil {
		return &ane.Error{Op: "policy", Engine: Name, Err: ane.ErrName, Detail: "the broker was started without a file",
			Hint: "start it with --policy FILE"}
	}
	p, err := s.conf.ReadPolicy()
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.policy.Store(p)
	for one := range s.sessions {
		one.entitle()
	}
	return nil
}

// hold notes the driver's client of a session, for policies that come later.
func (c *session) hold(dev *driver.Client) {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	c.holder = dev
	c.entitle() // a policy may have come since the grant was asked
}

// entitle tells the driver what the policy in force grants. The caller holds the server's lock.
func (c *session) entitle() {
	if c.holder != nil {
		c.holder.Entitle(c.grant.allows(driverabi.EntitlementRealTime),
			c.grant.allows(driverabi.EntitlementDataChaining))
	}
}
