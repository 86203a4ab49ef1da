package admission

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/driverabi"
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
// Unknown fields, tiers and entitlements are refused, as a misspelt one would
// grant less than its writer believes; so are keys, names and grants that come twice, null, and numbers with
// leading zeros. An entitlement to what this broker does not have matches ane.ErrUnavailable. Errors name the file and
// the line.
func ReadPolicy(path string) (*Policy, error) {
	text, err := readPolicy(path)
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
	if errors.Is(err, ane.ErrUnavailable) {
		hint = "leave the entitlement out"
	}
	return nil, &ane.Error{Op: "policy", Engine: engine, Name: path, Err: err, Hint: hint}
}

// readPolicy reads a file. A pipe, which would block until a process writes, and a device, which may have no end, are
// refused.
func readPolicy(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe opens at once
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("not a regular file: %v", info.Mode())
	}
	return io.ReadAll(io.LimitReader(f, maxPolicy+1))
}

func parsePolicy(text []byte) (*Policy, error) {
	if len(text) > maxPolicy {
		return nil, fmt.Errorf("more than %d bytes", maxPolicy)
	}
	var p Policy
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		at := d.InputOffset()
		if e, ok := errors.AsType[*json.SyntaxError](err); ok {
			at = e.Offset
		}
		if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			at = e.Offset
		}
		return nil, fmt.Errorf("line %d: %w", lineOf(text, at), err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("text after the policy")
	}
	w := walk{text: text, d: json.NewDecoder(bytes.NewReader(text))}
	if err := w.value(); err != nil {
		return nil, fmt.Errorf("line %d: %w", lineOf(text, w.d.InputOffset()), err)
	}
	if len(p.Grants) > maxGrants {
		return nil, fmt.Errorf("%d grants, at most %d", len(p.Grants), maxGrants)
	}
	for i := range p.Grants {
		if err := p.check(i); err != nil {
			return nil, fmt.Errorf("line %d: grant %d: %w", w.objects[1+i], i+1, err)
		}
	}
	return &p, nil
}

// lineOf is the line of a byte, counted from 1.
func lineOf(text []byte, at int64) int {
	return 1 + bytes.Count(text[:min(at, int64(len(text)))], []byte("\n"))
}

// walk reads a policy, which is valid JSON, once more. It refuses what a JSON decoder lets pass and a reader overlooks:
// a key that comes twice, the second of which would count, a key in other letters, and null.
type walk struct {
	text    []byte
	d       *json.Decoder
	objects []int // lines on which they begin: the policy's, then those of its grants
}

func (w *walk) value() error {
	t, err := w.d.Token()
	switch t {
	case nil:
		return errors.Join(err, errors.New("null"))
	case json.Delim('{'):
		w.objects = append(w.objects, lineOf(w.text, w.d.InputOffset()))
	case json.Delim('['):
	default:
		return err
	}
	var seen []string
	for w.d.More() {
		if t == json.Delim('{') {
			k, _ := w.d.Token() // a string
			key, _ := k.(string)
			switch {
			case slices.Contains(seen, key):
				return fmt.Errorf("key %q comes twice", key)
			case !slices.Contains([]string{"grants", "user", "executable", "tiers", "entitlements"}, key):
				return fmt.Errorf("unknown field %q", key)
			}
			seen = append(seen, key)
		}
		if err := w.value(); err != nil {
			return err
		}
	}
	_, err = w.d.Token() // the end of t
	return err
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
			return ane.Because(ane.ErrUnavailable, fmt.Errorf("entitlement %q: this broker has no such thing: %s", e, why))
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
		return fmt.Sprintf("%q", []any{g.User, g.Executable, slices.Sorted(slices.Values(g.Tiers)),
			slices.Sorted(slices.Values(g.Entitlements))})
	}
	return form(*g) == form(o)
}
