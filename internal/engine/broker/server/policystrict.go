package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// strict refuses what a JSON decoder lets pass and a reader of a policy overlooks: a key
// that comes twice, the second of which would count, a key in other letters, and null. The
// text is valid JSON.
func strict(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	type level struct {
		object bool
		key    bool // the next token is one
		seen   []string
	}
	var open []*level
	for {
		t, err := d.Token()
		if err != nil {
			return nil // the end
		}
		bad := func(what string) error {
			line := 1 + bytes.Count(text[:d.InputOffset()], []byte("\n"))
			return fmt.Errorf("line %d: %s", line, what)
		}
		var now *level
		if len(open) > 0 {
			now = open[len(open)-1]
		}
		if now != nil && now.object && now.key {
			if key, ok := t.(string); ok {
				switch {
				case slices.Contains(now.seen, key):
					return bad(fmt.Sprintf("key %q comes twice", key))
				case !slices.Contains(policyKeys, key):
					return bad(fmt.Sprintf("unknown field %q", key))
				}
				now.seen = append(now.seen, key)
				now.key = false
				continue
			}
		}
		switch t {
		case nil:
			return bad("null")
		case json.Delim('{'), json.Delim('['):
			open = append(open, &level{object: t == json.Delim('{'), key: true})
			continue
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
			now = nil
			if len(open) > 0 {
				now = open[len(open)-1]
			}
		}
		if now != nil {
			now.key = true // a value has ended
		}
	}
}

// policyKeys are the keys of a policy and its grants, in these letters.
var policyKeys = []string{"grants", "user", "executable", "tiers", "entitlements"}
