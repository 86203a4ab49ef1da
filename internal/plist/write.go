package plist

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"
)

const head = xml.Header +
	`<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">` + "\n"

// XML writes a value as a document for Read. Values are those of Read, and int. The error is
// for a value that a property list cannot have: nil, or another type.
func XML(v any) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(head + `<plist version="1.0">` + "\n")
	if err := write(&b, v, 0); err != nil {
		return nil, err
	}
	b.WriteString("</plist>\n")
	return b.Bytes(), nil
}

func write(b *bytes.Buffer, v any, depth int) error {
	if depth > MaxDepth {
		return &Error{Msg: fmt.Sprintf("nested deeper than %d levels", MaxDepth)}
	}
	indent := strings.Repeat("\t", depth)
	plain := func(name, text string) error {
		b.WriteString(indent + "<" + name + ">")
		_ = xml.EscapeText(b, []byte(text)) // writing to memory does not fail
		b.WriteString("</" + name + ">\n")
		return nil
	}
	switch v := v.(type) {
	case bool:
		b.WriteString(indent + "<" + strconv.FormatBool(v) + "/>\n")
	case int:
		return plain("integer", strconv.Itoa(v))
	case int64:
		return plain("integer", strconv.FormatInt(v, 10))
	case uint64:
		return plain("integer", strconv.FormatUint(v, 10))
	case float64:
		return plain("real", strconv.FormatFloat(v, 'g', -1, 64))
	case string:
		return plain("string", v)
	case Array:
		b.WriteString(indent + "<array>\n")
		for _, item := range v {
			if err := write(b, item, depth+1); err != nil {
				return err
			}
		}
		b.WriteString(indent + "</array>\n")
	case Dict:
		b.WriteString(indent + "<dict>\n")
		for _, e := range v {
			b.WriteString(indent + "\t<key>")
			_ = xml.EscapeText(b, []byte(e.Key))
			b.WriteString("</key>\n")
			if err := write(b, e.Value, depth+1); err != nil {
				return err
			}
		}
		b.WriteString(indent + "</dict>\n")
	default:
		return &Error{Msg: fmt.Sprintf("a property list cannot hold %T", v)}
	}
	return nil
}
