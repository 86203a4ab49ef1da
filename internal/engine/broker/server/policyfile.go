package server

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// maxPolicy bounds a policy's text; thousands of grants fit.
const maxPolicy = 1 << 20

// maxGrants bounds a policy: every check walks all of them.
const maxGrants = 1024

// ReadPolicy reads a policy from a JSON file of this form:
//
//	{"grants": [
//	  {"entitlements": ["com.apple.aned.private.allow"]},
//	  {"user": "1000", "executable": "9f86d0…", "tiers": ["restricted"],
//	   "entitlements": ["com.apple.aned.private.adapterWeight.allow"]}
//	]}
//
// Unknown fields, tiers and entitlements are refused, as a misspelt one would
// grant less than its writer believes; so are keys, names and grants that come twice, null, and numbers with
// leading zeros. Errors name the file and the line or the grant.
func ReadPolicy(path string) (*Policy, error) {
	f, _, err := openRegular(path)
	if err != nil {
		return nil, unread(path, err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxPolicy+1))
	if err != nil {
		return nil, unread(path, err)
	}
	return parsePolicy(path, text)
}

func unread(path string, err error) error {
	return &ane.Error{Op: "policy", Engine: Name, Name: path, Err: err,
		Hint: "name a JSON file that this user may read"}
}

func parsePolicy(path string, text []byte) (*Policy, error) {
	bad := func(err error) error {
		return &ane.Error{Op: "policy", Engine: Name, Name: path, Err: err,
			Hint: `write {"grants": [{"user": "*", "executable": "*", "tiers": ["restricted"], ` +
				`"entitlements": ["` + driverabi.EntitlementBaseline + `"]}]}`}
	}
	if len(text) > maxPolicy {
		return nil, bad(fmt.Errorf("more than %d bytes", maxPolicy))
	}
	var p Policy
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		line := 1 + bytes.Count(text[:min(offset(d, err), int64(len(text)))], []byte("\n"))
		return nil, bad(fmt.Errorf("line %d: %w", line, err))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, bad(errors.New("text after the policy"))
	}
	if err := strict(text); err != nil {
		return nil, bad(err)
	}
	if err := p.check(); err != nil {
		return nil, bad(err)
	}
	return &p, nil
}

// offset is the byte at which a policy cannot be read on.
func offset(d *json.Decoder, err error) int64 {
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		return e.Offset
	}
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return e.Offset
	}
	return d.InputOffset()
}

// check refuses what would never match.
func (p *Policy) check() error {
	if len(p.Grants) > maxGrants {
		return fmt.Errorf("%d grants, at most %d", len(p.Grants), maxGrants)
	}
	names := known()
	for i, g := range p.Grants {
		if _, err := strconv.ParseUint(g.User, 10, 32); err != nil && !all(g.User) {
			return fmt.Errorf("grant %d: user %q is no number", i+1, g.User)
		}
		if len(g.User) > 1 && g.User[0] == '0' {
			return fmt.Errorf("grant %d: user %q begins with 0", i+1, g.User)
		}
		if same := slices.IndexFunc(p.Grants[:i], g.equal); same >= 0 {
			return fmt.Errorf("grant %d: the same as grant %d", i+1, same+1)
		}
		if !all(g.Executable) && !isHash(g.Executable) {
			return fmt.Errorf("grant %d: executable %q is no SHA-256 in small hex digits", i+1, g.Executable)
		}
		for j, t := range g.Tiers {
			if slices.Contains(g.Tiers[:j], t) {
				return fmt.Errorf("grant %d: tier %q comes twice", i+1, t)
			}
			if !slices.Contains(Tiers(), t) {
				return fmt.Errorf("grant %d: no tier %q; there are %v", i+1, t, Tiers())
			}
		}
		for j, e := range g.Entitlements {
			if slices.Contains(g.Entitlements[:j], e) {
				return fmt.Errorf("grant %d: entitlement %q comes twice", i+1, e)
			}
			if !slices.Contains(names, e) {
				return fmt.Errorf("grant %d: no entitlement %q; there are %s", i+1, e, strings.Join(names, ", "))
			}
		}
		if g.Entitlements == nil { // an empty list is meant
			return fmt.Errorf("grant %d: grants nothing, it has no entitlements", i+1)
		}
	}
	return nil
}

// equal reports whether two grants grant the same, in whatever order and spelling.
func (g *Grant) equal(o Grant) bool {
	written := func(name string) string {
		if all(name) {
			return "*"
		}
		return name
	}
	return written(g.User) == written(o.User) && written(g.Executable) == written(o.Executable) &&
		sameSet(g.Tiers, o.Tiers) && sameSet(g.Entitlements, o.Entitlements)
}

func sameSet[T cmp.Ordered](a, b []T) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// isHash reports whether s is a SHA-256 as executable writes it.
func isHash(s string) bool {
	return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == ""
}
