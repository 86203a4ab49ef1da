package shared

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/server/admission"
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
func ReadPolicy(path string) (*admission.Policy, error) {
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

func parsePolicy(text []byte) (*admission.Policy, error) {
	line := func(at int64) int { return 1 + bytes.Count(text[:min(at, int64(len(text)))], []byte("\n")) }
	var p admission.Policy
	var lines []int // on which the grants begin
	each := func(d *jsontext.Decoder, v any) error {
		kind, at := d.PeekKind(), d.InputOffset()
		if kind == 'n' { // would be taken for an empty value, which matches all
			return errors.New("null")
		}
		if _, ok := v.(*admission.Grant); ok {
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
		if err := p.Check(i); err != nil {
			return nil, fmt.Errorf("line %d: grant %d: %w", lines[i], i+1, err)
		}
	}
	return &p, nil
}
