// Package admission decides which processes may use a broker, and for what. It asks the kernel for the user and the
// executable of a process that connects. Its policy grants that client entitlements in the tier that it opens.
//
// A client's user and the SHA-256 of its executable identify it. They replace the team identifier and the
// code-directory hash of a signed program. Both come from the kernel when the connection is made, never from the
// client. Every other user is refused. The superuser is too: it gains nothing here, and its surfaces do not belong with
// those of a plain user.
//
// docs/BROKER.md says what an identity is worth.
package admission

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// engine is what errors give as the engine.
const engine = "broker"

// Identity is what a client is known by. Two clients of one Identity share caches and programs in memory; others never
// do.
type Identity struct {
	User       uint32
	Executable [sha256.Size]byte
}

// String is the partition of the cache that belongs to the identity.
func (i Identity) String() string { return fmt.Sprintf("%d-%s", i.User, i.executable()) }

func (i Identity) executable() string { return hex.EncodeToString(i.Executable[:]) }

// Process is what the log calls a client: what the kernel knew of it when it connected. The path is that of a file that
// may have been replaced since; Identity is what counts.
type Process struct {
	PID        int
	User       uint32
	Executable string
}

// Attrs are what each line of the log about the process has.
func (p Process) Attrs() []any {
	return []any{"pid", p.PID, "executable", p.Executable, "user", p.User}
}

// executableOf is the path of a process's executable.
func executableOf(pid int) string { return "/proc/" + strconv.Itoa(pid) + "/exe" }

// Rights are what a policy grants one client in the tier that it opened.
type Rights struct {
	Policy *Policy
	ID     Identity
	Tier   driverabi.Tier
}

// Open sets the tier to the one that a client asks for, or to the best that it may have.
func (r *Rights) Open(wanted driverabi.Tier) error {
	switch wanted {
	case "":
		if r.Tier = driverabi.Restricted; r.AllowBaseline("hello") != nil {
			r.Tier = driverabi.Unrestricted
		}
	case driverabi.Restricted:
		r.Tier = wanted
		return r.AllowBaseline("hello")
	case driverabi.Unrestricted, driverabi.PerUser:
		r.Tier = wanted
	default:
		return &ane.Error{Op: "hello", Engine: engine, Name: string(wanted), Err: ane.ErrName, Detail: "no such tier",
			Hint: "ask for restricted, unrestricted, per-user, or none"}
	}
	return nil
}

// Has reports whether the client has an entitlement.
func (r *Rights) Has(entitlement string) bool { return r.Policy.Allows(r.ID, r.Tier, entitlement) }

// Allow refuses a call that needs an entitlement which the client lacks.
func (r *Rights) Allow(op, entitlement string) error {
	if r.Has(entitlement) {
		return nil
	}
	return r.denied(op, entitlement)
}

// AllowRestricted is Allow for what the restricted tier alone serves.
func (r *Rights) AllowRestricted(op, entitlement string) error {
	if r.Tier != driverabi.Restricted {
		return r.denied(op, entitlement)
	}
	return r.Allow(op, entitlement)
}

// AllowBaseline is Allow for what clients that only run programs may do too.
func (r *Rights) AllowBaseline(op string) error {
	if r.Has(driverabi.EntitlementAccess) {
		return nil
	}
	return r.Allow(op, driverabi.EntitlementBaseline)
}

func (r *Rights) denied(op, entitlement string) error {
	return &ane.Error{Op: op, Engine: engine, Err: wire.Denied(entitlement), Detail: "opened the tier " + string(r.Tier),
		Rule: "the broker asks for the entitlement " + entitlement,
		Hint: "have the broker's policy grant it, in the tier that is opened"}
}
