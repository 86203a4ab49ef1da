package plist

// Nearest returns the dictionary nearest to the root of a tree for which is holds, nil and
// false where there is none. Of two that are equally near, the one that stands first.
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
