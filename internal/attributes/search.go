package attributes

import "github.com/anekit/anekit/internal/plist"

// Search finds the attributes in a document: the dictionary nearest to the root that has
// NetworkStatusList or ANEFModelDescription.
func Search(v any) (plist.Dict, bool) {
	return plist.Nearest(v, func(d plist.Dict) bool {
		_, networks := d.Get(keyNetworks)
		_, description := d.Get(keyDescription)
		return networks || description
	})
}
