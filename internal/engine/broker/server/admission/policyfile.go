package admission

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/driverabi"
	"github.com/anekit/anekit/internal/wholefile"
)

const (
	// maxPolicy bounds a policy's text; thousands of grants fit.
	maxPolicy = 1 << 20
	// maxGrants bounds a policy: every check walks all of them.
	maxGrants = 1024
)

// ReadPolicy reads a policy from a JSON file of this form:
//
//	{"grants": [
//	  {"entitlements": ["com.apple.aned.private.allow"]},
//	  {"user": "1000", "executable": "9f86d0…", "tiers": ["restricted"],
//	   "entitlements": ["com.apple.aned.private.adapterWeight.allow"]}
//	]}
//
// ReadPolicy refuses unknown fields, tiers and entitlements: a misspelt one would grant less than its writer believes.
// It also refuses null, numbers with leading zeros, and keys, names and grants that come twice. An entitlement to what
// this broker does not have matches ane.ErrName. Errors name the file and the line.
func ReadPolicy(path string) (*Policy, error) {
	text, err := wholefile.Read(path, maxPolicy)
	if err != nil {
		return nil, &ane.Error{Op: "policy", Engine: engine, Name: path, Err: err,
			Hint: "name a JSON file that this user may read"}
	}
	p, err := parsePolicy(text)
	if err == nil {
		return p, nil
	}
	hint := `write {"grants": [{"user": "*", "executable": "*", "tiers": ["restricted"], ` +
		`"entitlements": ["` + driverabi.EntitlementBaseline + `"]}]}`
	if errors.Is(err, ane.ErrName) {
		hint = "leave the entitlement out"
	}
	return nil, &ane.Error{Op: "policy", Engine: engine, Name: path, Err: err, Hint: hint}
}

func parsePolicy(text []byte) (*Policy, error) {
	line := func(at int64) int { return 1 + bytes.Count(text[:min(at, int64(len(text)))], []byte("\n")) }
	var p Policy
	var lines []int // on which the grants begin
	each := func(d *jsontext.Decoder, v any) error {
		kind, at := d.PeekKind(), d.InputOffset()
		if kind == 'n' { // would be taken for an empty value, which matches all
			return errors.New("null")
		}
		if _, ok := v.(*Grant); ok {
			lines = append(lines, line(at+int64(bytes.IndexByte(text[at:], '{'))))
		}
		return json.SkipFunc
	}
	err := json.Unmarshal(text, &p, json.RejectUnknownMembers(true),
		json.WithUnmarshalers(json.UnmarshalFromFunc(each)))
	if err != nil {
		at := int64(len(text))
		if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
			at = e.ByteOffset
		}
		if e, ok := errors.AsType[*json.SemanticError](err); ok {
			at = e.ByteOffset
		}
		return nil, fmt.Errorf("line %d: %w", line(at), err)
	}
	if len(p.Grants) > maxGrants {
		return nil, fmt.Errorf("%d grants, at most %d", len(p.Grants), maxGrants)
	}
	for i := range p.Grants {
		if err := p.check(i); err != nil {
			return nil, fmt.Errorf("line %d: grant %d: %w", lines[i], i+1, err)
		}
	}
	return &p, nil
}

// check refuses a grant that would never match, and one that another grant repeats.
func (p *Policy) check(i int) error {
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
