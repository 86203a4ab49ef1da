package schematest

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every definition and every property of the schema has a description, of its own or that of the definition that it
// refers to.
func TestSchemaDescribesEveryProperty(t *testing.T) {
	text, err := os.ReadFile("../../ane-roundtrip-1.schema.json")
	require.NoError(t, err)
	var doc map[string]any
	require.NoError(t, json.Unmarshal(text, &doc))
	definitions := doc["$defs"].(map[string]any)
	described := func(v any) bool {
		d, _ := v.(map[string]any)["description"].(string)
		return strings.TrimSpace(d) != ""
	}
	// target is the definition or property at a reference such as #/$defs/ns.
	target := func(ref string) any {
		at := any(doc)
		for part := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
			at = at.(map[string]any)[part]
			require.NotNil(t, at, ref)
		}
		return at
	}
	var missing []string
	for name, d := range definitions {
		if !described(d) {
			missing = append(missing, "$defs/"+name)
		}
	}
	count := 0
	var walk func(v any, at string)
	walk = func(v any, at string) {
		switch v := v.(type) {
		case map[string]any:
			properties, _ := v["properties"].(map[string]any)
			for name, p := range properties {
				count++
				ref, only := p.(map[string]any)["$ref"].(string)
				if !described(p) && !(only && len(p.(map[string]any)) == 1 && described(target(ref))) {
					missing = append(missing, at+"/"+name)
				}
			}
			for name, sub := range v {
				if name != "allOf" { // conditions, which describe nothing
					walk(sub, at+"/"+name)
				}
			}
		case []any:
			for _, sub := range v {
				walk(sub, at)
			}
		}
	}
	walk(doc, "")
	require.Greater(t, count, 500)
	slices.Sort(missing)
	require.Empty(t, missing, "%d without a description", len(missing))
}
