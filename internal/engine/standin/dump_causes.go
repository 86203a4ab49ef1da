package standin

import (
	"slices"
	"strconv"
	"strings"

	"github.com/anekit/anekit/internal/plist"
)

// Keys of userInfo in the output of a Mac. GNUstep uses other keys, so their values
// are passed separately from userInfo.
const (
	descriptionKey = "NSLocalizedDescription"
	underlyingKey  = "NSUnderlyingError"
	multipleKey    = "NSMultipleUnderlyingErrorsKey"
)

// maxCauses bounds the causes of one error.
const maxCauses = plist.MaxDepth / 4

// textOf returns an error's text: the key text, or the description in userInfo.
func textOf(row plist.Dict) string {
	if text := row.String("text"); text != "" {
		return text
	}
	return row.Dict("userInfo").String(descriptionKey)
}

// codeOf returns an error's code, which may be a number in a text.
func codeOf(row plist.Dict) (int64, bool) {
	code, _ := row.Get("code")
	if n, ok := integer(code); ok {
		return n, true
	}
	text, _ := code.(string)
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}

// causes reads the causes of an error at all levels: a status, an error, or a list of
// errors. userInfo keeps only the entries that are not read here.
func (e *DumpedError) causes(row plist.Dict) {
	under, _ := row.Get("underlying")
	if n, ok := integer(under); ok {
		e.status, e.has = n, true
	}
	e.userInfo = infoOf(row)
	e.addUnderlying(row, e.Code)
	if codes := row.Array("codes"); len(codes) > 0 && !e.has && e.Text == "" {
		if text, ok := codes[0].(string); ok {
			e.status, e.has = integer(strings.Fields(text + " -")[0])
		}
	}
}

// infoOf returns userInfo without the entries that are read separately.
func infoOf(row plist.Dict) (info plist.Dict) {
	for _, entry := range row.Dict("userInfo") {
		taken := entry.Key == descriptionKey && row.Dict("userInfo").String(descriptionKey) != ""
		if entry.Key == underlyingKey || entry.Key == multipleKey {
			taken = len(errorsIn(entry.Value)) > 0
		}
		if !taken {
			info = append(info, entry)
		}
	}
	return info
}

// addUnderlying appends the causes of an error, each followed by its own causes. A
// cause without a code gets the code of its parent.
func (e *DumpedError) addUnderlying(row plist.Dict, code int64) {
	info := row.Dict("userInfo")
	for _, at := range [...]struct {
		holder plist.Dict
		key    string
	}{{row, "underlying"}, {row, underlyingKey}, {info, underlyingKey}, {info, multipleKey}} {
		v, _ := at.holder.Get(at.key)
		for _, cause := range errorsIn(v) {
			if len(e.Underlying) == maxCauses {
				return
			}
			c := DumpedError{Domain: domainOf(cause.String("domain")), Text: textOf(cause), Code: code,
				userInfo: infoOf(cause)}
			if n, ok := codeOf(cause); ok {
				c.Code = n
			}
			e.Underlying = append(e.Underlying, c)
			e.addUnderlying(cause, c.Code)
		}
	}
}

// printed matches an NSError as a Mac prints it inside another.
var printed = &pattern{text: `^(?:0x[0-9a-f]+ \{)?Error Domain=(\S+) Code=(-?\d+)(?: "([^"]*)")?`}

// errorsIn returns the errors that a value contains.
func errorsIn(v any) (list []plist.Dict) {
	switch v := v.(type) {
	case plist.Dict:
		if len(v) > 0 {
			list = append(list, v)
		}
	case string:
		if found := printed.get().FindStringSubmatch(v); found != nil {
			list = append(list, plist.Dict{{Key: "domain", Value: found[1]}, {Key: "code", Value: found[2]},
				{Key: "text", Value: found[3]}})
		}
	case plist.Array:
		for _, one := range v {
			if _, nested := one.(plist.Array); !nested {
				list = append(list, errorsIn(one)...)
			}
		}
	}
	return slices.Clip(list)
}
