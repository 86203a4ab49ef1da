package standin

import (
	"bytes"
	"encoding/xml"
	"strconv"
)

// plist writes an XML property list, the form that NSPropertyListSerialization
// reads.
type plist struct{ bytes.Buffer }

// pair is one entry of a dictionary; dictionaries keep the order they are given.
type pair struct {
	key   string
	value any // string, int, bool, []pair, or a slice made by array
}

// array turns a list into values.
func array[T any](list []T) []any {
	values := make([]any, len(list))
	for i, v := range list {
		values[i] = v
	}
	return values
}

// encode returns the whole document.
func encode(root []pair) []byte {
	var p plist
	p.WriteString(xml.Header)
	p.WriteString(`<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">` + "\n")
	p.WriteString(`<plist version="1.0">` + "\n")
	p.value(root)
	p.WriteString("\n</plist>\n")
	return p.Bytes()
}

func (p *plist) value(v any) {
	switch v := v.(type) {
	case string:
		p.element("string", v)
	case int:
		p.element("integer", strconv.Itoa(v))
	case bool:
		p.WriteString("<" + strconv.FormatBool(v) + "/>")
	case []any:
		p.WriteString("<array>")
		for _, item := range v {
			p.value(item)
		}
		p.WriteString("</array>")
	case []pair:
		p.WriteString("<dict>")
		for _, entry := range v {
			p.WriteByte('\n')
			p.element("key", entry.key)
			p.value(entry.value)
		}
		p.WriteString("\n</dict>")
	default:
		panic("BUG: a property list cannot hold this type")
	}
}

func (p *plist) element(name, text string) {
	p.WriteString("<" + name + ">")
	_ = xml.EscapeText(p, []byte(text)) // writing to memory does not fail
	p.WriteString("</" + name + ">")
}
