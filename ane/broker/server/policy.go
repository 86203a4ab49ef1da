package server

import (
	"slices"
	"strconv"
)

// Tier is the service that a client opens.
type Tier uint8

const (
	// Unrestricted serves compiling, loading, evaluating and purging of a
	// client's own programs.
	Unrestricted Tier = iota
	// Restricted serves, besides, real-time priority, adapters, aggressive power
	// saving, wired memory and purging what other identities left.
	Restricted
	// PerUser is Unrestricted at the broker of a user's session.
	PerUser
)

// tierNames are the names in policies and messages.
var tierNames = [...]string{Unrestricted: "unrestricted", Restricted: "restricted", PerUser: "per-user"}

// String is the tier's name.
func (t Tier) String() string {
	if int(t) < len(tierNames) {
		return tierNames[t]
	}
	return "tier " + strconv.Itoa(int(t))
}

// Entitlements that the broker asks for, by the names of table 27.8.
const (
	// Baseline: compile, load and instantiate, and open the restricted tier.
	Baseline = "com.apple.aned.private.allow"
	// AdapterWeight: instances of a base model with their own weights.
	AdapterWeight = "com.apple.aned.private.adapterWeight.allow"
	// ModelShare: one program in memory for several processes.
	ModelShare = "com.apple.aned.private.processModelShare.allow"
	// LongCompiler: more time for a compile.
	LongCompiler = "com.apple.aned.private.secondaryANECompilerServiceAccess.allow"
	// PowerSaving: the aggressive power saving of an instance.
	PowerSaving = "com.apple.aned.private.aggressivePowerSaving"
	// PurgeAll: purge what other identities have cached.
	PurgeAll = "com.apple.aned.private.modelPurgeInAllPartitions"
	// RealTime: requests at the priority of real time; table 27.7.
	RealTime = "com.apple.ane.realtime-priority-client"
	// DataChaining: the resident chaining of the direct path.
	DataChaining = "com.apple.ane.allow-dataChaining-access"
)

// Grant gives entitlements to the clients it matches. Empty fields match all.
type Grant struct {
	User         string   `json:"user,omitempty"`       // a number; "" or "*" is every user
	Executable   string   `json:"executable,omitempty"` // SHA-256 in hex; "" or "*" is every one
	Tiers        []string `json:"tiers,omitempty"`      // where it holds; none is every tier
	Entitlements []string `json:"entitlements"`
}

// Policy is what a broker grants: the entitlements of every Grant that matches.
// It does not change while a broker uses it.
type Policy struct {
	Grants []Grant `json:"grants"`
}

// SharedPolicy grants the baseline to every client that is admitted, which is
// what unsigned programs get on a Mac, and nothing else.
func SharedPolicy() *Policy {
	return &Policy{Grants: []Grant{{Entitlements: []string{Baseline}}}}
}

// OwnerPolicy grants everything: the broker's only client is the process that
// started it for itself.
func OwnerPolicy() *Policy {
	return &Policy{Grants: []Grant{{Entitlements: known()}}}
}

// Allows reports whether a client has an entitlement in a tier.
func (p *Policy) Allows(id Identity, tier Tier, entitlement string) bool {
	for _, g := range p.Grants {
		if g.matches(id, tier) && slices.Contains(g.Entitlements, entitlement) {
			return true
		}
	}
	return false
}

func (g *Grant) matches(id Identity, tier Tier) bool {
	all := func(s string) bool { return s == "" || s == "*" }
	return (all(g.User) || g.User == strconv.FormatUint(uint64(id.User), 10)) &&
		(all(g.Executable) || g.Executable == id.executable()) &&
		(len(g.Tiers) == 0 || slices.Contains(g.Tiers, tier.String()))
}
