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
	of     any // as package json has read it
	parent *Value
	token  string // the key or index in the parent
}

// parse reads one JSON value.
func parse(data []byte) (*Value, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var root any
	if err := d.Decode(&root); err != nil {
		return nil, fmt.Errorf("doc: %w", err)
	}
	return (*Value)(nil).below("", root), nil
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

// below returns the value of a key or index.
func (v *Value) below(token string, of any) *Value {
	w := &Value{of: of, parent: v, token: token}
	switch of := of.(type) {
	case nil:
		w.kind, w.Raw = null, "null"
	case bool:
		w.kind, w.Raw = boolean, strconv.FormatBool(of)
	case json.Number:
		w.kind, w.Raw = number, of.String()
	case string:
		w.kind, w.Raw = text, of
	case []any:
		w.kind = array
	case map[string]any:
		w.kind = object
	}
	return w
}

// path is the place as a JSON Pointer.
func (v *Value) path() string {
	if v == nil || v.parent == nil {
		return ""
	}
	return v.parent.path() + "/" + pointerToken.Replace(v.token)
}

// pointerToken escapes a key for a JSON Pointer.
var pointerToken = strings.NewReplacer("~", "~0", "/", "~1")

// At returns the value below v under the keys; a missing one if there is none.
func (v *Value) At(keys ...string) *Value {
	for _, key := range keys {
		fields, _ := v.of.(map[string]any)
		if of, ok := fields[key]; ok {
			v = v.below(key, of)
		} else {
			v = &Value{parent: v, token: key}
		}
	}
	return v
}

// Item returns an entry of an array; a missing value if there is none.
func (v *Value) Item(i int) *Value {
	if items, _ := v.of.([]any); 0 <= i && i < len(items) {
		return v.below(strconv.Itoa(i), items[i])
	}
	return &Value{parent: v, token: strconv.Itoa(i)}
}

// Items returns the entries of an array under the keys.
func (v *Value) Items(keys ...string) (all []*Value) {
	v = v.At(keys...)
	items, _ := v.of.([]any)
	for i := range items {
		all = append(all, v.Item(i))
	}
	return all
}

// Keys returns the keys of an object, sorted.
func (v *Value) Keys() []string {
	fields, _ := v.of.(map[string]any)
	return slices.Sorted(maps.Keys(fields))
}

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
	for _, item := range v.Items() {
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
