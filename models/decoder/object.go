package decoder

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
)

// members returns the members of a JSON object. It refuses a key that occurs twice, also in objects within it: readers
// of other languages take the last value, the first, or none.
func members(text []byte) (all map[string]json.RawMessage, err error) {
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	return all, twice(text)
}

// readObject stores the members of a JSON object in the fields of the struct that into points to. A member belongs to
// the field whose tag is its key, in the same case of letters.
func readObject(text []byte, into any) error {
	all, err := members(text)
	if err != nil {
		return err
	}
	v := reflect.ValueOf(into).Elem()
	for i := range v.NumField() {
		key := v.Type().Field(i).Tag.Get("json")
		raw, ok := all[key]
		if !ok {
			continue
		}
		err := json.Unmarshal(raw, v.Field(i).Addr().Interface())
		if kind := (*json.UnmarshalTypeError)(nil); errors.As(err, &kind) {
			kind.Field = key
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// twice refuses a JSON text in which an object has a key twice.
func twice(text []byte) error {
	type level struct {
		keys map[string]bool // nil in an array
		key  bool            // a key comes next
	}
	var open []level
	for d := json.NewDecoder(bytes.NewReader(text)); d.More() || len(open) > 0; {
		t, err := d.Token()
		if err != nil {
			return err
		}
		if t == json.Delim('}') || t == json.Delim(']') {
			open = open[:len(open)-1]
			continue
		}
		if n := len(open); n > 0 && open[n-1].keys != nil {
			at := &open[n-1]
			if name, ok := t.(string); ok && at.key {
				if at.keys[name] {
					return fmt.Errorf("the key %.40q occurs twice", name)
				}
				at.keys[name], at.key = true, false
				continue
			}
			at.key = true
		}
		switch t {
		case json.Delim('{'):
			open = append(open, level{map[string]bool{}, true})
		case json.Delim('['):
			open = append(open, level{})
		}
	}
	return nil
}
