package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// kind is the type of a JSON value.
type kind int

const (
	missing kind = iota // there is no such value
	null
	boolean
	number
	text
	array
	object
)

// value is a JSON value with its place. Fields of an object keep their order.
type value struct {
	kind   kind
	path   string // JSON Pointer
	raw    string // a number as the object has it, the characters of a text, true or false
	keys   []string
	fields map[string]*value
	items  []*value
}

// parse reads one JSON value.
func parse(data []byte) (*value, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	v, err := read(d, "")
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	return v, nil
}

// read reads the next value.
func read(d *json.Decoder, path string) (*value, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	v := &value{path: path}
	switch t := token.(type) {
	case nil:
		v.kind, v.raw = null, "null"
	case bool:
		v.kind, v.raw = boolean, strconv.FormatBool(t)
	case json.Number:
		v.kind, v.raw = number, t.String()
	case string:
		v.kind, v.raw = text, t
	case json.Delim:
		if t == '[' {
			v.kind = array
			for d.More() {
				item, err := read(d, fmt.Sprintf("%s/%d", path, len(v.items)))
				if err != nil {
					return nil, err
				}
				v.items = append(v.items, item)
			}
		} else {
			v.kind, v.fields = object, map[string]*value{}
			for d.More() {
				key, err := d.Token()
				if err != nil {
					return nil, err
				}
				name := key.(string) // the decoder accepts no other key
				field, err := read(d, path+"/"+pointerToken.Replace(name))
				if err != nil {
					return nil, err
				}
				if v.fields[name] == nil {
					v.keys = append(v.keys, name)
				}
				v.fields[name] = field
			}
		}
		_, err = d.Token() // the closing bracket
		return v, err
	}
	return v, nil
}

// pointerToken escapes a key for a JSON Pointer.
var pointerToken = strings.NewReplacer("~", "~0", "/", "~1")

// at returns the value below v under the keys; a missing one if there is none.
func (v *value) at(keys ...string) *value {
	for _, key := range keys {
		next := v.fields[key]
		if next == nil {
			return &value{path: v.path + "/" + pointerToken.Replace(key)}
		}
		v = next
	}
	return v
}

// item returns an entry of an array; a missing value if there is none.
func (v *value) item(i int) *value {
	if i < 0 || i >= len(v.items) {
		return &value{path: fmt.Sprintf("%s/%d", v.path, i)}
	}
	return v.items[i]
}

// here reports whether the object has the value, and it is not null.
func (v *value) here() bool { return v.kind != missing && v.kind != null }

// float returns a number; 0 for any other value.
func (v *value) float() float64 {
	if v.kind != number {
		return 0
	}
	f, _ := strconv.ParseFloat(v.raw, 64) // the decoder accepts only numbers; beyond the range it is infinite
	return f
}

// yes reports whether v is true.
func (v *value) yes() bool { return v.kind == boolean && v.raw == "true" }

// is reports whether v is the text.
func (v *value) is(s string) bool { return v.kind == text && v.raw == s }
