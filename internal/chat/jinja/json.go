package jinja

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// FromJSON returns the value of a JSON text.
func FromJSON(text []byte) (any, error) {
	d := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true)) // the last one counts
	v, err := fromJSON(d)
	if err == nil {
		if _, after := d.ReadToken(); after == nil {
			err = fmt.Errorf("more than one value")
		}
	}
	return v, err
}

func fromJSON(d *jsontext.Decoder) (any, error) {
	if d.StackDepth() > maxDepth/2 {
		return nil, fmt.Errorf("more than %d levels", maxDepth/2)
	}
	t, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	switch t.Kind() {
	case '{':
		all := &Dict{}
		for d.PeekKind() != '}' {
			key, err := d.ReadToken()
			if err != nil {
				return nil, err
			}
			name := key.String()
			v, err := fromJSON(d)
			if err != nil {
				return nil, err
			}
			all.set(name, v)
		}
		_, err = d.ReadToken()
		return all, err
	case '[':
		all := []any{}
		for d.PeekKind() != ']' {
			v, err := fromJSON(d)
			if err != nil {
				return nil, err
			}
			all = append(all, v)
		}
		_, err = d.ReadToken()
		return all, err
	case '"':
		return t.String(), nil
	case '0':
		return fromNumber(t.String()), nil
	case 'n':
		return nil, nil
	}
	return t.Bool(), nil
}

// fromNumber returns a number of JSON: an integer without fraction and exponent.
func fromNumber(s string) any {
	if strings.ContainsAny(s, ".eE") {
		v, _ := strconv.ParseFloat(s, 64) // infinite beyond the range, as Python's
		return v
	}
	if v, err := strconv.Atoi(s); err == nil {
		return v
	}
	return large(s)
}
