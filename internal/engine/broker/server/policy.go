package server

import (
	"slices"
	"strconv"

	"github.com/anekit/anekit/internal/engine/driverabi"
)

// Tiers are the services that a client may open. Restricted serves what Unrestricted
// does and, besides, real-time priority, adapters, shared models and aggressive power
// saving. PerUser is Unrestricted at the broker of a
// user's session, which this broker is to all its clients.
func Tiers() []driverabi.Tier {
	return []driverabi.Tier{driverabi.Restricted, driverabi.Unrestricted, driverabi.PerUser}
}

// Grant gives entitlements to the clients it matches. Empty fields match all.
type Grant struct {
	User         string           `json:"user,omitempty"`       // a number; "" or "*" is every user
	Executable   string           `json:"executable,omitempty"` // SHA-256 in hex; "" or "*" is every one
	Tiers        []driverabi.Tier `json:"tiers,omitempty"`      // where it holds; none is every tier
	Entitlements []string         `json:"entitlements"`
}

// Policy is what a broker grants: the entitlements of every Grant that matches.
// It does not change while a broker uses it.
//
// The broker asks for
//
//	compile, load, instance       EntitlementBaseline (table 27.8)
//	the restricted tier           EntitlementBaseline
//	loading at real time          EntitlementRealTime, restricted tier
//	instances with own weights    EntitlementAdapterWeight, restricted tier
//	aggressive power saving       EntitlementAggressivePower, restricted tier
//	one program in memory for     EntitlementProcessModelShare, restricted tier; without
//	several processes             it each connection has its own
//	compiles beyond a minute      EntitlementSecondaryCompiler
//	purging other identities'     EntitlementPurgeAllPartitions
//	chains of requests            EntitlementDataChaining
//
// of package driverabi. Section 10 of the facts saw unsigned programs compile and
// load without any; SharedPolicy therefore grants the baseline to every client, and a
// policy without that grant takes it away.
type Policy struct {
	Grants []Grant `json:"grants"`
}

// SharedPolicy grants every client that is admitted the baseline and programs shared
// with other processes of its identity, and nothing else.
func SharedPolicy() *Policy {
	return &Policy{Grants: []Grant{{Entitlements: []string{driverabi.EntitlementBaseline,
		driverabi.EntitlementProcessModelShare}}}}
}

// OwnerPolicy grants everything: the broker's only client is the process that
// started it for itself.
func OwnerPolicy() *Policy {
	return &Policy{Grants: []Grant{{Entitlements: known()}}}
}

// Allows reports whether a client has an entitlement in a tier.
func (p *Policy) Allows(id Identity, tier driverabi.Tier, entitlement string) bool {
	for _, g := range p.Grants {
		if g.matches(id, tier) && slices.Contains(g.Entitlements, entitlement) {
			return true
		}
	}
	return false
}

// all reports whether a field of a Grant matches every client.
func all(s string) bool { return s == "" || s == "*" }

func (g *Grant) matches(id Identity, tier driverabi.Tier) bool {
	return (all(g.User) || g.User == strconv.FormatUint(uint64(id.User), 10)) &&
		(all(g.Executable) || g.Executable == id.executable()) &&
		(len(g.Tiers) == 0 || slices.Contains(g.Tiers, tier))
}

// known lists the entitlements of package driverabi.
func known() []string {
	var keys []string
	for _, e := range driverabi.Entitlements() {
		keys = append(keys, e.Key)
	}
	slices.Sort(keys)
	return keys
}
