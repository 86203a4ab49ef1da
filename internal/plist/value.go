package plist

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// Limits of documents. The longest attributes dumped from a real machine have 9 KiB.
const (
	MaxBytes  = 16 << 20
	MaxDepth  = 64
	MaxValues = 1 << 20
)

// Array is a list of values.
type Array []any

// Dict is a list of keys with their values, in the order read.
type Dict []Entry

// Entry is one key with its value.
type Entry struct {
	Key   string
	Value any
}

// Of returns a dictionary of keys, each with the value after it.
func Of(pairs ...any) (d Dict) {
	for i := 0; i < len(pairs); i += 2 {
		d = append(d, Entry{pairs[i].(string), pairs[i+1]})
	}
	return d
}

// Get returns the value at key, and whether there is one.
func (d Dict) Get(key string) (any, bool) {
	for _, e := range d {
		if e.Key == key {
			return e.Value, true
		}
	}
	return nil, false
}

// Dict returns the dictionary at key, nil if there is none.
func (d Dict) Dict(key string) Dict {
	v, _ := d.Get(key)
	inner, _ := v.(Dict)
	return inner
}

// Array returns the array at key, nil if there is none.
func (d Dict) Array(key string) Array {
	v, _ := d.Get(key)
	list, _ := v.(Array)
	return list
}

// String returns the string at key, "" if there is none.
func (d Dict) String(key string) string {
	v, _ := d.Get(key)
	s, _ := v.(string)
	return s
}

// MarshalJSON writes the keys in their order.
func (d Dict) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, e := range d {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := plain(e.Key)
		if err != nil {
			return nil, err
		}
		value, err := plain(e.Value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Key, err)
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// MarshalJSON writes an empty Array as [], also a nil one.
func (a Array) MarshalJSON() ([]byte, error) {
	if len(a) == 0 {
		return []byte("[]"), nil
	}
	return plain([]any(a))
}

// plain is json.Marshal without escaping <, > and &.
func plain(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// number reads a number of JSON or XML: a 64-bit integer, otherwise a finite float64.
func number(text string) (any, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, nil
	}
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		return n, nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return nil, fmt.Errorf("%.40q is not a finite number", text)
	}
	return f, nil
}

// Nearest returns the dictionary nearest to the root of a tree for which is returns true, or
// nil and false. Of two equally near dictionaries it returns the first.
func Nearest(root any, is func(Dict) bool) (Dict, bool) {
	for queue := []any{root}; len(queue) > 0; queue = queue[1:] {
		switch v := queue[0].(type) {
		case Dict:
			if is(v) {
				return v, true
			}
			for _, e := range v {
				queue = append(queue, e.Value)
			}
		case Array:
			queue = append(queue, v...)
		}
	}
	return nil, false
}
