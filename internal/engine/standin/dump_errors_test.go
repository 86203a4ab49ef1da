package standin

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/plist"
)

const compiler = errorDomain + ".compiler"

// chain returns errors, each the cause of the previous one.
func chain(texts ...string) (list []DumpedError) {
	for i, text := range texts {
		list = append(list, DumpedError{Domain: compiler, Code: int64(i + 2), Text: text})
	}
	return list
}

// nestedErrors are one error with the cause MIDDLE and its cause INNER, in the forms
// found in reports.
var nestedErrors = map[string]string{
	"NSUnderlyingError": `{"stage": "compile", "domain": "D", "code": 1, "text": "OUTER", "NSUnderlyingError": {"domain": "D", "code": 2, "text": "MIDDLE", "NSUnderlyingError": {"domain": "D", "code": 3, "text": "INNER"}}}`,
	"underlying":        `{"stage": "compile", "domain": "D", "code": 1, "text": "OUTER", "underlying": {"domain": "D", "code": 2, "text": "MIDDLE", "underlying": [{"domain": "D", "code": 3, "text": "INNER"}]}}`,
	"a list":            `{"stage": "compile", "domain": "D", "code": "1", "text": "OUTER", "underlying": [{"domain": "D", "code": "2", "text": "MIDDLE"}, {"domain": "D", "code": "0x3", "text": "INNER"}]}`,
	"userInfo": `{"stage": "compile", "domain": "D", "code": 1, "userInfo": {"NSLocalizedDescription": "OUTER", "NSUnderlyingError": {"domain": "D", "code": 2,
		"userInfo": {"NSLocalizedDescription": "MIDDLE", "NSUnderlyingError": {"domain": "D", "code": 3, "userInfo": {"NSLocalizedDescription": "INNER"}}}}}}`,
	"several": `{"stage": "compile", "domain": "D", "code": 1, "text": "OUTER", "userInfo": {"NSMultipleUnderlyingErrorsKey": [{"domain": "D", "code": 2, "text": "MIDDLE", "underlying": {"domain": "D", "code": 3, "text": "INNER"}}]}}`,
	"printed": `{"stage": "compile", "domain": "D", "code": 1, "text": "OUTER", "underlying": {"domain": "D", "code": 2, "text": "MIDDLE", "userInfo": {"NSUnderlyingError": "0x600003 {Error Domain=D Code=3 \"INNER\" UserInfo={}}"}}}`,
}

func TestCausesOfCauses(t *testing.T) {
	for name, row := range nestedErrors {
		t.Run(name, func(t *testing.T) {
			row := strings.ReplaceAll(strings.ReplaceAll(row, `"D"`, `"`+compiler+`"`), "Domain=D", "Domain="+compiler)
			for _, file := range []string{`{"data": {"errors": [` + row + `]}}`, `{"data": {"error": ` + row + `}}`,
				`{"data": ` + row + `}`, `{"data": [` + row + `]}`} {
				d, err := ReadDump(written(t, file))
				require.NoError(t, err)
				require.Equal(t, []DumpedError{{Stage: "compile", Domain: compiler, Code: 1, Text: "OUTER",
					Replayed: true, Underlying: chain("MIDDLE", "INNER")}}, d.Errors)
				require.Empty(t, d.Ignored)
			}
		})
	}
	deep := strings.Repeat(`{"code": 1, "text": "t", "underlying": `, 40) + `{"code": 1, "text": "t"}` +
		strings.Repeat("}", 40)
	d, err := ReadDump(written(t, `{"data": [`+deep+`]}`))
	require.Error(t, err, "no stage")
	require.Nil(t, d)
	d, err = ReadDump(written(t, `{"data": [`+strings.Replace(deep, "{", `{"stage": "load", `, 1)+`]}`))
	require.NoError(t, err)
	require.Len(t, d.Errors[0].Underlying, maxCauses)
}

func TestUserInfoOfErrors(t *testing.T) {
	d, err := ReadDump(written(t, `{"data": [{"stage": "load", "code": 53, "text": "t", "userInfo": {"_ANEErrorLoadStage": 4, "NSLocalizedDescription": "other", "NSUnderlyingError": "bob"}}]}`))
	require.NoError(t, err)
	require.Equal(t, "t", d.Errors[0].Text)
	require.Empty(t, d.Errors[0].Underlying)
	require.Equal(t, plist.Dict{{Key: "_ANEErrorLoadStage", Value: int64(4)}, {Key: "NSUnderlyingError", Value: "bob"}},
		d.Errors[0].userInfo)
}

func TestErrorsWithoutStageAreRejected(t *testing.T) {
	posix := `{"domain": "NSPOSIXErrorDomain", "code": 22, "text": "Invalid argument"}`
	for name, file := range map[string]string{
		"alone": `{"data": ` + posix + `}`, "in a list": `{"data": {"errors": [{"stage": "load", "code": 6}, ` + posix +
			`]}}`,
		"of an unknown code": `{"data": [{"code": 99}]}`,
		"of another domain":  `{"data": [{"domain": "NSCocoaErrorDomain", "code": 6}]}`,
	} {
		_, err := ReadDump(written(t, file))
		require.ErrorIs(t, err, ane.ErrUnavailable, name)
		require.ErrorContains(t, err, `names no stage; give it the key "stage"`, name)
	}
	d, err := ReadDump(written(t, `{"data": {"errors": [{"stage": "load", "code": 6}, `+posix+`]}}`) + "#0")
	require.NoError(t, err, "another entry is chosen")
	require.True(t, d.Errors[0].Replayed)
	for stage, row := range map[string]string{
		"load":     `{"stage": "loadWithQoS:options:error:", "domain": "x", "code": 6}`,
		"evaluate": `{"domain": "x", "text": "evaluateWithQoS:options:request:error: says no"}`,
		"surface":  `{"kind": "nil", "text": "objectWithIOSurface: returned nil"}`,
	} {
		d, err := ReadDump(written(t, `{"data": [`+row+`]}`))
		require.NoError(t, err)
		require.Equal(t, stage, d.Errors[0].Stage)
		require.True(t, d.Errors[0].Replayed, stage)
	}
}

func TestKindsOfErrors(t *testing.T) {
	const compile, load = "compileWithQoS:options:error:", "loadWithQoS:options:error:"
	for row, want := range map[string]DumpedError{
		`"stage": "load", "kind": "NSError", "code": 6`: {Replayed: true},
		`"stage": "load", "kind": "NO without an error"`: {Replayed: true, fault: No,
			selectors: []string{load}},
		`"stage": "compile", "kind": "exception", "exception": "E"`: {Replayed: true,
			fault: Exception, selectors: []string{compile}, exception: "E"},
		`"stage": "compile", "kind": "YES together with an error"`: {Replayed: true,
			fault: YesError, selectors: []string{compile}},
		`"stage": "surface", "kind": "nil"`: {Replayed: true,
			fault: Nil, selectors: []string{"objectWithIOSurface:"}},
		`"stage": "describe", "code": 1`: {Replayed: true,
			fault: Nil, selectors: []string{"modelAttributes"}},
		`"stage": "create", "text": "inMemoryModelWithDescriptor: is nil"`: {Replayed: true,
			fault: Nil, selectors: []string{"inMemoryModelWithDescriptor:"}},
		`"stage": "request", "kind": "exception", "text": "t"`: {Replayed: true,
			fault: Exception, selectors: []string{dumpedMethods[9].selector}},
		`"stage": "request", "kind": "NO without an error", "text": "validate returned NO"`: {Replayed: true, fault: No,
			selectors: []string{"validate"}},
		`"stage": "load", "kind": "refused", "code": 6`:            {},
		`"stage": "close", "kind": "exception"`:                    {},
		`"stage": "surface", "kind": "YES together with an error"`: {},
		`"stage": "load", "code": 6, "program": "conv-1x1.mil"`:    {Program: "conv-1x1.mil"},
		`"stage": "load", "kind": "NO without an error", "program": "a.mil"`: {Program: "a.mil",
			fault: No, selectors: []string{load}},
		`"stage": "check", "kind": "missing", "text": "t"`: {},
	} {
		d, err := ReadDump(written(t, `{"data": {"errors": [{`+row+`}]}}`))
		require.NoError(t, err, row)
		got := d.Errors[0]
		require.Equal(t, want, DumpedError{Replayed: got.Replayed, Program: got.Program, fault: got.fault,
			selectors: got.selectors, exception: got.exception}, row)
		require.Equal(t, !want.Replayed, len(d.Ignored) > 0, "%s: %v", row, d.Ignored)
	}
	for text, want := range map[string][2]string{
		"-[_ANEClient echo:] is missing: expected c@:@, found nothing; this version is not known": {"_ANEClient echo:",
			""},
		"+[_ANERequest x:] is missing with its class": {"_ANERequest x:",
			""},
		"class _ANESharedEvents": {"_ANESharedEvents", ""},
		"-[_ANEClient echo:] has another encoding: expected c@:@, found v@:@; this version is not known": {"",
			"_ANEClient echo: v@:@"},
	} {
		d, err := ReadDump(written(t, fmt.Sprintf(`{"data": [{"stage": "check", "kind": "missing", "text": %q}]}`,
			text)))
		require.NoError(t, err)
		require.True(t, d.Errors[0].Replayed)
		require.Equal(t, want, [2]string{strings.Join(d.missing, ","), strings.Join(d.changed, ",")})
	}
}
