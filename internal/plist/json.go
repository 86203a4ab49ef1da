package plist

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// jsonReader builds values from the tokens of encoding/json, which keep their order.
type jsonReader struct {
	tokens *json.Decoder
	budget budget
}

func readJSON(data []byte) (any, error) {
	r := jsonReader{tokens: json.NewDecoder(bytes.NewReader(data))}
	r.tokens.UseNumber()
	v, err := r.next()
	if err == nil {
		if _, more := r.tokens.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("more than one value; a file has one")
		}
	}
	if err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("truncated: the JSON ends within a value")
		}
		return nil, &Error{Line: line(data, int(r.tokens.InputOffset())), Msg: err.Error(), Err: err}
	}
	return v, nil
}

// next reads one value.
func (r *jsonReader) next() (any, error) {
	t, err := r.tokens.Token()
	if err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case json.Delim:
		if err := r.budget.enter(); err != nil {
			return nil, err
		}
		defer r.budget.leave()
		if t == '{' {
			return r.dict()
		}
		return r.array()
	case json.Number:
		if err := r.budget.value(); err != nil {
			return nil, err
		}
		return number(t.String())
	}
	return t, r.budget.value() // string, bool, nil
}

func (r *jsonReader) array() (any, error) {
	list := Array{}
	for r.tokens.More() {
		v, err := r.next()
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := r.tokens.Token()
	return list, err
}

func (r *jsonReader) dict() (any, error) {
	d, seen := Dict{}, keys{}
	for r.tokens.More() {
		t, err := r.tokens.Token()
		if err != nil {
			return nil, err
		}
		key := t.(string) // the decoder returns only strings before a colon
		if err := seen.add(key); err != nil {
			return nil, err
		}
		v, err := r.next()
		if err != nil {
			return nil, err
		}
		d = append(d, Entry{key, v})
	}
	_, err := r.tokens.Token()
	return d, err
}
