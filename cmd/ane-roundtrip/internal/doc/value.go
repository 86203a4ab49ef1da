package doc

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
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

// Value is a value of the object that a command prints with --json, with its place.
type Value struct {
	// Raw is a number as the object has it, the characters of a text, true or false.
	Raw string

	kind   kind
	path   string // JSON Pointer
	fields map[string]*Value
	items  []*Value
}

// parse reads one JSON value.
func parse(data []byte) (*Value, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var root any
	if err := d.Decode(&root); err != nil {
		return nil, fmt.Errorf("doc: %w", err)
	}
	return valueOf(root, ""), nil
}

// Of returns the value that x has in JSON, a missing one if it has none.
func Of(x any) *Value {
	data, err := json.Marshal(x)
	if err != nil {
		return &Value{}
	}
	v, err := parse(data)
	if err != nil {
		return &Value{}
	}
	return v
}

// valueOf returns the value of what package json has read.
func valueOf(of any, path string) *Value {
	v := &Value{path: path}
	switch of := of.(type) {
	case nil:
		v.kind, v.Raw = null, "null"
	case bool:
		v.kind, v.Raw = boolean, strconv.FormatBool(of)
	case json.Number:
		v.kind, v.Raw = number, of.String()
	case string:
		v.kind, v.Raw = text, of
	case []any:
		v.kind = array
		for i, item := range of {
			v.items = append(v.items, valueOf(item, fmt.Sprintf("%s/%d", path, i)))
		}
	case map[string]any:
		v.kind, v.fields = object, map[string]*Value{}
		for key, field := range of {
			v.fields[key] = valueOf(field, path+"/"+pointerToken.Replace(key))
		}
	}
	return v
}

// pointerToken escapes a key for a JSON Pointer.
var pointerToken = strings.NewReplacer("~", "~0", "/", "~1")

// At returns the value below v under the keys; a missing one if there is none.
func (v *Value) At(keys ...string) *Value {
	for _, key := range keys {
		next := v.fields[key]
		if next == nil {
			next = &Value{path: v.path + "/" + pointerToken.Replace(key)}
		}
		v = next
	}
	return v
}

// Item returns an entry of an array; a missing value if there is none.
func (v *Value) Item(i int) *Value {
	if i < 0 || i >= len(v.items) {
		return &Value{path: fmt.Sprintf("%s/%d", v.path, i)}
	}
	return v.items[i]
}

// Items returns the entries of an array under the keys.
func (v *Value) Items(keys ...string) []*Value { return v.At(keys...).items }

// Keys returns the keys of an object, sorted.
func (v *Value) Keys() []string { return slices.Sorted(maps.Keys(v.fields)) }

// Here reports whether the object has the value, and it is not null.
func (v *Value) Here() bool { return v.kind != missing && v.kind != null }

// Object reports whether v is an object, Array whether it is a list.
func (v *Value) Object() bool { return v.kind == object }
func (v *Value) Array() bool  { return v.kind == array }

// Float returns a number; 0 for any other value.
func (v *Value) Float() float64 {
	if v.kind != number {
		return 0
	}
	f, _ := strconv.ParseFloat(v.Raw, 64) // the decoder accepts only numbers; beyond the range it is infinite
	return f
}

// Floats returns the numbers of an array.
func (v *Value) Floats() (all []float64) {
	for _, item := range v.items {
		all = append(all, item.Float())
	}
	return all
}

// Yes reports whether v is true.
func (v *Value) Yes() bool { return v.kind == boolean && v.Raw == "true" }

// Is reports whether v is the text.
func (v *Value) Is(s string) bool { return v.kind == text && v.Raw == s }

// Largest returns the n values of the largest size, in their order.
func Largest(all []*Value, n int, size func(*Value) float64) []*Value {
	ordered := slices.Clone(all)
	slices.SortStableFunc(ordered, func(a, b *Value) int { return cmp.Compare(size(b), size(a)) })
	ordered = ordered[:min(n, len(ordered))]
	return slices.DeleteFunc(slices.Clone(all), func(v *Value) bool { return !slices.Contains(ordered, v) })
}
