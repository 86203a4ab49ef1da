package attributes

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/anekit/anekit/internal/plist"
)

// join puts a key behind the path of its dictionary.
func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func asDict(path string, v any) (plist.Dict, error) {
	d, ok := v.(plist.Dict)
	if !ok {
		return nil, &Error{Path: path, Err: ErrKind, Msg: show(v) + " where a dictionary has to be"}
	}
	return d, nil
}

// array returns the array at key, which has to be there.
func array(d plist.Dict, path, key string) (plist.Array, error) {
	v, ok := d.Get(key)
	if !ok {
		return nil, &Error{Path: join(path, key), Err: ErrMissing, Msg: "missing"}
	}
	list, ok := v.(plist.Array)
	if !ok {
		return nil, &Error{Path: join(path, key), Err: ErrKind, Msg: show(v) + " where an array has to be"}
	}
	return list, nil
}

// has reports whether there is a value at key. JSON's null is none.
func has(d plist.Dict, key string) bool {
	v, _ := d.Get(key)
	return v != nil
}

// number returns the number at key, which has to be there and from least to most.
func number(d plist.Dict, path, key string, least, most int) (int, error) {
	v, ok := d.Get(key)
	if !ok || v == nil {
		return 0, &Error{Path: join(path, key), Err: ErrMissing, Msg: "missing"}
	}
	n, ok := v.(int64)
	_, unsigned := v.(uint64) // beyond int64
	switch {
	case !ok && !unsigned:
		return 0, &Error{Path: join(path, key), Err: ErrKind, Msg: show(v) + " where a whole number has to be"}
	case unsigned || n < int64(least) || n > int64(most):
		return 0, &Error{Path: join(path, key), Err: ErrRange,
			Msg: fmt.Sprintf("%v is outside %d to %d", v, least, most)}
	}
	return int(n), nil
}

// text returns the string at key, empty where there is none.
func text(d plist.Dict, path, key string) (string, error) {
	v, _ := d.Get(key)
	if v == nil {
		return "", nil
	}
	s, ok := v.(string)
	if !ok {
		return "", &Error{Path: join(path, key), Err: ErrKind, Msg: show(v) + " where a string has to be"}
	}
	return s, nil
}

// show names a value of any kind in a few characters.
func show(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case plist.Dict:
		return "a dictionary"
	case plist.Array:
		return fmt.Sprintf("an array of %d", len(v))
	case string:
		return fmt.Sprintf("the string %.40q", v)
	case float64:
		text := strconv.FormatFloat(v, 'g', -1, 64)
		if !strings.ContainsAny(text, ".e") {
			text += ".0" // 64.0 is no whole number of a property list
		}
		return text
	}
	return fmt.Sprint(v)
}
