package plist

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
