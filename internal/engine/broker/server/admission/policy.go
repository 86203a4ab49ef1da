package admission

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/anekit/anekit/ane"
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
// It does not change while a broker uses it. docs/BROKER.md has a table of what each entitlement is for.
type Policy struct {
	Grants []Grant `json:"grants"`
}

// SharedPolicy grants every admitted client the baseline, since unsigned programs compile and load without any
// entitlement. It also lets the client share programs with other processes of its identity.
func SharedPolicy() *Policy {
	return &Policy{Grants: []Grant{{Entitlements: []string{driverabi.EntitlementBaseline,
		driverabi.EntitlementProcessModelShare}}}}
}

// OwnerPolicy grants everything: the broker's only client is the process that
// started it for itself.
func OwnerPolicy() *Policy {
	var all []string
	for _, key := range driverabi.Entitlements() {
		if Absent(key) == "" {
			all = append(all, key)
		}
	}
	return &Policy{Grants: []Grant{{Entitlements: all}}}
}

// Absent is why no client can have an entitlement of package driverabi: what the broker has nothing of. It is "" for
// one that a policy may grant.
func Absent(entitlement string) string {
	switch entitlement {
	case driverabi.EntitlementOpen:
		return "the broker alone opens the device"
	case driverabi.EntitlementReservedPriorities:
		return "no quality of service has a priority that is reserved to the system"
	case driverabi.EntitlementMemory:
		return "clients pass memory by its descriptors, which need no grant"
	case driverabi.EntitlementData:
		return "clients pass data in memory of their own, which needs no grant"
	case driverabi.EntitlementClientHints:
		return "no message of a client has a hint"
	case driverabi.EntitlementCoalitionHints:
		return "processes have no coalitions"
	case driverabi.EntitlementUserClientException:
		return "clients have no direct path to the driver"
	case driverabi.EntitlementTrustCacheClient:
		return "there is no trust cache"
	}
	return ""
}

// Allows reports whether a client has an entitlement in a tier.
func (p *Policy) Allows(id Identity, tier driverabi.Tier, entitlement string) bool {
	return slices.ContainsFunc(p.Grants, func(g Grant) bool {
		return (all(g.User) || g.User == strconv.FormatUint(uint64(id.User), 10)) &&
			(all(g.Executable) || g.Executable == id.executable()) &&
			(len(g.Tiers) == 0 || slices.Contains(g.Tiers, tier)) &&
			slices.Contains(g.Entitlements, entitlement)
	})
}

// all reports whether a field of a Grant matches every client.
func all(s string) bool { return s == "" || s == "*" }

// Check refuses a grant that would never match, and one that another grant repeats.
func (p *Policy) Check(i int) error {
	g := &p.Grants[i]
	if _, err := strconv.ParseUint(g.User, 10, 32); err != nil && !all(g.User) {
		return fmt.Errorf("user %q is no number", g.User)
	}
	if len(g.User) > 1 && g.User[0] == '0' {
		return fmt.Errorf("user %q begins with 0", g.User)
	}
	if !all(g.Executable) && (len(g.Executable) != 64 || strings.Trim(g.Executable, "0123456789abcdef") != "") {
		return fmt.Errorf("executable %q is no SHA-256 in small hex digits", g.Executable)
	}
	if g.Entitlements == nil { // an empty list is meant
		return errors.New("grants nothing, it has no entitlements")
	}
	for j, t := range g.Tiers {
		if slices.Contains(g.Tiers[:j], t) {
			return fmt.Errorf("tier %q comes twice", t)
		}
		if !slices.Contains(Tiers(), t) {
			return fmt.Errorf("no tier %q; there are %v", t, Tiers())
		}
	}
	for j, e := range g.Entitlements {
		if slices.Contains(g.Entitlements[:j], e) {
			return fmt.Errorf("entitlement %q comes twice", e)
		}
		if why := Absent(e); why != "" {
			return ane.Because(ane.ErrName, fmt.Errorf("entitlement %q: this broker has no such thing: %s", e, why))
		}
		if !slices.Contains(OwnerPolicy().Grants[0].Entitlements, e) {
			return fmt.Errorf("no entitlement %q; there are %s", e,
				strings.Join(OwnerPolicy().Grants[0].Entitlements, ", "))
		}
	}
	if same := slices.IndexFunc(p.Grants[:i], g.equal); same >= 0 {
		return fmt.Errorf("the same as grant %d", same+1)
	}
	return nil
}

// equal reports whether two grants grant the same, in whatever order and spelling.
func (g *Grant) equal(o Grant) bool {
	form := func(g Grant) string {
		for _, name := range []*string{&g.User, &g.Executable} {
			if all(*name) {
				*name = "*"
			}
		}
		if len(g.Tiers) == 0 {
			g.Tiers = Tiers()
		}
		return fmt.Sprintf("%q", []any{g.User, g.Executable, slices.Sorted(slices.Values(g.Tiers)),
			slices.Sorted(slices.Values(g.Entitlements))})
	}
	return form(*g) == form(o)
}
