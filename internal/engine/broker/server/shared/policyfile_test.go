package shared

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/server/admission"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

func TestReadPolicy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "policy.json")
	good := `{"grants":[{"entitlements":["com.apple.aned.private.allow"]},
	 {"user":"1000","executable":"` + strings.Repeat("0a", 32) + `",` +
		`"tiers":["restricted"],"entitlements":["com.apple.ane.realtime-priority-client"]}]}`
	require.NoError(t, os.WriteFile(path, []byte(good), 0o600))
	p, err := ReadPolicy(path)
	require.NoError(t, err)
	require.Len(t, p.Grants, 2)
	require.False(t, p.Allows(admission.Identity{User: 1000}, driverabi.Restricted, driverabi.EntitlementRealTime))

	for want, text := range map[string]string{
		"EOF":                                  ``,
		"unknown object member name \"grant\"": `{"grant":[]}`,
		"after top-level value":                `{"grants":[]} {}`,
		"no entitlement":                       `{"grants":[{"entitlements":["com.apple.aned.private.alow"]}]}`,
		"no tier":                              `{"grants":[{"tiers":["root"],"entitlements":[]}]}`,
		"no number":                            `{"grants":[{"user":"me","entitlements":[]}]}`,
		"no SHA-256":                           `{"grants":[{"executable":"ABCD","entitlements":[]}]}`,
		"more than 1048576":                    strings.Repeat(" ", maxPolicy) + `{}`,
		"1025 grants, at most": `{"grants":[` + strings.Repeat(`{"entitlements":[]},`, maxGrants) +
			`{"entitlements":[]}]}`,
		"begins with 0": `{"grants":[{"user":"0100","entitlements":[]}]}`,
		`grant 1: entitlement "com.apple.aned.private.allow" comes twice`: `{"grants":[{"entitlements":` +
			`["com.apple.aned.private.allow","com.apple.aned.private.allow"]}]}`,
		`grant 1: tier "restricted" comes twice`: `{"grants":[{"tiers":["restricted","per-user","restricted"],` +
			`"entitlements":[]}]}`,
		"grant 3: the same as grant 1": `{"grants":[{"user":"7","entitlements":[]},{"entitlements":[]},` +
			`{"entitlements":[],"user":"7"}]}`,
		"grant 2: the same as grant 1": `{"grants":[{"entitlements":[]},{"user":"*","executable":"","entitlements":[]}]}`,
		"grant 4: the same as grant 2": `{"grants":[{"entitlements":[]},{"tiers":["restricted","per-user"],` +
			`"entitlements":[]},{"tiers":["restricted"],"entitlements":[]},{"tiers":["per-user","restricted"],` +
			`"entitlements":[]}]}`,
		"grant 2: the same as grant 1; ": `{"grants":[{"entitlements":[]},{"tiers":["restricted","unrestricted",` +
			`"per-user"],"entitlements":[]}]}`,
		"grant 1: grants nothing":                 `{"grants":[{}]}`,
		`duplicate object member name "grants"`:   `{"grants":[{"entitlements":["com.apple.aned.private.allow"]}],"grants":[]}`,
		`duplicate object member name "user"`:     `{"grants":[{"user":"1","tiers":[],"user":"*","entitlements":[]}]}`,
		`within "/grants": null`:                  `{"grants":null}`,
		"/grants/0/entitlements":                  "{\"grants\":[\n{\"entitlements\":null}]}",
		`unknown object member name "Grants"`:     `{"Grants":[]}`,
		"grant 2":                                 `{"grants":[{"entitlements":[]},{"user":"-1","entitlements":[]}]}`,
		"unmarshal JSON array":                    `[1]`,
		"invalid character 'x' at start of value": `x`,
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := ReadPolicy(path)
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, path)
		var e *ane.Error
		require.ErrorAs(t, err, &e)
		require.NotEmpty(t, e.Hint)
	}
	for line, text := range map[string]string{
		"line 3: grant 2: user": "{\"grants\": [\n{\"entitlements\":\n[]},{\"user\": \"me\", \"entitlements\": []}]}",
		"line 1:":               "x", "line 3:": "{\"grants\": [\n{\"entitlements\":\n,",
		"line 2:": "{\"grants\": [\n{\"user\": 1000}]}",
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := ReadPolicy(path)
		require.ErrorContains(t, err, path+": "+line)
	}
	for _, path := range []string{filepath.Join(t.TempDir(), "none"), t.TempDir()} {
		_, err = ReadPolicy(path)
		var e *ane.Error
		require.ErrorAs(t, err, &e)
		require.NotEmpty(t, e.Hint)
	}
	_, err = ReadPolicy(filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func FuzzPolicy(f *testing.F) {
	f.Add([]byte(`{"grants":[{"user":"1000","tiers":["restricted"],"entitlements":["com.apple.aned.private.allow"]}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := parsePolicy(text)
		if err == nil {
			for i := range p.Grants {
				require.NoError(t, p.Check(i))
			}
			p.Allows(admission.Identity{}, driverabi.Restricted, driverabi.EntitlementBaseline)
		}
	})
}
