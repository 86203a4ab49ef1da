package attributes

import "github.com/anekit/anekit/internal/plist"

// Search finds the attributes in a document that holds them: the dictionary that is
// nearest to its root and has NetworkStatusList or ANEFModelDescription.
func Search(v any) (plist.Dict, bool) {
	for level := []any{v}; len(level) > 0; {
		var next []any
		for _, v := range level {
			switch v := v.(type) {
			case plist.Dict:
				_, networks := v.Get(keyNetworks)
				_, description := v.Get(keyDescription)
				if networks || description {
					return v, true
				}
				for _, e := range v {
					next = append(next, e.Value)
				}
			case plist.Array:
				next = append(next, v...)
			}
		}
		level = next
	}
	return nil, false
}
