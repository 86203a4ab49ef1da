package main

import (
	"bytes"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const results = `{"Action":"run","Package":"p","Test":"A"}
{"Action":"output","Package":"p","Test":"A","Output":"    a_test.go:7: no broker: needs Linux\n"}
{"Action":"skip","Package":"p","Test":"A"}
{"Action":"output","Package":"p","Test":"B/c","Output":"        b_test.go:9: out of\n"}
{"Action":"output","Package":"p","Test":"B/c","Output":"            luck\n"}
{"Action":"skip","Package":"p","Test":"B/c"}
{"Action":"skip","Package":"p"}
`

func TestCheck(t *testing.T) {
	var out bytes.Buffer
	require.EqualError(t, check(strings.NewReader(results), "# why\nBroker no broker\n", &out),
		"skipped for a reason that is not in reasons.txt:\n  p B/c: out of luck")
	require.Equal(t, "skipped for want of Broker: 1\n", out.String())
	out.Reset()
	require.NoError(t, check(strings.NewReader(results), "Broker no broker\nluck out of luck\n", &out))
	require.Equal(t, "skipped for want of Broker: 1\nskipped for want of luck: 1\n", out.String())
	require.ErrorContains(t, check(strings.NewReader("no JSON\n"), "", &out), "no JSON")
	require.NoError(t, check(strings.NewReader(""), "", &out))
}

// Some tests are skipped on other machines than the one where the list was written: for users other than root, and
// where the processor lacks an instruction or Debian a tool.
func TestReasonsOfOtherMachines(t *testing.T) {
	for _, text := range []string{"only root may give a file away; run as root",
		"this processor lacks F16C; run on one that has it, or on arm64",
		"package halves has no kernel for products of vectors on this processor",
		"SIGHUP is ignored, which the command keeps: run it without nohup",
		"no browser: install the package chromium-headless-shell, or chromium",
		"no wat2wasm here: install the package wabt", "no spirv-val here: install the package spirv-tools",
		`the texts were made by Debian's spirv-cross 1, this one is \"2\"`} {
		skip := `{"Action":"output","Package":"p","Test":"A","Output":"    a_test.go:7: ` + text + `\n"}` + "\n" +
			`{"Action":"skip","Package":"p","Test":"A"}` + "\n"
		require.NoError(t, check(strings.NewReader(skip), list, &bytes.Buffer{}), text)
	}
}

// What is missing is a constant of package host, an extent of tests, or of this machine.
func TestReasonsNameWhatIsMissing(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "../host/host.go", nil, 0)
	require.NoError(t, err)
	names := map[string]bool{"extent": true, "machine": true, "engine": true}
	for name, object := range f.Scope.Objects {
		names[name] = object != nil
	}
	require.NotEmpty(t, reasons(list))
	for _, r := range reasons(list) {
		require.True(t, names[r.missing], "%s is no constant of package host", r.missing)
		require.NotEmpty(t, r.part)
	}
}
