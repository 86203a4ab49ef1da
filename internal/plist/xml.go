package plist

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// xmlReader builds values from the elements of a plist document.
type xmlReader struct {
	tokens *xml.Decoder
	budget budget
}

func readXML(data []byte) (any, error) {
	r := xmlReader{tokens: xml.NewDecoder(bytes.NewReader(data))}
	r.tokens.CharsetReader = func(name string, _ io.Reader) (io.Reader, error) {
		return nil, fmt.Errorf("encoding %.40q; save it as UTF-8", name)
	}
	v, err := r.document()
	if err != nil {
		var syntax *xml.SyntaxError
		if errors.Is(err, io.EOF) || errors.As(err, &syntax) && strings.Contains(syntax.Msg, "unexpected EOF") {
			err = errors.New("truncated: the XML ends within an element")
		}
		return nil, &Error{Line: line(data, int(r.tokens.InputOffset())), Msg: err.Error(), Err: err}
	}
	return v, nil
}

// document reads <plist> with the one value in it.
func (r *xmlReader) document() (any, error) {
	root, err := r.element()
	if err != nil {
		return nil, err
	}
	if root == nil || root.Name.Local != "plist" {
		return nil, errors.New("no <plist> element; give the XML property list that `plutil -convert xml1` writes")
	}
	first, err := r.element()
	if err != nil {
		return nil, err
	}
	if first == nil {
		return nil, errors.New("<plist> is empty")
	}
	v, err := r.value(first.Name.Local)
	if err != nil {
		return nil, err
	}
	switch more, err := r.element(); {
	case err != nil:
		return nil, err
	case more != nil:
		return nil, errors.New("<plist> has more than one value")
	}
	for {
		t, err := r.tokens.Token()
		if errors.Is(err, io.EOF) {
			return v, nil
		}
		if err != nil {
			return nil, err
		}
		if _, ok := t.(xml.StartElement); ok {
			return nil, errors.New("an element after </plist>")
		}
	}
}

// element returns the next start or end element; start is nil for an end. Text between
// elements has to be white space.
func (r *xmlReader) element() (*xml.StartElement, error) {
	for {
		t, err := r.tokens.Token()
		if err != nil {
			return nil, err
		}
		switch t := t.(type) {
		case xml.StartElement:
			return &t, nil
		case xml.EndElement:
			return nil, nil
		case xml.CharData:
			if len(bytes.TrimSpace(t)) > 0 {
				return nil, fmt.Errorf("text %.40q between elements", bytes.TrimSpace(t))
			}
		}
	}
}

// text reads up to the end of an element without child elements.
func (r *xmlReader) text() (string, error) {
	var text strings.Builder
	for {
		t, err := r.tokens.Token()
		if err != nil {
			return "", err
		}
		switch t := t.(type) {
		case xml.StartElement:
			return "", fmt.Errorf("<%.40s> within a plain value", t.Name.Local)
		case xml.EndElement:
			return text.String(), nil
		case xml.CharData:
			text.Write(t)
		}
	}
}

// value reads the rest of the element called name, whose start has been read.
func (r *xmlReader) value(name string) (any, error) {
	switch name {
	case "dict", "array":
		if err := r.budget.enter(); err != nil {
			return nil, err
		}
		defer r.budget.leave()
		if name == "dict" {
			return r.dict()
		}
		return r.array()
	}
	if err := r.budget.value(); err != nil {
		return nil, err
	}
	text, err := r.text()
	if err != nil {
		return nil, err
	}
	switch name {
	case "true", "false":
		if strings.TrimSpace(text) != "" {
			return nil, fmt.Errorf("<%s> contains text", name)
		}
		return name == "true", nil
	case "integer", "real":
		v, err := number(strings.TrimSpace(text))
		if _, isFloat := v.(float64); err == nil && isFloat && name == "integer" {
			err = fmt.Errorf("%.40q is not a 64-bit integer", strings.TrimSpace(text))
		}
		return v, err
	case "string", "date", "data": // dates and data are kept as text
		return text, nil
	}
	return nil, fmt.Errorf("<%.40s> is not an element of a property list", name)
}

func (r *xmlReader) array() (any, error) {
	list := Array{}
	for {
		start, err := r.element()
		if err != nil || start == nil {
			return list, err
		}
		v, err := r.value(start.Name.Local)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
}

func (r *xmlReader) dict() (any, error) {
	d, seen := Dict{}, keys{}
	for {
		start, err := r.element()
		if err != nil || start == nil {
			return d, err
		}
		if start.Name.Local != "key" {
			return nil, fmt.Errorf("<%.40s> where a <key> is expected", start.Name.Local)
		}
		key, err := r.text()
		if err != nil {
			return nil, err
		}
		if err := seen.add(key); err != nil {
			return nil, err
		}
		start, err = r.element()
		if err != nil {
			return nil, err
		}
		if start == nil {
			return nil, fmt.Errorf("key %.80q has no value", key)
		}
		v, err := r.value(start.Name.Local)
		if err != nil {
			return nil, err
		}
		d = append(d, Entry{key, v})
	}
}
