package attributes

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/anekit/anekit/internal/plist"
)

// join appends a key to the path of its dictionary.
func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func asDict(path string, v any) (plist.Dict, error) {
	d, ok := v.(plist.Dict)
	if !ok {
		return nil, fault(path, "%s where a dictionary is expected", show(v))
	}
	return d, nil
}

// array returns the array at key, which must exist.
func array(d plist.Dict, path, key string) (plist.Array, error) {
	v, ok := d.Get(key)
	if !ok {
		return nil, fault(join(path, key), "missing")
	}
	list, ok := v.(plist.Array)
	if !ok {
		return nil, fault(join(path, key), "%s where an array is expected", show(v))
	}
	return list, nil
}

// has reports whether there is a value other than JSON's null at key.
func has(d plist.Dict, key string) bool {
	v, _ := d.Get(key)
	return v != nil
}

// number returns the number at key, which must exist and lie within least and most.
func number(d plist.Dict, path, key string, least, most int) (int, error) {
	v, ok := d.Get(key)
	if !ok || v == nil {
		return 0, fault(join(path, key), "missing")
	}
	n, ok := v.(int64)
	_, unsigned := v.(uint64) // beyond int64
	switch {
	case !ok && !unsigned:
		return 0, fault(join(path, key), "%s where a whole number is expected", show(v))
	case unsigned || n < int64(least) || n > int64(most):
		return 0, fault(join(path, key), "%v is outside %d to %d", v, least, most)
	}
	return int(n), nil
}

// text returns the string at key, empty if there is none.
func text(d plist.Dict, path, key string) (string, error) {
	v, _ := d.Get(key)
	if v == nil {
		return "", nil
	}
	s, ok := v.(string)
	if !ok {
		return "", fault(join(path, key), "%s where a string is expected", show(v))
	}
	return s, nil
}

// show describes a value of any kind in a few words.
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
			text += ".0" // in a property list 64.0 is not a whole number
		}
		return text
	}
	return fmt.Sprint(v)
}
